import AppStore
import Entitlements
import TestSupport
import Testing

@Suite struct ExplanationTests {
  @Test("The explanation lists each fact, its access and the decisive one")
  func chain() {
    let facts = CustomerFacts(
      transactions: [period(0...30), period(30...60), purchase("shells", .consumable, on: 1)],
      renewals: [renewal(signed: 31) { $0.autoRenewStatus = .on }])
    let explanation = Explanation(facts, entitlement: "pro", in: app, at: at(40))
    #expect(
      explanation.steps.map(\.rule) == [
        "OTHER_PRODUCT", "PERIOD_IS_OVER", "PERIOD_COVERS_INSTANT", "RENEWAL_INFO", "ENTITLED",
      ])
    #expect(explanation.steps.filter(\.isDecisive).map(\.transactionID) == ["L1-30"])
    #expect(explanation.steps[2].since == at(30))
    #expect(explanation.steps[2].until == at(60))
    #expect(explanation.contradictions.isEmpty)
  }

  @Test("The explanation mentions refunds, upgrades and replacements")
  func cuts() {
    let refunded = period(0...30).with {
      $0.revocationDate = at(9)
      $0.details.revocationPercentage = 70_000
    }
    let steps = Explanation(
      CustomerFacts(transactions: [
        refunded, period(50...80, line: "L2"), period(60...90, "plus", line: "L2"),
      ]),
      entitlement: "pro", in: app, at: at(65)
    ).steps
    #expect(steps.contains { $0.sentence.contains("refunded 70 %") })
    #expect(steps.contains { $0.sentence.contains("transaction L2-60 of the same purchase replaced it") })
    #expect(steps.filter(\.isDecisive).map(\.transactionID) == ["L2-50"])
  }

  @Test(
    "An explanation has the evaluation's answer and exactly one decisive step", arguments: UInt64(0)..<200)
  func agrees(seed: UInt64) {
    var random = SplitMix64(state: seed &+ 15_000)
    let facts = randomCustomer(&random)
    let now = at(.random(in: -5...200, using: &random))
    for entitlement in ["pro", "export", "archive", "unheard of"] {
      let explanation = Explanation(facts, entitlement: entitlement, in: fullApp, at: now)
      #expect(explanation.status == evaluate(facts, entitlement: entitlement, in: fullApp, at: now))
      #expect(explanation.steps.count(where: \.isDecisive) == 1)
      #expect(!explanation.steps.contains { $0.sentence.isEmpty })
    }
  }

  @Test(
    "Contradictory facts are flagged by kind and still evaluated",
    arguments: [
      (Contradiction.Kind.twoActiveInGroup, [period(0...30), period(5...35, line: "L2")], true),
      (.expiryBeforePurchase, [period(0...30).with { $0.expiresDate = at(-5) }], false),
      (.revocationBeforePurchase, [period(0...30).with { $0.revocationDate = at(-5) }], false),
      (.unknownProduct, [purchase("mystery", .nonConsumable, on: 0)], false),
      (.typeDiffersFromCatalog, [purchase("monthly", .nonConsumable, on: 0)], true),
      (.unknownType, [purchase("lifetime", .unrecognized("Rental"), on: 0)], true),
      (.unknownType, [purchase("mystery", .unrecognized("Rental"), on: 0)], false),
    ])
  func contradiction(kind: Contradiction.Kind, transactions: [TransactionFact], entitled: Bool) {
    let explanation = Explanation(
      CustomerFacts(transactions: transactions), entitlement: "pro", in: app, at: at(10))
    #expect(explanation.contradictions.map(\.kind).contains(kind))
    #expect(explanation.status.isEntitled == entitled)
    #expect(explanation.status.reason != .neverPurchased)
  }

  @Test("A refund of a renewal between its charge and its start is flagged as no contradiction")
  func refundedBeforeStart() {
    func kinds(_ hours: Int64, _ reason: TransactionReason?) -> [Contradiction.Kind] {
      let renewed = period(30...60).with {
        $0.revocationDate = at(30, hours: -hours)
        $0.details.transactionReason = reason
      }
      return Contradiction.all(
        CustomerFacts(transactions: [period(0...30), renewed]), in: app, at: at(10)
      ).map(\.kind)
    }
    #expect(kinds(20, .renewal).isEmpty && kinds(24, nil).isEmpty)
    #expect(kinds(25, .renewal) == [.revocationBeforePurchase])
    #expect(kinds(20, .purchase) == [.revocationBeforePurchase])
    let coins = purchase("shells", .consumable, on: 9).with { $0.revocationDate = at(8, hours: 22) }
    let ofCoins = Contradiction.all(CustomerFacts(transactions: [coins]), in: app, at: at(10))
    #expect(ofCoins.map(\.kind) == [.revocationBeforePurchase], "it does not renew")
  }

  @Test("Renewal info without a transaction and a non-numeric version are flagged")
  func loneFacts() {
    let facts = CustomerFacts(
      renewals: [renewal(signed: 1)],
      appTransactions: [AppTransactionFact(originalApplicationVersion: "beta", signedDate: at(0))])
    let explanation = Explanation(facts, entitlement: "pro", in: app, at: at(10))
    #expect(explanation.contradictions.map(\.kind) == [.renewalWithoutTransaction, .unreadableVersion])
    #expect(explanation.status.reason == .neverPurchased)
  }

  @Test("A subscription beside the one that it replaced is not a contradiction, and both grant access")
  func replaced() {
    let replacement = period(10...40, line: "L2").with { $0.details.previousOriginalTransactionID = "L1" }
    let facts = CustomerFacts(transactions: [period(0...30), replacement])
    #expect(Explanation(facts, entitlement: "pro", in: app, at: at(20)).contradictions.isEmpty)
    let refunded = CustomerFacts(transactions: [
      period(0...30), replacement.with { $0.revocationDate = at(15) },
    ])
    #expect(evaluate(refunded, entitlement: "pro", in: app, at: at(20)).isEntitled)
    let another = CustomerFacts(transactions: [period(0...30), replacement, period(5...35, line: "L3")])
    let contradictions = Explanation(another, entitlement: "pro", in: app, at: at(20)).contradictions
    #expect(contradictions.map(\.kind) == [.twoActiveInGroup])
  }

  @Test("A complete upgrade is not a contradiction")
  func upgrade() {
    let facts = CustomerFacts(transactions: [
      period(0...30).with { $0.isUpgraded = true }, period(10...40, "plus", line: "L2"),
    ])
    #expect(Explanation(facts, entitlement: "pro", in: app, at: at(20)).contradictions.isEmpty)
  }
}
