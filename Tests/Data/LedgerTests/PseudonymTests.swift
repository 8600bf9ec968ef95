import Ledger
import Store
import Testing

@Suite struct PseudonymTests {
  @Test(
    "No customer can get an id of the form of a pseudonym",
    arguments: [
      ("erased-2", true), ("erased-2-1", true), ("erased-007", true), ("erased-", false), ("erased", false),
      ("erased-2-", false), ("erased--2", false), ("erased-2-1-1", false), ("erased-+2", false),
      ("erased-x", false), ("erased-2x", false), ("Erased-2", false), ("unerased-2", false),
    ])
  func reserved(id: String, isReserved: Bool) async throws {
    try await LedgerFixture.run { fixture in
      let isRefused = await isInvalid { _ = try await fixture.ledger.grant("pro", to: id, fixture.scope) }
      #expect(isRefused == isReserved)
    }
  }

  @Test("The pseudonym of an erased customer gets nothing new, can be read, and replay agrees")
  func erased() async throws {
    try await LedgerFixture.run { fixture in
      let (ledger, scope) = (fixture.ledger, fixture.scope)
      let document = try fixture.period(40...70)
      _ = try await fixture.submit(document)
      _ = try await ledger.merge("phone", into: "ana", scope)
      let erasures = try await ledger.erase("ana", scope).erasures
      #expect(erasures.count == 2)
      for id in erasures.map(\.pseudonym) {
        #expect(await isInvalid { _ = try await fixture.submit(document, for: id) })
        #expect(await isInvalid { _ = try await fixture.submit("forged", for: id) })
        #expect(await isInvalid { _ = try await ledger.merge(id, into: "ben", scope) })
        #expect(await isInvalid { _ = try await ledger.merge("ben", into: id, scope) })
        #expect(await isInvalid { _ = try await ledger.move("L1", to: id, policy: .transfer, scope) })
        #expect(await isInvalid { _ = try await ledger.addNote("a", about: id, scope) })
        #expect(await isInvalid { _ = try await ledger.erase(id, scope) })
        #expect(try await fixture.events().contains { $0.event.customer.customerID == id })
      }
      #expect(try await fixture.evidence().count == 3)
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  /// Whether a call refuses the customer id.
  private func isInvalid(_ call: () async throws -> Void) async -> Bool {
    do {
      try await call()
      return false
    } catch LedgerError.invalid(let field, _) {
      return field.hasSuffix("customer_id")
    } catch {
      return false
    }
  }
}
