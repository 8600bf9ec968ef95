import AppStore
import Entitlements
import TestSupport
import Testing

/// The consent of a parent or guardian, and what its withdrawal ends.
@Suite struct RescindedConsentTests {
  private func ocean(_ policy: RescindConsentPolicy) -> AppDefinition {
    AppDefinition(
      id: "ocean", identity: app.identity, environments: [.sandbox], products: Array(app.products.values),
      boughtBefore: [BoughtBeforeVersion(version: AppVersion("3.0")!, entitlements: ["pro": .full])],
      rescindConsent: policy)
  }

  private func install(_ id: String, signed: Int64 = 0, version: String = "4.0", rescinded: Int64? = nil)
    -> AppTransactionFact
  {
    AppTransactionFact(
      appTransactionID: id, originalApplicationVersion: version, originalPurchaseDate: at(0),
      consentRescindedAt: rescinded.map { at($0) }, signedDate: at(signed))
  }

  private func answer(
    _ facts: CustomerFacts, _ policy: RescindConsentPolicy = .endAccess, on day: Int64
  ) -> EntitlementStatus {
    evaluate(facts, entitlement: "pro", in: ocean(policy), at: at(day))
  }

  @Test("Access ends with the consent under end_access, and continues under notify")
  func ends() {
    let bought = period(0...30).with { $0.details.appTransactionID = "1" }
    let facts = CustomerFacts(transactions: [bought], appTransactions: [install("1", rescinded: 10)])
    #expect(answer(facts, on: 9).isEntitled && answer(facts, on: 9).until == at(10))
    #expect(answer(facts, on: 10).reason == .consentRescinded)
    #expect(answer(facts, on: 10).until == at(10) && answer(facts, on: 10).productState == .inactive)
    #expect(answer(facts, .notify, on: 10).isEntitled)
    let renewed = CustomerFacts(
      transactions: [bought, period(30...60).with { $0.details.appTransactionID = "1" }],
      appTransactions: facts.appTransactions)
    #expect(answer(renewed, on: 40).reason == .consentRescinded)
    #expect(ocean(.notify).fingerprint != ocean(.endAccess).fingerprint)
  }

  @Test("Other app installs and grants keep their access; purchases without an install do not")
  func others() {
    let rescinded = [install("1", rescinded: 10)]
    let other = period(0...30).with { $0.details.appTransactionID = "2" }
    #expect(answer(CustomerFacts(transactions: [other], appTransactions: rescinded), on: 20).isEntitled)
    #expect(
      !answer(CustomerFacts(transactions: [period(0...30)], appTransactions: rescinded), on: 20).isEntitled)
    #expect(answer(CustomerFacts(grants: [grant("G1", 0)], appTransactions: rescinded), on: 20).isEntitled)
    let paid = CustomerFacts(appTransactions: [install("1", version: "2.0", rescinded: 10)])
    #expect(answer(paid, on: 9).isEntitled)
    #expect(answer(paid, on: 10).reason == .consentRescinded)
  }

  @Test("A later document about the app install keeps the withdrawal, in any order")
  func kept() {
    let (rescinded, later) = (install("1", signed: 10, rescinded: 10), install("1", signed: 20))
    let facts = CustomerFacts(appTransactions: [rescinded, later])
    #expect(facts == CustomerFacts(appTransactions: [later, rescinded]))
    #expect(facts.appTransactions.first?.consentRescindedAt == at(10))
    #expect(facts.appTransactions.first?.signedDate == at(20))
  }

  @Test("Access ends with the first of several withdrawals, in any order")
  func repeated() {
    let (first, second) = (
      install("1", version: "2.0", rescinded: 10), install("1", version: "2.0", rescinded: 20)
    )
    for installs in [[first, second], [second, first]] {
      let facts = CustomerFacts(appTransactions: installs)
      #expect(answer(facts, on: 9).until == at(10))
      #expect(answer(facts, on: 15).reason == .consentRescinded)
      #expect(answer(facts, on: 25).until == at(10))
    }
  }
}
