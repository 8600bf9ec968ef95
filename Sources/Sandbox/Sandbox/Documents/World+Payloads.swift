internal import AppStore
internal import JSON

/// The payloads of Apple's signed documents.
extension World {
  /// The payload of a transaction that is signed now.
  func presentPayload(of sold: SoldTransaction) -> JSONObject {
    payload(of: sold, signed: signingDates.current(of: sold.originalID, at: now))
  }

  /// The payload of a renewal info that is signed now.
  func presentPayload(of line: SubscriptionLine) -> JSONObject {
    payload(of: line, signed: signingDates.current(of: line.id, at: now))
  }

  /// Returns the payload of a signed transaction (Apple: JWSTransactionDecodedPayload).
  func payload(of sold: SoldTransaction, signed: Instant) -> JSONObject {
    let product = product(sold.productID, of: sold.app)
    let offer = sold.offer
    let commitment = sold.commitment.map { commitmentInfo(of: $0) }
    let payload = JSONObject(present: [
      ("transactionId", .string(String(sold.id))),
      ("originalTransactionId", .string(String(sold.originalID))),
      ("webOrderLineItemId", sold.webOrderLineItemID.map { .string(String($0)) }),
      ("bundleId", app(sold.app).map { .string($0.identity.bundleID) }),
      ("productId", .string(sold.productID)),
      ("subscriptionGroupIdentifier", product?.subscriptionGroupIdentifier.map(JSONValue.string)),
      ("purchaseDate", JSONValue(sold.purchaseDate)),
      ("originalPurchaseDate", JSONValue(sold.originalPurchaseDate)),
      ("expiresDate", sold.expiresDate.map { JSONValue($0) }),
      ("quantity", JSONValue(sold.quantity)),
      ("type", product.map { .string($0.type.rawValue) }),
      ("appAccountToken", sold.appAccountToken.map(JSONValue.string)),
      ("inAppOwnershipType", .string(sold.ownership.rawValue)),
      ("signedDate", JSONValue(signed)),
      ("revocationReason", sold.revocation.map { JSONValue($0.reason.rawValue) }),
      ("revocationDate", sold.revocation.map { JSONValue($0.date) }),
      ("revocationType", sold.revocation.map { .string($0.type.rawValue) }),
      ("revocationPercentage", sold.revocation?.percentage.map { JSONValue($0) }),
      ("isUpgraded", sold.isUpgraded ? true : nil),
      ("offerType", offer.map { JSONValue($0.type.rawValue) }),
      ("offerIdentifier", offer?.identifier.map(JSONValue.string)),
      ("offerDiscountType", offer.map { .string($0.mode.rawValue) }),
      ("offerPeriod", offer.map { .string($0.period.description) }),
      ("environment", .string(Environment.sandbox.rawValue)),
      ("transactionReason", .string(sold.reason.rawValue)),
      (
        "additionalTransactionReason",
        sold.hasSeatAdditions ? .string(AdditionalTransactionReason.seatAddition.rawValue) : nil
      ),
      ("storefront", .string(sold.storefront.code)),
      ("storefrontId", .string(sold.storefront.id)),
      ("price", JSONValue(sold.price)),
      ("currency", product.map { .string(sold.storefront.currency(of: $0)) }),
      ("billingPlanType", sold.billingPlan.map { .string($0.rawValue) }),
      ("commitmentInfo", commitment),
      ("multiSeatInfo", sold.seats.map(multiSeatInfo)),
      ("appTransactionId", .string(appTransactionID(app: sold.app, account: sold.account))),
    ])
    return futureDocuments(of: sold.app).applied(to: payload, .transaction)
  }

