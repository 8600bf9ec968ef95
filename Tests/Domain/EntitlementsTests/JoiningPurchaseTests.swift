import AppStore
import Entitlements
import TestSupport
import Testing

/// Events of a purchase or a grant beside another one that gives the same entitlement.
@Suite struct JoiningPurchaseTests {
  typealias Kind = EntitlementChange.Kind

  private func kinds(
    _ before: CustomerFacts, _ after: CustomerFacts, on day: Int64, by cause: ChangeCause = .evidence
  ) -> [Kind] {
    EntitlementChange.changes(
      of: "pro", from: evaluate(before, entitlement: "pro", in: app, at: at(day)),
      to: evaluate(after, entitlement: "pro", in: app, at: at(day)), by: cause, at: at(day),
      facts: FactsChange(from: before, to: after, by: cause).granting("pro", in: app)
    ).map(\.kind)
  }

  private func kinds(
    _ before: [TransactionFact], _ new: TransactionFact, on day: Int64
  ) -> [Kind] {
    kinds(
      CustomerFacts(transactions: before), CustomerFacts(transactions: before + [new]), on: day)
  }

  @Test("Another purchase of the same product that joins is no renewal")
  func joins() {
    let own = period(0...30)
    #expect(kinds([own], period(5...35, line: "L2"), on: 5) == [.reasonChanged])
    let shared = period(5...365, line: "S").with { $0.ownership = .familyShared }
    #expect(kinds([own], shared, on: 5) == [.extended], "the own purchase decides until its end")
    let sameEnd = period(0...30, line: "S").with { $0.ownership = .familyShared }
    #expect(kinds([sameEnd], period(5...30, line: "L2"), on: 5) == [.reasonChanged])
    #expect(kinds([own], period(5...20, line: "L2"), on: 5).isEmpty)
  }

  @Test("The next period of any purchase that was known is a renewal")
  func renews() {
    let lines = [period(0...60), period(0...30, line: "L2")]
    #expect(kinds(lines, period(30...90, line: "L2"), on: 29) == [.renewed])
    #expect(kinds(lines, period(30...90, line: "L2"), on: 31) == [.renewed])
    let migrated = period(10...40, line: "L2").with { $0.details.previousOriginalTransactionID = "L1" }
    #expect(kinds([period(0...30)], migrated, on: 10) == [.renewed])
  }

  @Test("An app install that outlasts a subscription extends access, and hides no renewal")
  func appInstall() {
    let app = AppDefinition(
      id: "ocean", identity: EntitlementsTests.app.identity, environments: [.sandbox],
      products: Array(EntitlementsTests.app.products.values),
      boughtBefore: [BoughtBeforeVersion(version: AppVersion("3.0")!, entitlements: ["pro": .full])])
    func kinds(_ before: CustomerFacts, _ after: CustomerFacts) -> [Kind] {
      EntitlementChange.changes(
        of: "pro", from: evaluate(before, entitlement: "pro", in: app, at: at(29)),
        to: evaluate(after, entitlement: "pro", in: app, at: at(29)), by: .evidence, at: at(29),
        facts: FactsChange(from: before, to: after, by: .evidence)
      ).map(\.kind)
    }
    let own = CustomerFacts(transactions: [period(0...30)])
    let install = AppTransactionFact(
      originalApplicationVersion: "1.0", originalPurchaseDate: at(-90), signedDate: at(0))
    let both = CustomerFacts(transactions: own.transactions, appTransactions: [install])
    #expect(kinds(own, both) == [.extended])
    var renewed = both
    renewed.insert(period(30...60))
    #expect(kinds(both, renewed) == [.renewed])
    let revoked = CustomerFacts(
      transactions: own.transactions,
      appTransactions: [
        AppTransactionFact(
          originalApplicationVersion: "1.0", originalPurchaseDate: at(-90), revocationDate: at(29),
          signedDate: at(29))
      ])
    #expect(kinds(both, revoked) == [.shortened])
  }

  @Test(
    "The grace after another purchase extends access; the one that the deciding purchase will have does not")
  func graceOfAnother() {
    let app = AppDefinition(
      id: "ocean", identity: EntitlementsTests.app.identity, environments: [.sandbox],
      products: [
        ProductDefinition(
          productID: "monthly", type: .autoRenewableSubscription, accessLevels: ["pro": .full],
          operatorGrace: OperatorGrace(days: 3, access: .full))
      ])
    let before = CustomerFacts(transactions: [period(0...40), period(0...39, line: "L2")])
    func kinds(afterFailureOf line: String, _ end: Int64) -> [Kind] {
      var after = before
      after.insert(
        renewal(signed: 39, line: line) {
          ($0.isInBillingRetry, $0.renewalDate) = (true, at(end))
        })
      return EntitlementChange.changes(
        of: "pro", from: evaluate(before, entitlement: "pro", in: app, at: at(39)),
        to: evaluate(after, entitlement: "pro", in: app, at: at(39)), by: .evidence, at: at(39),
        facts: FactsChange(from: before, to: after, by: .evidence)
      ).map(\.kind)
    }
    #expect(kinds(afterFailureOf: "L2", 39) == [.extended])
    #expect(kinds(afterFailureOf: "L1", 40).isEmpty, "ENTERED_GRACE_PERIOD follows")
  }

  /// The changes that time makes at the start of `day`.
  private func kinds(_ facts: CustomerFacts, at day: Int64) -> [Kind] {
    EntitlementChange.changes(
      of: "pro", from: evaluate(facts, entitlement: "pro", in: app, at: at(day, hours: -1)),
      to: evaluate(facts, entitlement: "pro", in: app, at: at(day)), by: .time, at: at(day),
      facts: FactsChange(from: facts, to: facts, by: .time)
    ).map(\.kind)
  }

  @Test("A grant that goes on after a subscription was reported when it was created")
  func grantGoesOn() {
    let (own, given) = (CustomerFacts(transactions: [period(0...30)]), grant("G1", 5, 60))
    let both = CustomerFacts(transactions: [period(0...30)], grants: [given])
    #expect(kinds(own, both, on: 5, by: .grant) == [.granted])
    #expect(kinds(both, at: 30) == [.reasonChanged])
    let limited = CustomerFacts(transactions: [period(0...30)], grants: [grant("G1", 5, 60, .limited)])
    #expect(kinds(limited, at: 30) == [.accessLevelChanged])
    let refunded = period(0...30).with { ($0.revocationDate, $0.signedDate) = (at(9), at(9)) }
    #expect(kinds(both, CustomerFacts(transactions: [refunded], grants: [given]), on: 10) == [.refunded])
    #expect(kinds(CustomerFacts(grants: [given]), at: 5) == [.granted], "a grant that begins later")
  }

  @Test("A purchase that goes on after a grant was reported when it was made")
  func purchaseGoesOn() {
    let shared = period(0...60).with { $0.ownership = .familyShared }
    let both = CustomerFacts(transactions: [shared], grants: [grant("G1", 5, 30)])
    #expect(kinds(both, at: 30) == [.reasonChanged])
    let given = CustomerFacts(grants: [grant("G1", 0, 60)])
    let bought = CustomerFacts(transactions: [period(5...35)], grants: given.grants)
    #expect(kinds(given, bought, on: 5) == [.started])
  }
}
