import AppStore
import Entitlements
import JSON
import Ledger
import SignedData
import Store
import TestSupport
import Testing

@Suite struct EvidenceLedgerTests {
  @Test("A submitted purchase is stored, linked and visible to readers")
  func submit() async throws {
    try await LedgerFixture.run { fixture in
      let jws = try fixture.period(0...30)
      let submitted = try await fixture.submit(jws, renewal: fixture.renewal(signed: 1))
      #expect(!submitted.isDuplicate)
      #expect(submitted.environment == .sandbox)
      #expect(submitted.documents.transaction?.productID == "monthly")
      #expect(try fixture.facts() == submitted.facts)
      let status = evaluate(submitted.facts, entitlement: "pro", in: LedgerFixture.app, at: at(5))
      #expect(status.state == .activeNotRenewing)

      let evidence = try await fixture.evidence()
      #expect(evidence.map(\.kind) == [.signedTransaction, .signedRenewalInfo])
      #expect(evidence[0].content.body == Array(jws.utf8))
      #expect(evidence[0].customerID == "ana")
      #expect(evidence[0].receivedAt == at(50))
      #expect(evidence.allSatisfy { $0.verdict == .accepted })
    }
  }

  @Test("A submission stores answers for the future periods too")
  func answers() async throws {
    try await LedgerFixture.run { fixture in
      let submitted = try await fixture.submit(fixture.period(30...60), renewal: fixture.renewal(signed: 31))
      for day in [Int64(50), 59, 60, 100, 200] {
        let expected = evaluate(submitted.facts, entitlement: "pro", in: LedgerFixture.app, at: at(day))
        guard case .precomputed(let segment) = try fixture.answer(on: day) else {
          Issue.record("no answer on day \(day)")
          continue
        }
        #expect(segment.status == expected)
      }
      #expect(try fixture.answer(on: 49) == .stale)
      #expect(try fixture.answer(of: "ben", on: 50) == .unknownCustomer)
    }
  }

  @Test("Submitting the same documents again is a duplicate and changes nothing")
  func repeated() async throws {
    try await LedgerFixture.run { fixture in
      let jws = try fixture.period(0...30)
      let first = try await fixture.submit(jws)
      let again = try await fixture.submit(jws)
      #expect(again.isDuplicate)
      #expect(again.evidenceID == first.evidenceID)
      #expect(again.facts == first.facts)
      #expect(try await fixture.evidence().count == 1)
    }
  }

  @Test("The latest signature counts, whichever arrives first", arguments: [false, true])
  func newest(reversed: Bool) async throws {
    try await LedgerFixture.run { fixture in
      let bought = try fixture.period(0...30, signed: 0)
      let refunded = try fixture.period(0...30, signed: 9, ["revocationDate": 1_800_500_000_000])
      for jws in reversed ? [refunded, bought] : [bought, refunded] { _ = try await fixture.submit(jws) }
      let facts = try #require(try fixture.facts())
      #expect(facts.transactions.map(\.revocationDate) == [Instant(millisecondsSince1970: 1_800_500_000_000)])
    }
  }

