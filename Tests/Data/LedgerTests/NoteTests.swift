import Ledger
import Store
import Testing

/// Notes and attributes of customers.
@Suite struct NoteTests {
  @Test("Notes and attributes survive a replay, and an erasure removes their text everywhere")
  func replayAndErasure() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(40...70))
      let note = try #require(
        try await fixture.ledger.addNote("called about a refund", about: "ana", fixture.scope).note)
      let attributes = [CustomerAttribute(name: "phone", value: "555-0100")]
      _ = try await fixture.ledger.setAttributes(attributes, of: "ana", fixture.scope)
      let deleted = try #require(
        try await fixture.ledger.addNote("wrong customer", about: "ana", fixture.scope).note)
      _ = try await fixture.ledger.deleteNote(deleted.noteID, fixture.scope)
      #expect(try await fixture.replayDifferences().isEmpty)
      let ana = CustomerKey(appID: "ocean", environment: .sandbox, customerID: "ana")
      try await fixture.store.snapshot { reader throws in
        #expect(try reader.notes(about: ana, before: nil, limit: 9) == [note])
        #expect(try reader.attributes(of: ana) == attributes)
        #expect(
          try reader.customers(withAttribute: "phone", value: "555-0100", limit: 9) { _ in true }.count == 1)
      }
      _ = try await fixture.ledger.erase("ana", fixture.scope)
      let bodies = try await fixture.evidence().map { String(decoding: $0.content.body ?? [], as: UTF8.self) }
      for text in ["refund", "555-0100", "wrong customer"] {
        #expect(!bodies.contains { $0.contains(text) }, "\(text)")
      }
      try await fixture.store.snapshot { reader throws in
        #expect(try reader.note(note.id) == nil)
        #expect(try reader.customers(withAttribute: nil, value: "555-0100", limit: 9) { _ in true }.isEmpty)
      }
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("An attribute that has its value already makes no evidence")
  func unchangedAttribute() async throws {
    try await LedgerFixture.run { fixture in
      let attribute = CustomerAttribute(name: "plan", value: "beta")
      _ = try await fixture.ledger.setAttributes([attribute], of: "ana", fixture.scope)
      let again = try await fixture.ledger.setAttributes([attribute], of: "ana", fixture.scope)
      #expect(again.evidenceID == nil)
      #expect(again.attributes == [attribute])
    }
  }
}
