internal import AppReceipt
internal import AppStore
internal import JSON
internal import SignedData

/// The data formats of `verifyReceipt` and of version 1 notifications: strings, and each date in three forms. It reads
/// one state of the world; a caller makes a new one for each response.
struct LegacyDocument {
  let world: World
  let app: SandboxApp
  let receipts: ReceiptDocument

  /// Returns the transactions of an account, with `onlyLatest` only the latest one of each subscription.
  func purchases(_ account: String, onlyLatest: Bool = false) -> [LegacyPurchase] {
    let sold = ReceiptDocument.purchases(of: account, in: app.id, world: world)
    return zip(sold, sold.map(purchase).withUpgradesDated)
      .filter { sold, _ in
        !onlyLatest || world.lines[sold.originalID].map { $0.current == sold.id } ?? true
      }
      .map(\.1)
  }

  /// Returns the renewal information of an account's subscriptions.
  func renewals(_ account: String) -> [LegacyRenewal] {
    world.subscriptions(of: account, in: app.id).map(renewal)
  }

  /// Returns one transaction.
  func purchase(_ sold: SoldTransaction) -> LegacyPurchase {
    var purchase = LegacyPurchase(
      transactionID: String(sold.id), originalTransactionID: String(sold.originalID),
      productID: sold.productID, isSubscription: world.lines[sold.originalID] != nil)
    purchase.quantity = sold.quantity
    purchase.purchaseDate = sold.purchaseDate
    purchase.originalPurchaseDate = sold.originalPurchaseDate
    purchase.expiresDate = sold.expiresDate
    purchase.webOrderLineItemID = sold.webOrderLineItemID.map { String($0) }
    purchase.offer = LegacyOffer(sold.offer)
    purchase.cancellation = sold.revocation.map { .init(date: $0.date, reason: $0.reason) }
    purchase.ownership = sold.ownership
    purchase.appAccountToken = sold.appAccountToken
    purchase.isUpgraded = sold.isUpgraded
    purchase.subscriptionGroupID =
      world.product(sold.productID, of: sold.app)?.subscriptionGroupIdentifier
    return purchase
  }

  /// The renewal information of one subscription.
  private func renewal(_ line: SubscriptionLine) -> LegacyRenewal {
    var renewal = LegacyRenewal(originalTransactionID: String(line.id), productID: line.productID)
    renewal.autoRenewProductID = line.nextCharge.productID
    renewal.autoRenews = world.renewsNextPeriod(line)
    renewal.expirationIntent = world.expirationIntent(of: line)
    renewal.isInBillingRetry = world.isRetried(line)
    renewal.gracePeriodExpiresDate = world.graceEnd(of: line)
    renewal.priceIncreaseStatus = line.announcedIncrease.map { $0.state == .accepted ? .accepted : .pending }
    renewal.offer = LegacyOffer(line.nextOffer)
    return renewal
  }

  // MARK: Version 1 notifications

  /// Returns the body of a version 1 notification, or `nil` if its subject is no purchase.
  func notification(
    _ notification: SandboxNotification, as type: NotificationTypeV1
  ) throws(CryptographyError) -> JSONObject? {
    guard case .purchase(let sold, let line, _) = notification.subject else { return nil }
    let account = sold.account
    let renewals = renewals(account).oldestFirst
    let unified = JSONObject(present: [
      ("environment", .string(Environment.sandbox.rawValue)),
      ("status", 0),
      ("latest_receipt", .string(try receipts.appReceipt(of: account, in: app))),
      ("latest_receipt_info", .array(latestReceiptInfo(account))),
      ("pending_renewal_info", renewals.isEmpty ? nil : .array(renewals.map { .object($0.json) })),
    ])
    var body = JSONObject(present: [
      ("notification_type", .string(type.rawValue)),
      ("environment", .string(Environment.sandbox.rawValue)),
      ("password", world.settings[app.id]?.sharedSecret.map(JSONValue.string)),
      ("bid", .string(app.identity.bundleID)),
      ("bvrs", .string(notification.circumstances?.install?.version ?? "1.0")),
      ("auto_renew_product_id", line.map { .string($0.nextCharge.productID) }),
      ("auto_renew_status", line.map { world.renewsNextPeriod($0) ? "true" : "false" }),
      ("expiration_intent", line.flatMap(world.expirationIntent).map { .string(String($0.rawValue)) }),
      ("original_transaction_id", .string(String(sold.originalID))),
    ])
    if type == .didChangeRenewalStatus {
      body.add(legacyDate: notification.date, as: "auto_renew_status_change_date")
    }
    body["unified_receipt"] = .object(unified)
    return body
  }

  /// The latest 100 transactions (Apple: unified_receipt.latest_receipt_info).
  private func latestReceiptInfo(_ account: String) -> [JSONValue] {
    purchases(account).latestFirst.prefix(100).map { .object($0.json(in: .latestReceiptInfo)) }
  }
}

extension LegacyOffer {
  /// The offer in the old members; none for a regular price.
  fileprivate init(_ offer: Offer?) {
    self.init(offer?.type, paid: offer?.mode, identifier: offer?.identifier)
  }
}
