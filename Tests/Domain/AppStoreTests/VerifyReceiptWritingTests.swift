import AppStore
import JSON
import Testing

/// Round trips of the `verifyReceipt` format.
@Suite struct VerifyReceiptWritingTests {
  private let date = Instant(millisecondsSince1970: 1_571_420_607_000)

  private var period: LegacyPurchase {
    var purchase = LegacyPurchase(
      transactionID: "12", originalTransactionID: "10", productID: "pro", isSubscription: true)
    purchase.purchaseDate = date
    purchase.originalPurchaseDate = date.advanced(byMilliseconds: -1)
    purchase.expiresDate = date.advanced(byMilliseconds: 1)
    purchase.webOrderLineItemID = "13"
    purchase.offer = LegacyOffer(.promotional, paid: .payAsYouGo, identifier: "loyal")
    purchase.cancellation = .init(date: date.advanced(byMilliseconds: 2), reason: .appIssue)
    purchase.ownership = .familyShared
    purchase.appAccountToken = "token"
    purchase.subscriptionGroupID = "20"
    purchase.isUpgraded = true
    return purchase
  }

  @Test("A date is written in GMT, milliseconds and Pacific time")
  func dates() {
    // Daylight saving time changes on 10 March and 3 November 2019 at 02:00.
    let spellings = [
      ("2019-10-18T17:43:27Z", "2019-10-18 10:43:27"), ("2019-03-10T09:59:59Z", "2019-03-10 01:59:59"),
      ("2019-03-10T10:00:00Z", "2019-03-10 03:00:00"), ("2019-11-03T08:59:59Z", "2019-11-03 01:59:59"),
      ("2019-11-03T09:00:00Z", "2019-11-03 01:00:00"), ("2020-01-01T07:59:59Z", "2019-12-31 23:59:59"),
    ]
    for (utc, pacific) in spellings {
      let date = Instant(rfc3339: utc)
      var json = JSONObject()
      json.add(legacyDate: date, as: "d")
      #expect(json["d"] == .string("\(utc.prefix(10)) \(utc.dropFirst(11).dropLast()) Etc/GMT"))
      #expect(json["d_ms"] == .string(String(date?.millisecondsSince1970 ?? 0)))
      #expect(json["d_pst"] == .string("\(pacific) America/Los_Angeles"))
    }
    var json = JSONObject()
    json.add(legacyDate: nil, as: "d")
    #expect(json.isEmpty)
  }

  @Test("A period of latest_receipt_info survives a round trip")
  func latestReceiptInfo() throws {
    let read = try LegacyTransaction(json: period.json(in: .latestReceiptInfo))
    #expect(read.transactionId == "12" && read.originalTransactionId == "10" && read.productId == "pro")
    #expect(read.purchaseDate == date && read.expiresDate == date.advanced(byMilliseconds: 1))
    #expect(read.originalPurchaseDate == date.advanced(byMilliseconds: -1))
    #expect(read.webOrderLineItemId == "13" && read.quantity == 1 && read.promotionalOfferId == "loyal")
    #expect(read.isTrialPeriod == false && read.isInIntroOfferPeriod == false)
    #expect(read.cancellationDate == date.advanced(byMilliseconds: 2) && read.cancellationReason == 1)
    #expect(read.inAppOwnershipType == .familyShared && read.appAccountToken == "token")
    #expect(read.subscriptionGroupIdentifier == "20" && read.isUpgraded == true)
  }

  private func period(
    _ id: String, _ product: String, _ days: ClosedRange<Int64>, isUpgraded: Bool = true, line: String = "1"
  ) -> LegacyPurchase {
    var purchase = LegacyPurchase(
      transactionID: id, originalTransactionID: line, productID: product, isSubscription: true)
    purchase.purchaseDate = Instant(millisecondsSince1970: days.lowerBound)
    purchase.expiresDate = Instant(millisecondsSince1970: days.upperBound)
    purchase.isUpgraded = isUpgraded
    return purchase
  }

  /// Returns the cancellation date of each purchase after the upgrades are dated.
  private func cancellations(_ purchases: LegacyPurchase...) -> [Int64?] {
    purchases.withUpgradesDated.map { $0.cancellation?.date.millisecondsSince1970 }
  }

