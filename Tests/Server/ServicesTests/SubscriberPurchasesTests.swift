import AppStore
import Entitlements
import HTTP
import JSON
import RPC
import Testing

@testable import Services

/// The purchases of the document that has RevenueCat's form.
@Suite struct SubscriberPurchasesTests {
  private let app = AppDefinition(
    id: "ocean", identity: AppIdentity(bundleID: "com.example", appAppleID: nil), environments: [.sandbox],
    products: [])

  private func bought(
    _ id: String, _ product: String, _ type: ProductType, line: String? = nil, at second: Int64,
    revokedAt: Int64? = nil
  ) -> TransactionFact {
    TransactionFact(
      transactionID: id, originalTransactionID: line ?? id, productID: product, type: type,
      purchaseDate: instant(second), revocationDate: revokedAt.map(instant),
      signedDate: instant(revokedAt ?? second))
  }

  private func instant(_ second: Int64) -> Instant { Instant(millisecondsSince1970: second * 1_000) }

  private func purchases(_ transactions: TransactionFact...) -> SubscriberPurchases {
    SubscriberPurchases(
      CustomerFacts(transactions: transactions), in: app, isSandbox: true, at: instant(1_000))
  }

  @Test("A non-consumable that was restored on another device is one purchase")
  func copies() {
    let found = purchases(
      bought("10", "lifetime", .nonConsumable, at: 1),
      bought("11", "lifetime", .nonConsumable, line: "10", at: 2))
    let listed = found.others["lifetime"]?.arrayValue ?? []
    #expect(listed.map { $0.objectValue?["id"]?.stringValue } == ["10"])
  }

  @Test("A refund of one transaction of a non-consumable refunds its copies")
  func refundedCopy() {
    let found = purchases(
      bought("10", "lifetime", .nonConsumable, at: 1),
      bought("11", "lifetime", .nonConsumable, line: "10", at: 2, revokedAt: 3))
    #expect(found.others["lifetime"] == nil && found.otherPurchases["lifetime"] == nil)
  }

