import AppStore
import Entitlements
import JSON
import SignedData
import Store
import TestSupport
import Testing

@testable import Ledger

/// A legacy receipt counts until Apple's signed documents arrive.
@Suite struct ReceiptTests {
  /// The contents of a receipt created on day `made` with one period.
  private func contents(
    _ days: ClosedRange<Int64> = 40...70, line: String = "L1", made: Int64 = 45, appInstall: String? = nil,
    cancelled: Int64? = nil
  ) throws -> ReceiptContents {
    var entry: JSONObject = [
      "transaction_id": .string("\(line)-\(days.lowerBound)"), "original_transaction_id": .string(line),
      "product_id": "monthly", "quantity": "1", "is_trial_period": "true",
      "purchase_date_ms": .string(String(at(days.lowerBound).millisecondsSince1970)),
      "expires_date_ms": .string(String(at(days.upperBound).millisecondsSince1970)),
    ]
    entry["cancellation_date_ms"] = cancelled.map { .string(String(at($0).millisecondsSince1970)) }
    return ReceiptContents(
      receiptHash: [UInt8](repeating: 7, count: 32), creationDate: at(made),
      appInstall: appInstall.map { .init(originalApplicationVersion: $0, originalPurchaseDate: at(1)) },
      purchases: [.init(entry: try LegacyTransaction(json: entry), type: .autoRenewableSubscription)])
  }

  private func submission(
    _ contents: ReceiptContents?, for customerID: String? = "ana", documents: [String] = []
  ) -> ReceiptSubmission {
    var submission = ReceiptSubmission(appID: "ocean", environment: .sandbox, customerID: customerID)
    submission.contents = contents
    submission.claimedLines = contents?.transactions.map(\.originalTransactionID) ?? []
    submission.documents = documents.map {
      Submission(
        appID: "ocean", customerID: customerID, signedTransaction: $0, source: .appStoreServerAPI)
    }
    return submission
  }

  @Test("A receipt alone grants access, is a duplicate when repeated, and can be replayed")
  func ownReceipt() async throws {
    try await LedgerFixture.run { fixture in
      let taken = try await fixture.ledger.submit(submission(contents(appInstall: "2.0")))
      #expect(taken.customerID == "ana" && taken.changedState && !taken.isDuplicate)
      let fact = try #require(taken.facts.transactions.first)
      #expect(fact.details.isFromReceipt && fact.offerType == .introductory && fact.signedDate == at(45))
      #expect(taken.facts.appTransactions.map(\.originalApplicationVersion) == ["2.0"])
      guard case .precomputed(let segment) = try fixture.answer(on: 60) else {
        Issue.record("no precomputed answer")
        return
      }
      #expect(segment.status.isEntitled)
      let again = try await fixture.ledger.submit(submission(contents(appInstall: "2.0")))
      #expect(again.isDuplicate && !again.changedState && again.evidenceID == taken.evidenceID)
      #expect(try await fixture.replayDifferences().isEmpty)
      let ana = CustomerKey(appID: "ocean", environment: .sandbox, customerID: "ana")
      let known = try await fixture.store.snapshot { try FactHistory(of: ana, in: $0).facts(knownAt: at(51)) }
      #expect(try known == fixture.facts())
    }
  }

  @Test("A signed transaction takes precedence over a receipt, whichever came first or is newer")
  func signedWins() async throws {
    for receiptFirst in [true, false] {
      try await LedgerFixture.run { fixture in
        let signed = try fixture.period(40...50, signed: 41, ["price": 990])
        if receiptFirst { _ = try await fixture.ledger.submit(submission(contents())) }
        _ = try await fixture.ledger.submit(submission(nil, documents: [signed]))
        if !receiptFirst { _ = try await fixture.ledger.submit(submission(contents())) }
        let fact = try #require(try fixture.facts()?.transactions.first)
        #expect(!fact.details.isFromReceipt && fact.details.price == 990 && fact.expiresDate == at(50))
        #expect(try await fixture.replayDifferences().isEmpty)
      }
    }
  }