  @Test(
    "The end of sharing is an event, also if a document that takes it back arrived before",
    arguments: [true, false])
  func lateEndOfSharing(isLate: Bool) async throws {
    try await LedgerFixture.run { fixture in
      func shared(signed: Int64, revoked: Int64? = nil) throws -> String {
        var payload: JSONObject = ["inAppOwnershipType": "FAMILY_SHARED"]
        if let revoked {
          payload["revocationDate"] = JSONValue(at(revoked))
          payload["revocationType"] = "FAMILY_REVOKE"
        }
        return try fixture.period(40...70, signed: signed, payload)
      }
      let (ended, again) = (try shared(signed: 45, revoked: 45), try shared(signed: 47))
      for document in [try shared(signed: 40)] + (isLate ? [again, ended] : [ended, again]) {
        _ = try await fixture.submit(document)
      }
      #expect(
        try await fixture.events().map(\.event.change.kind) == [.started, .revoked, .refundReversed])
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("State is independent of order and repetition of submissions", arguments: UInt64(0)..<8)
  func order(seed: UInt64) async throws {
    var random = SplitMix64(state: seed)
    try await LedgerFixture.run { fixture in
      var documents: [String] = []
      for start in Int64(0)..<4 {
        for line in ["L1", "L2"] {
          documents.append(try fixture.period((start * 30)...(start * 30 + 30), line: line))
          documents.append(try fixture.period((start * 30)...(start * 30 + 37), line: line, signed: 100))
        }
      }
      for jws in documents { _ = try await fixture.submit(jws, for: "straight") }
      let straight = try fixture.facts(of: "straight")
      try await LedgerFixture.run { other in
        for jws in (documents + documents.prefix(5)).shuffled(using: &random) {
          _ = try await other.submit(jws, for: "shuffled")
        }
        #expect(try other.facts(of: "shuffled") == straight)
        #expect(try await other.evidence().count == documents.count)
      }
    }
  }

  @Test("Submitting another customer's purchase links nothing but stores its facts")
  func owned() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(0...30))
      await #expect(throws: LedgerError.ownedByAnotherCustomer(originalTransactionID: "L1")) {
        try await fixture.submit(fixture.period(30...60), for: "ben")
      }
      #expect(try fixture.facts(of: "ben") == nil)
      #expect(try fixture.facts(of: "ana")?.transactions.count == 2)
      #expect(try await fixture.evidence().last?.customerID == "ben")
    }
  }

  @Test("A rejected document is stored with its reason and changes nothing")
  func rejected() async throws {
    try await LedgerFixture.run { fixture in
      let good = try fixture.period(0...30)
      let cases = [
        ("not a jws", "NOT_A_JWS"), (String(good.dropLast(8)) + "AAAAAAAA", "BAD_SIGNATURE"),
        (try fixture.period(0...30, ["bundleId": "com.other"]), "WRONG_BUNDLE"),
        (try fixture.period(0...30, ["expiresDate": .null]), "MISSING_FIELD"),
        (String(repeating: "x", count: 2 << 20), "DOCUMENT_TOO_LARGE"),
      ]
      for (jws, reason) in cases {
        let refusal = await refusal { () throws(LedgerError) in try await fixture.submit(jws) }
        #expect(refusal == reason)
      }
      #expect(try fixture.facts() == nil)
      let evidence = try await fixture.evidence()
      #expect(evidence.map(\.verdict) == cases.map { .rejected(reason: $0.1) })
      #expect(evidence.map { $0.content.body == nil } == [false, false, false, false, true])
      #expect(evidence.last?.content.size == 2 << 20)
    }
  }

  @Test("White space around a document does not count")
  func whiteSpace() async throws {
    try await LedgerFixture.run { fixture in
      let jws = try fixture.period(0...30)
      let first = try await fixture.submit(" \n\(jws)\r\n")
      let again = try await fixture.submit(jws)
      #expect(!first.isDuplicate && again.isDuplicate && again.evidenceID == first.evidenceID)
    }
  }

  @Test("A purchase with the transaction id 0 identifies no purchase")
  func transactionIDZero() async throws {
    try await LedgerFixture.run { fixture in
      let jws = try fixture.period(0...30, ["transactionId": "0", "originalTransactionId": "0"])
      let reason = await refusal { () throws(LedgerError) in try await fixture.submit(jws) }
      #expect(reason == "TRANSACTION_ID_ZERO")
      #expect(try fixture.facts() == nil)
      try await fixture.notify("SUBSCRIBED", signed: 1, jws)
      #expect(try await fixture.evidence().map(\.verdict).allSatisfy { $0 != .accepted })
    }
  }

  @Test("Renewal info of another purchase rejects the whole submission")
  func otherRenewal() async throws {
    try await LedgerFixture.run { fixture in
      let foreign = try fixture.renewal(line: "L9", signed: 1)
      let reason = await refusal { () throws(LedgerError) in
        try await fixture.submit(try! fixture.period(0...30), renewal: foreign)
      }
      #expect(reason == "OTHER_PURCHASE_LINE")
      #expect(try fixture.facts() == nil)
      #expect(try await fixture.evidence().map(\.kind) == [.signedRenewalInfo])
    }
  }

  @Test("A purchase from an environment that the app does not accept is rejected")
  func environment() async throws {
    try await LedgerFixture.run { fixture in
      let jws = try fixture.period(0...30, ["environment": "Xcode"])
      let reason = await refusal { () throws(LedgerError) in try await fixture.submit(jws) }
      #expect(reason == "XCODE_NOT_ALLOWED")
    }
  }

  @Test("An invalid request fails with the name of its field and stores nothing")
  func invalid() async throws {
    try await LedgerFixture.run { fixture in
      let jws = try fixture.period(0...30)
      await #expect(throws: LedgerError.invalid(field: "customer_id", problem: "is empty")) {
        try await fixture.submit(jws, for: "")
      }
      await #expect(
        throws: LedgerError.invalid(field: "customer_id", problem: "has 257 bytes, more than 256")
      ) {
        try await fixture.submit(jws, for: String(repeating: "x", count: 257))
      }
      await #expect(throws: LedgerError.invalid(field: "signed_transaction", problem: "is empty")) {
        try await fixture.submit("")
      }
      await #expect(throws: LedgerError.unknownApp("sea", configured: ["ocean"])) {
        try await fixture.submit(jws, app: "sea")
      }
      #expect(try await fixture.evidence().isEmpty)
    }
  }

  @Test("Concurrent submissions all succeed and are durable when acknowledged")
  func concurrent() async throws {
    try await LedgerFixture.run { fixture in
      let documents = try (0..<60).map { try fixture.period(0...30, line: "L\($0)") }
      try await withThrowingTaskGroup { group in
        for (number, jws) in documents.enumerated() {
          group.addTask {
            let submitted = try await fixture.submit(jws, for: "c\(number % 10)")
            let seen = try fixture.facts(of: "c\(number % 10)")
            let isSeen = seen?.transactions.contains { $0 == submitted.documents.transaction }
            #expect(isSeen == true)
          }
        }
        try await group.waitForAll()
      }
      for number in 0..<10 { #expect(try fixture.facts(of: "c\(number)")?.transactions.count == 6) }
    }
  }
}

/// The reason code of a rejected submission; `nil` if it was accepted.
private func refusal(_ submit: () async throws(LedgerError) -> SubmissionResult) async -> String? {
  do {
    _ = try await submit()
    return nil
  } catch {
    guard case .rejected(let rejection, _) = error else { return "\(error)" }
    return rejection.reason
  }
}