  @Test("Purchases of a product are in the order of their dates, whatever their ids")
  func order() {
    let found = purchases(bought("10", "coins", .consumable, at: 5), bought("9", "coins", .consumable, at: 1))
    let listed = found.others["coins"]?.arrayValue ?? []
    #expect(listed.map { $0.objectValue?["id"]?.stringValue } == ["9", "10"])
    #expect(
      found.otherPurchases["coins"]?.objectValue?["purchase_date"]?.stringValue == "1970-01-01T00:00:05Z")
  }

  @Test(
    "A subscription that ended because of a failed payment keeps the time of the failure",
    arguments: [
      (ExpirationIntent.billingError, "1970-01-01T00:01:40Z" as String?), (.customerCancelled, nil),
    ])
  func failedPayment(intent: ExpirationIntent, time: String?) throws {
    let period = TransactionFact(
      transactionID: "1", originalTransactionID: "1", productID: "pro", type: .autoRenewableSubscription,
      purchaseDate: instant(1), expiresDate: instant(100), signedDate: instant(1))
    let ended = RenewalFact(
      originalTransactionID: "1", productID: "pro", autoRenewStatus: .off, expirationIntent: intent,
      signedDate: instant(200))
    let found = SubscriberPurchases(
      CustomerFacts(transactions: [period], renewals: [ended]), in: app, isSandbox: true, at: instant(1_000))
    let subscription = try #require(found.subscriptions["pro"]?.objectValue)
    #expect(subscription["billing_issues_detected_at"]?.stringValue == time)
  }

  /// A month of the same product by another Apple Account.
  private func month(
    _ line: String, _ days: ClosedRange<Int64>, _ change: (inout TransactionFact) -> Void = { _ in }
  ) -> TransactionFact {
    var period = TransactionFact(
      transactionID: line, originalTransactionID: line, productID: "pro", type: .autoRenewableSubscription,
      purchaseDate: instant(days.lowerBound), expiresDate: instant(days.upperBound),
      signedDate: instant(days.lowerBound))
    change(&period)
    return period
  }

  @Test(
    "Of two purchases of a product all members are of the one that ends last, whichever began or decides",
    arguments: [["1", "2"], ["2", "1"]])
  func twoPurchases(lines: [String]) throws {
    let running = month(lines[0], 0...2_000)
    let refunded = month(lines[1], 500...2_500) {
      ($0.revocationDate, $0.revocationType, $0.signedDate) = (instant(600), .refundFull, instant(600))
    }
    let off = RenewalFact(
      originalTransactionID: lines[1], productID: "pro", autoRenewStatus: .off, signedDate: instant(600))
    let shared = month(lines[1], 500...2_500) { $0.ownership = .familyShared }
    for (other, isShared) in [(refunded, false), (shared, true)] {
      let found = SubscriberPurchases(
        CustomerFacts(transactions: [running, other], renewals: isShared ? [] : [off]), in: app,
        isSandbox: true, at: instant(1_000))
      let subscription = try #require(found.subscriptions["pro"]?.objectValue)
      #expect(subscription["store_transaction_id"]?.stringValue == lines[isShared ? 1 : 0])
      #expect(subscription["expires_date"] == SubscriberDocument.date(instant(isShared ? 2_500 : 2_000)))
      #expect(subscription["purchase_date"] == SubscriberDocument.date(instant(isShared ? 500 : 0)))
      #expect(subscription["ownership_type"]?.stringValue == (isShared ? "FAMILY_SHARED" : "PURCHASED"))
      #expect(subscription["refunded_at"]?.isNull == true)
      #expect(subscription["unsubscribe_detected_at"]?.isNull == true)
      #expect(found.hasActiveSubscription)
    }
  }

  @Test("A withdrawn consent for an install ends each purchase")
  func withdrawnConsent() throws {
    let install = AppTransactionFact(
      appTransactionID: "704", originalApplicationVersion: "1", originalPurchaseDate: instant(0),
      consentRescindedAt: instant(300), signedDate: instant(0))
    let app = AppDefinition(
      id: "ocean", identity: app.identity, environments: [.sandbox], products: [], rescindConsent: .endAccess)
    let found = SubscriberPurchases(
      CustomerFacts(transactions: [month("1", 0...2_000)], appTransactions: [install]), in: app,
      isSandbox: true, at: instant(1_000))
    let subscription = try #require(found.subscriptions["pro"]?.objectValue)
    #expect(subscription["expires_date"] == SubscriberDocument.date(instant(300)))
  }

  @Test("A grant of one entitlement of a purchase has the purchase's id, and ends with its refund")
  func grantOfAnEntitlement() throws {
    let grant = GrantFact(
      grantID: "grant-1", entitlement: "plus", since: instant(1), until: instant(5_000),
      revokedAt: instant(100),
      external: ExternalPurchase(source: "play", externalID: "GPA.6#plus", productID: "gold", revision: 2))
    let found = SubscriberPurchases(
      CustomerFacts(grants: [grant]), in: app, isSandbox: true, at: instant(1_000))
    let subscription = try #require(found.subscriptions["gold"]?.objectValue)
    #expect(subscription["store_transaction_id"]?.stringValue == "GPA.6")
    #expect(subscription["expires_date"]?.stringValue == "1970-01-01T00:01:40Z")
    #expect(subscription["refunded_at"] == subscription["expires_date"])
  }

  @Test(
    "Only errors of the request have RevenueCat's code of a bad request",
    arguments: [
      (StatusCode.deadlineExceeded, Int64(7110)), (.resourceExhausted, 7110), (.unavailable, 7110),
      (.unknown, 7110),
      (.invalidArgument, 7226), (.notFound, 7226), (.unauthenticated, 7225), (.permissionDenied, 7243),
    ])
  func codes(code: StatusCode, expected: Int64) throws {
    let response = SubscriberEndpoint.failure(Status(code, "text"))
    #expect(try JSONValue(parsing: response.body).objectValue?["code"]?.int64Value == expected)
  }
}