  /// Returns the payload of a signed renewal info (Apple: JWSRenewalInfoDecodedPayload).
  ///
  /// - circumstances: those of an earlier time; `nil` for the present ones.
  func payload(
    of line: SubscriptionLine, signed: Instant, in circumstances: SandboxNotification.Circumstances? = nil
  ) -> JSONObject {
    let next = line.nextOffer
    let charge = line.nextCharge
    let commitment = line.commitment.map { nextCommitmentInfo(of: line, $0) }
    let winBack = circumstances?.winBackOffers ?? winBackOffers(for: line)
    let storefront = circumstances?.storefront ?? accounts[line.account]?.storefront ?? .usa
    let isRenewed = line.isRunning && (line.autoRenews || line.owesPayments)
    let hasSeats = line.source == nil && line.invitations != nil
    let tiers = circumstances?.renewalPriceTiers ?? renewalPriceTiers(of: line)
    // Apple, is_in_billing_retry_period: removed when a new transaction follows. Documents in the articles of the Advanced
    // Commerce API and of developers lack it until a charge fails or the subscription ends.
    let retryIndicator: JSONValue? = expirationIntent(of: line) == nil ? nil : .bool(isRetried(line))
    let price = isRenewed ? (hasSeats ? tiers.averagePrice : next?.price ?? charge.price) : nil
    let currency = product(charge.productID, of: line.app).map(storefront.currency)
    let payload = JSONObject(present: [
      ("expirationIntent", expirationIntent(of: line).map { JSONValue($0.rawValue) }),
      ("originalTransactionId", .string(String(line.id))),
      ("autoRenewProductId", .string(charge.productID)),
      ("productId", .string(line.productID)),
      ("autoRenewStatus", JSONValue(autoRenewStatus(renewsNextPeriod(line)))),
      ("isInBillingRetryPeriod", retryIndicator),
      (
        "priceIncreaseStatus",
        line.announcedIncrease.map {
          JSONValue(($0.state == .accepted ? PriceIncreaseStatus.accepted : .pending).rawValue)
        }
      ),
      ("gracePeriodExpiresDate", graceEnd(of: line).map { JSONValue($0) }),
      ("offerType", next.map { JSONValue($0.type.rawValue) }),
      ("offerIdentifier", next?.identifier.map(JSONValue.string)),
      ("offerDiscountType", next.map { .string($0.mode.rawValue) }),
      ("offerPeriod", next.map { .string($0.period.description) }),
      ("eligibleWinBackOfferIds", winBack.isEmpty ? nil : .array(winBack.map(JSONValue.string))),
      ("signedDate", JSONValue(signed)),
      ("environment", .string(Environment.sandbox.rawValue)),
      ("recentSubscriptionStartDate", JSONValue(line.recentStart)),
      ("renewalDate", JSONValue(line.expiresDate)),
      ("renewalPrice", price.map { JSONValue($0) }),
      ("currency", price == nil ? nil : currency.map(JSONValue.string)),
      ("appTransactionId", .string(appTransactionID(app: line.app, account: line.account))),
      ("appAccountToken", line.appAccountToken.map(JSONValue.string)),
      ("renewalQuantity", hasSeats ? JSONValue(line.renewalQuantity) : nil),
      ("renewalBillingPlanType", .string(charge.plan.rawValue)),
      ("commitmentInfo", commitment),
      // Apple: RenewalMultiSeatInfo, "only if the subscription renews as a multiseat purchase".
      ("multiSeatInfo", hasSeats && isRenewed ? ["renewalPriceTiers": Self.json(tiers)] : nil),
    ])
    return futureDocuments(of: line.app).applied(to: payload, .renewalInfo)
  }

  /// Apple's code.
  private func autoRenewStatus(_ isOn: Bool) -> Int64 { (isOn ? AutoRenewStatus.on : .off).rawValue }

  /// The place of a transaction in its commitment (Apple: TransactionCommitmentInfo). The total price is in milliunits
  /// like `price` (WWDC26, "What's new in Apple In-App Purchase": 131880 for twelve payments of 10990).
  private func commitmentInfo(of payment: CommitmentPayment) -> JSONValue {
    [
      "billingPeriodNumber": JSONValue(Int64(payment.number)),
      "totalBillingPeriods": JSONValue(Int64(Commitment.payments)),
      "commitmentExpiresDate": JSONValue(payment.expiresDate), "commitmentPrice": JSONValue(payment.total),
    ]
  }

  /// The renewal after the commitment (Apple: RenewalCommitmentInfo), present only during one.
  private func nextCommitmentInfo(of line: SubscriptionLine, _ commitment: Commitment) -> JSONValue {
    [
      "commitmentAutoRenewProductId": .string(line.renewalProductID),
      "commitmentAutoRenewStatus": JSONValue(autoRenewStatus(line.autoRenews)),
      "commitmentRenewalBillingPlanType": .string(line.renewalPlan.rawValue),
      "commitmentRenewalDate": JSONValue(commitment.expiresDate),
      "commitmentRenewalPrice": JSONValue(
        line.pendingOffer?.price ?? line.announcedIncrease?.price ?? line.renewalPrice),
    ]
  }