  @Test("A newer receipt in which the signed transaction is cancelled refunds it, whichever came first")
  func cancelled() async throws {
    for receiptFirst in [true, false] {
      try await LedgerFixture.run { fixture in
        let signed = try fixture.period(40...70, signed: 41, ["price": 990])
        let receipt = submission(try contents(made: 47, cancelled: 46))
        if receiptFirst { _ = try await fixture.ledger.submit(receipt) }
        _ = try await fixture.ledger.submit(submission(nil, documents: [signed]))
        if !receiptFirst { #expect(try await fixture.ledger.submit(receipt).changedState) }
        let fact = try #require(try fixture.facts()?.transactions.first)
        #expect(!fact.details.isFromReceipt && fact.details.price == 990 && fact.revocationDate == at(46))
        #expect(try await fixture.events().map(\.event.change.kind).contains(.refunded))
        #expect(try await fixture.replayDifferences().isEmpty)
      }
    }
  }

  @Test("A new signature of the same facts is no change")
  func signedAgain() async throws {
    try await LedgerFixture.run { fixture in
      let first = try await fixture.ledger.submit(
        submission(nil, documents: [fixture.period(40...70, signed: 41)]))
      let again = try await fixture.ledger.submit(
        submission(nil, documents: [fixture.period(40...70, signed: 49)]))
      let refunded = try await fixture.ledger.submit(
        submission(
          nil,
          documents: [
            fixture.period(
              40...70, signed: 50,
              ["revocationDate": .number(JSONNumber(at(45).millisecondsSince1970)), "revocationReason": 0])
          ]))
      #expect([first, again, refunded].map(\.changedState) == [true, false, true])
    }
  }

  @Test("A second customer with the same receipt is linked to nothing, and both timelines record it once")
  func twoCustomers() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.ledger.submit(submission(contents()))
      let other = try await fixture.ledger.submit(submission(contents(), for: "bob"))
      #expect(other.belongsToAnotherCustomer && other.linesOfOtherCustomers == ["L1"])
      _ = try await fixture.ledger.submit(submission(contents(), for: "bob"))
      let kinds = try await fixture.events().map(\.event.change.kind)
      #expect(kinds.count { $0 == .claimRefused } == 1 && kinds.count { $0 == .claimedByAnother } == 1)
      #expect(try fixture.facts(of: "bob")?.transactions.isEmpty != false)
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("A looked-up transaction id links nothing; one that the operator vouches for is a recorded transfer")
  func numbers() async throws {
    try await LedgerFixture.run { fixture in
      var found = submission(nil, for: nil, documents: [try fixture.period(40...70)])
      let unbound = try await fixture.ledger.submit(found)
      #expect(unbound.customerID == nil && unbound.changedState)
      #expect(try await fixture.unclaimed() == ["L1"])
      found.customerID = "ana"
      found.claimedLines = ["L1", "unknown"]
      found.actor = "import"
      let bound = try await fixture.ledger.submit(found)
      #expect(bound.customerID == "ana" && bound.facts.transactions.count == 1)
      #expect(try await fixture.unclaimed().isEmpty)
      #expect(try await fixture.evidence().contains { $0.kind == .operatorCommand })
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("A forged document is rejected and the others count")
  func forged() async throws {
    try await LedgerFixture.run { fixture in
      let genuine = try fixture.period(40...70)
      let taken = try await fixture.ledger.submit(
        submission(nil, documents: [genuine, String(genuine.dropLast(4)) + "AAAA"]))
      #expect(taken.transactions.count == 1 && taken.rejected.map(\.reason) == ["BAD_SIGNATURE"])
      #expect(try await fixture.evidence().contains { $0.verdict == .rejected(reason: "BAD_SIGNATURE") })
    }
  }

  @Test("A pending refresh is due with its owner until Apple was queried")
  func refreshes() async throws {
    try await LedgerFixture.run { fixture in
      var waiting = submission(try contents())
      let line = LineKey(appID: "ocean", environment: .sandbox, lineID: "L1")
      waiting.refreshes = [PendingRefresh(line: line, dueAt: at(50), reason: "APP_STORE_UNAVAILABLE")]
      _ = try await fixture.ledger.submit(waiting)
      let due = try await fixture.ledger.dueRefreshes(limit: 9)
      #expect(due.map(\.refresh) == waiting.refreshes && due.first?.customerID == "ana")
      #expect(try await fixture.store.snapshot { try $0.nextRefresh(in: .all) } == at(50))
      var queried = submission(nil, documents: [try fixture.period(40...70)])
      queried.queriedLines = ["L1"]
      _ = try await fixture.ledger.submit(queried)
      #expect(try await fixture.ledger.dueRefreshes(limit: 9).isEmpty)
      #expect(try await fixture.store.snapshot { try $0.nextRefresh(in: .all) } == nil)
      let rest = try await fixture.ledger.lines(
        ["L1", "L2"], of: "ocean", in: .sandbox, notQueriedSince: at(50))
      #expect(rest == ["L2"])
    }
  }
}