  @Test("The cancellation date of an upgraded period is the date of the upgrade")
  func upgrades() {
    // The renewal 3 was charged before the upgrade 4 and starts after it.
    #expect(
      cancellations(
        period("1", "yearly", 0...365), period("2", "monthly", 5...35), period("3", "monthly", 35...65),
        period("4", "gold", 34...399), period("5", "platinum", 100...130, isUpgraded: false))
        == [5, 34, 34, 100, nil])
    // A renewal that began, and one that the upgrade follows at once.
    #expect(
      cancellations(
        period("1", "yearly", 0...365), period("2", "monthly", 5...35, isUpgraded: false),
        period("3", "monthly", 35...65), period("4", "gold", 40...70, isUpgraded: false))
        == [5, nil, 40, nil])
    #expect(
      cancellations(period("3", "monthly", 35...65), period("4", "gold", 35...65, isUpgraded: false))
        == [35, nil])
  }

  @Test("A change of the billing plan is dated like an upgrade, although the product stays")
  func planChange() {
    // From monthly payments to one up front.
    #expect(
      cancellations(period("1", "yearly", 0...30), period("2", "yearly", 10...375, isUpgraded: false))
        == [10, nil])
  }

  @Test("Added seats end with the period that the upgrade replaced")
  func addedSeats() {
    #expect(
      cancellations(
        period("1", "team", 0...30), period("2", "team", 5...30),
        period("3", "big", 10...40, isUpgraded: false)) == [10, 10, nil])
  }

  @Test("An upgraded period has no cancellation date if the upgrade is unknown or of another line")
  func unknownUpgrade() {
    #expect(
      cancellations(period("1", "monthly", 0...30), period("2", "monthly", 30...60, isUpgraded: false))
        == [nil, nil])
    #expect(
      cancellations(
        period("1", "monthly", 0...30), period("2", "gold", 5...35, isUpgraded: false, line: "2"))
        == [nil, nil])
  }

  @Test("A refund of an upgraded period keeps its cancellation date and reason")
  func refundedUpgrade() {
    var refunded = period("1", "monthly", 0...30)
    refunded.cancellation = .init(date: Instant(millisecondsSince1970: 7), reason: .appIssue)
    let dated = [refunded, period("2", "gold", 5...35, isUpgraded: false)].withUpgradesDated
    #expect(dated[0].cancellation == refunded.cancellation)
  }

  @Test("in_app omits the members of latest_receipt_info and always has is_trial_period")
  func inApp() {
    var once = LegacyPurchase(
      transactionID: "1", originalTransactionID: "1", productID: "unlock", isSubscription: false)
    once.ownership = .purchased
    #expect(once.json(in: .inApp)["is_trial_period"] == "false")
    #expect(once.json(in: .latestReceiptInfo)["is_trial_period"] == nil)
    #expect(once.json(in: .inApp)["is_in_intro_offer_period"] == nil)
    let names = [
      "in_app_ownership_type", "app_account_token", "is_upgraded", "subscription_group_identifier",
    ]
    for name in names { #expect(period.json(in: .inApp)[name] == nil) }
  }

  @Test(
    "An offer is converted to the legacy members (WWDC21-10174)",
    arguments: [
      (OfferType.introductory, OfferDiscountType.freeTrial, true, false, nil, nil),
      (.introductory, .payUpFront, false, true, nil, nil),
      (.promotional, .freeTrial, true, false, "id", nil),
      (.offerCode, .payAsYouGo, false, false, nil, "id"),
      (.winBack, .payAsYouGo, false, false, nil, nil),
    ] as [(OfferType, OfferDiscountType, Bool, Bool, String?, String?)])
  func offers(
    type: OfferType, mode: OfferDiscountType, isTrial: Bool, isIntroductory: Bool, promotional: String?,
    code: String?
  ) {
    let offer = LegacyOffer(type, paid: mode, identifier: "id")
    #expect(offer.isTrial == isTrial && offer.isIntroductory == isIntroductory)
    #expect(offer.promotionalOfferID == promotional && offer.offerCodeName == code)
  }

  @Test("A pending renewal survives a round trip")
  func pendingRenewalInfo() throws {
    var renewal = LegacyRenewal(originalTransactionID: "10", productID: "pro")
    renewal.autoRenewProductID = "gold"
    renewal.autoRenews = true
    let running = try PendingRenewalInfo(json: renewal.json)
    #expect(running.autoRenewProductId == "gold" && running.autoRenewStatus == true)
    #expect(running.isInBillingRetryPeriod == nil && running.expirationIntent == nil)
    renewal.autoRenews = false
    renewal.expirationIntent = .billingError
    renewal.isInBillingRetry = true
    renewal.gracePeriodExpiresDate = date
    renewal.priceIncreaseStatus = .pending
    let failing = try PendingRenewalInfo(json: renewal.json)
    #expect(failing.autoRenewStatus == false && failing.expirationIntent == 2)
    #expect(failing.isInBillingRetryPeriod == true && failing.gracePeriodExpiresDate == date)
    #expect(failing.priceConsentStatus == 0 && failing.priceIncreaseStatus == 0)
  }

  @Test("Purchases are sorted latest first, then by higher id")
  func order() {
    func purchase(_ id: String, _ milliseconds: Int64?) -> LegacyPurchase {
      var purchase = LegacyPurchase(
        transactionID: id, originalTransactionID: id, productID: "p", isSubscription: false)
      purchase.purchaseDate = milliseconds.map(Instant.init(millisecondsSince1970:))
      return purchase
    }
    let purchases = [purchase("9", 5), purchase("10", 5), purchase("3", 7), purchase("4", nil)]
    #expect(purchases.latestFirst.map(\.transactionID) == ["3", "10", "9", "4"])
  }

  @Test("A response has latest_receipt_info and latest_receipt only with an auto-renewable subscription")
  func withoutSubscription() {
    let once = LegacyPurchase(
      transactionID: "1", originalTransactionID: "1", productID: "unlock", isSubscription: false)
    func members(_ latest: LegacyPurchase...) -> [String] {
      let content = VerifyReceiptAnswer.Content(
        environment: .sandbox, receipt: LegacyReceiptContent(bundleID: "com.example"), latest: latest,
        pending: [], latestReceipt: "MII")
      return VerifyReceiptAnswer.valid(content).json.map(\.name)
    }
    #expect(members(once) == ["status", "environment", "receipt"])
    #expect(
      members(once, period) == ["status", "environment", "receipt", "latest_receipt_info", "latest_receipt"])
  }

  @Test("A response omits empty members, and only the statuses 21100 to 21199 have the retry flag")
  func answers() throws {
    let empty = VerifyReceiptAnswer.valid(
      .init(
        environment: .sandbox, receipt: LegacyReceiptContent(bundleID: "com.example"), latest: [],
        pending: [], latestReceipt: "MII"))
    #expect(empty.json.map(\.name) == ["status", "environment", "receipt"])
    let full = VerifyReceiptAnswer.valid(
      .init(
        environment: .production, receipt: LegacyReceiptContent(bundleID: "com.example"),
        latest: [period], pending: [LegacyRenewal(originalTransactionID: "10", productID: "pro")],
        latestReceipt: "MII"))
    let read = try VerifyReceiptResponse(json: full.json)
    #expect(read.status == .valid && read.environment == .production && read.latestReceipt == "MII")
    #expect(read.latestReceiptInfo?.count == 1 && read.pendingRenewalInfo?.count == 1)
    #expect(read.receipt?.bundleId == "com.example" && read.receipt?.inApp?.isEmpty == true)
    for status in [VerifyReceiptStatus.malformedOrTemporary, .unavailable, .internalDataAccess] {
      #expect(VerifyReceiptAnswer.failed(status, nil).json == ["status": JSONValue(status.rawValue)])
    }
    for status in [Int64(21100), 21199] {
      let passing = try VerifyReceiptResponse(
        json: VerifyReceiptAnswer.failed(VerifyReceiptStatus(rawValue: status), nil).json)
      #expect(passing.status?.rawValue == status && passing.isRetryable == true)
    }
    let final = VerifyReceiptAnswer.failed(.sharedSecretMismatch, .sandbox).json
    #expect(final == ["status": 21004, "environment": "Sandbox"])
  }
}