  /// Returns the seats of a transaction (Apple: TransactionMultiSeatInfo).
  private func multiSeatInfo(_ seats: SeatInfo) -> JSONValue {
    .object(
      JSONObject(present: [
        ("invitationManagement", .string(seats.invitations.rawValue)),
        ("priceTiers", Self.json(seats.tiers)),
        ("revokedSeatQuantity", seats.revoked > 0 ? JSONValue(seats.revoked) : nil),
      ]))
  }

  /// The tiers in Apple's form.
  private static func json(_ tiers: [SeatPriceTier]) -> JSONValue {
    .array(tiers.map { ["tierPrice": JSONValue($0.price), "tierQuantity": JSONValue($0.quantity)] })
  }

  /// The reason why the subscription ended or will end; a billing error during grace period and billing
  /// retry.
  func expirationIntent(of line: SubscriptionLine) -> ExpirationIntent? {
    switch line.status {
    case .ended(let intent): intent
    case .grace, .retry: .billingError
    case .revoked: .other
    case .active: nil
    }
  }

  /// Whether Apple retries the charge, during the grace period or after it.
  func isRetried(_ line: SubscriptionLine) -> Bool {
    switch line.status {
    case .grace, .retry: true
    case .active, .ended, .revoked: false
    }
  }

  /// The end of the current grace period (`gracePeriodExpiresDate`).
  func graceEnd(of line: SubscriptionLine) -> Instant? {
    if case .grace(let end) = line.status { end } else { nil }
  }

  /// Returns the payload of a signed app transaction (Apple: AppTransaction), or `nil` if the account never
  /// downloaded the app.
  func appTransaction(of account: String, in app: String, signed: Instant) -> JSONObject? {
    accounts[account]?.appInstalls[app].flatMap { appTransaction(of: account, in: app, $0, signed: signed) }
  }

  /// Returns the payload of a signed app transaction about an install; `nil` for an unknown app.
  func appTransaction(
    of account: String, in app: String, _ install: AppInstall, signed: Instant
  ) -> JSONObject? {
    guard let identity = self.app(app)?.identity else { return nil }
    let payload = JSONObject(present: [
      ("receiptType", .string(Environment.sandbox.rawValue)),
      ("appTransactionId", .string(appTransactionID(app: app, account: account))),
      ("bundleId", .string(identity.bundleID)),
      ("applicationVersion", .string(install.version)),
      ("receiptCreationDate", JSONValue(signed)),
      ("originalPurchaseDate", JSONValue(install.originalPurchaseDate)),
      ("originalApplicationVersion", .string(install.originalVersion)),
      ("preorderDate", install.preorderDate.map { JSONValue($0) }),
      ("originalPlatform", .string(PurchasePlatform.iOS.rawValue)),
    ])
    return futureDocuments(of: app).applied(to: payload, .appTransaction)
  }

  /// Returns the payload of a retention message request (Apple: DecodedRealtimeRequestBody).
  func retentionMessageRequest(_ line: SubscriptionLine, identifier: String, signed: Instant) -> JSONObject {
    let payload = JSONObject(present: [
      ("originalTransactionId", .string(String(line.id))),
      ("appAppleId", JSONValue(app(line.app)?.identity.appAppleID ?? 0)),
      ("productId", .string(line.productID)),
      ("userLocale", "en-US"),
      ("requestIdentifier", .string(identifier)),
      ("environment", .string(Environment.sandbox.rawValue)),
      ("signedDate", JSONValue(signed)),
    ])
    return futureDocuments(of: line.app).applied(to: payload, .part)
  }

  /// Returns the additions to the documents of an app beside the members and values of today.
  func futureDocuments(of app: String) -> FutureDocuments {
    settings[app]?.futureDocuments ?? FutureDocuments()
  }
}

/// Returns the stable `appTransactionId` of an account in an app.
func appTransactionID(app: String, account: String) -> String {
  // FNV-1a, 64 bits: uniform and the same on every machine.
  var hash: UInt64 = 0xCBF2_9CE4_8422_2325
  for byte in "\(app)\u{0}\(account)".utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
  return String(700_000_000_000_000_000 + hash % 10_000_000_000_000_000)
}
