import AppStore
import Entitlements
import JSON
import Store
import TestSupport
import Testing

@testable import Services

/// The ends of access in the document that has RevenueCat's form: readers compare `expires_date` with the time of the request.
@Suite struct SubscriberEndTests {
  private let app = AppDefinition(
    id: "ocean", identity: AppIdentity(bundleID: "com.example", appAppleID: nil), environments: [.sandbox],
    products: [
      ProductDefinition(
        productID: "monthly", type: .autoRenewableSubscription, accessLevels: ["pro": .full],
        operatorGrace: OperatorGrace(days: 30, access: .limited)),
      ProductDefinition(
        productID: "plus", type: .autoRenewableSubscription, accessLevels: ["pro": .full, "plus": .full]),
    ], renewalPolicy: RenewalPolicy(slack: Instant.millisecondsPerDay, clockTolerance: 0))

  private func period(
    _ days: ClosedRange<Int64>, _ product: String = "monthly",
    _ change: (inout TransactionFact) -> Void = { _ in }
  ) -> TransactionFact {
    TransactionFact(
      transactionID: "\(product)-\(days.lowerBound)", originalTransactionID: "1", productID: product,
      type: .autoRenewableSubscription, purchaseDate: at(days.lowerBound), expiresDate: at(days.upperBound),
      signedDate: at(days.lowerBound)
    ).with(change)
  }

  /// The ends of one member of the document.
  private struct Ends: Equatable {
    var expires: String?
    var grace: String?

    init(of member: JSONValue?) {
      expires = member?.objectValue?["expires_date"]?.stringValue
      grace = member?.objectValue?["grace_period_expires_date"]?.stringValue
    }

    /// Ends on these days.
    init(_ expires: Int64, grace: Int64? = nil) {
      self.expires = SubscriberDocument.date(at(expires)).stringValue
      self.grace = grace.flatMap { SubscriberDocument.date(at($0)).stringValue }
    }
  }

  /// The ends of the entitlement `pro` and of the subscription `monthly`.
  private func ends(
    _ transactions: [TransactionFact], _ renewals: [RenewalFact] = [], on day: Int64
  ) -> (entitlement: Ends, subscription: Ends) {
    let key = CustomerKey(appID: app.id, environment: .sandbox, customerID: "ann")
    let facts = CustomerFacts(transactions: transactions, renewals: renewals)
    let document = SubscriberDocument(key, facts, attributes: [], in: app, at: at(day)).json
    let subscriber = document["subscriber"]?.objectValue
    return (
      Ends(of: subscriber?["entitlements"]?.objectValue?["pro"]),
      Ends(of: subscriber?["subscriptions"]?.objectValue?["monthly"])
    )
  }

  @Test("While a grace period or the renewal slack gives access, both ends are its end")
  func extended() {
    let failed = RenewalFact(
      originalTransactionID: "1", productID: "monthly", isInBillingRetry: true,
      gracePeriodExpiresDate: at(76),
      signedDate: at(30))
    let paid = ends([period(0...30)], on: 29)
    #expect(paid.entitlement == Ends(30) && paid.subscription == Ends(30))
    // The slack lasts for a day.
    let late = ends([period(0...31)], on: 31)
    #expect(late.entitlement == Ends(32, grace: 32) && late.subscription == Ends(32, grace: 32))
    let grace = ends([period(0...30)], [failed], on: 70)
    #expect(grace.entitlement == Ends(76, grace: 76) && grace.subscription == Ends(76, grace: 76))
    var unpaid = failed
    unpaid.gracePeriodExpiresDate = nil
    let ours = ends([period(0...30)], [unpaid], on: 40)
    #expect(ours.entitlement == Ends(60, grace: 60) && ours.subscription == Ends(60, grace: 60))
    let over = ends([period(0...30)], [failed], on: 77)
    #expect(over.entitlement == Ends(76) && over.subscription == Ends(76, grace: 76))
  }

  @Test(
    "A refund of all or a part of the price ends a subscription, and that of some seats does not",
    arguments: [RevocationType.refundFull, .refundProrated, .familyRevoke, nil])
  func refunded(type: RevocationType?) {
    let bought = period(0...30) {
      $0.quantity = 2
      $0.signedDate = at(10)
      if let type {
        ($0.revocationDate, $0.revocationType) = (at(10), type)
        $0.details.revocationPercentage = type == .refundProrated ? 40_000 : nil
        if type == .familyRevoke { $0.ownership = .familyShared }
      } else {
        $0.revokedSeatQuantity = 1
      }
    }
    let found = ends([bought], on: 20)
    let end = Ends(type == nil ? 30 : 10)
    #expect(found.entitlement == end && found.subscription == end)
  }

  @Test("An upgrade ends the subscription that it replaces, also before the upgrade arrives")
  func upgraded() {
    let found = ends([period(0...30), period(10...40, "plus")], on: 20)
    #expect(found.entitlement == Ends(40) && found.subscription == Ends(10))
    let unknown = ends([period(0...30) { ($0.isUpgraded, $0.signedDate) = (true, at(10)) }], on: 20)
    #expect(unknown.entitlement == Ends(10) && unknown.subscription == Ends(10))
  }

  @Test("A renewal that was refunded before it began leaves the end of the paid period")
  func refundedRenewal() {
    let renewed = period(30...60) {
      ($0.signedDate, $0.revocationDate) = (at(29), at(29))
    }
    let found = ends([period(0...30), renewed], on: 29)
    #expect(found.entitlement == Ends(30) && found.subscription == Ends(30))
  }

  @Test("A period that has not begun is in no member")
  func future() {
    let found = ends([period(30...60)], on: 20)
    #expect(found.entitlement == Ends(of: nil) && found.subscription == Ends(of: nil))
  }
}
