package import AppStore

/// The state of one purchase line by the notifications of one version alone. ``VersionComparison`` compares two of
/// them.
package struct PurchaseSummary: Sendable {
  /// One transaction of the line: a purchase or a subscription period.
  struct Purchase: Hashable, Sendable {
    let productID: String
    let purchaseDate: Instant
    let expiresDate: Instant?
    /// `nil` for a period that an upgrade replaced: only version 1 dates its end.
    let revocationDate: Instant?
    /// `nil` in version 1, where nothing is signed.
    let signedDate: Instant?
  }

  /// The next renewal, as the last notification with renewal info states it.
  struct Renewal: Hashable, Sendable {
    let autoRenewProductID: String?
    /// `nil` if the notification does not state it.
    let willRenew: Bool?
    let isInBillingRetry: Bool
    let gracePeriodExpiresDate: Instant?
    /// `nil` in version 1, where nothing is signed.
    let signedDate: Instant?
  }

  /// The number of notifications about the line.
  package private(set) var notifications = 0
  /// By transaction id.
  private(set) var purchases: [String: Purchase] = [:]
  private(set) var renewal: Renewal?
  /// The types of the notifications of version 1.
  private(set) var types: [String] = []
  /// The counterparts in version 1 of the notifications of version 2.
  private(set) var counterparts: [V1Counterpart] = []
  /// The notification types without a counterpart in version 1.
  private(set) var newTypes: [String] = []

  /// A summary of no notifications.
  package init() {}

  /// Adds a notification of version 1. They must be added in arrival order, because they are not dated.
  package mutating func add(_ body: ResponseBodyV1, about line: String) {
    notifications += 1
    if let type = body.notificationType { types.append(type.currentName) }
    for transaction in body.unifiedReceipt?.latestReceiptInfo ?? []
    where transaction.originalTransactionId == line {
      if let id = transaction.transactionId, let purchase = Purchase(transaction) { purchases[id] = purchase }
    }
    let pending = body.unifiedReceipt?.pendingRenewalInfo ?? []
    if let info = pending.first(where: { $0.originalTransactionId == line }) { renewal = Renewal(info) }
  }

  /// Adds a verified notification of version 2. The one signed last decides, in any order.
  package mutating func add(
    _ payload: ResponseBodyV2DecodedPayload, _ transaction: JWSTransactionDecodedPayload?,
    _ renewal: JWSRenewalInfoDecodedPayload?
  ) {
    notifications += 1
    let counterpart = V1Counterpart(of: payload, about: transaction)
    counterparts.append(counterpart)
    if counterpart.choices.isEmpty { newTypes.append(payload.typeAndSubtype) }
    if let id = transaction?.transactionId, let purchase = transaction.flatMap(Purchase.init),
      purchases[id].map({ $0.isOlder(than: purchase.signedDate) }) ?? true
    {
      purchases[id] = purchase
    }
    if let renewal, self.renewal.map({ $0.isOlder(than: renewal.signedDate) }) ?? true {
      self.renewal = Renewal(renewal)
    }
  }

  /// The transaction with the latest purchase date.
  var latest: (id: String, purchase: Purchase)? {
    purchases.max { ($0.value.purchaseDate, $0.key) < ($1.value.purchaseDate, $1.key) }.map {
      ($0.key, $0.value)
    }
  }
}

extension PurchaseSummary.Purchase {
  fileprivate init?(_ transaction: LegacyTransaction) {
    guard let productID = transaction.productId, let purchaseDate = transaction.purchaseDate else {
      return nil
    }
    self.init(
      productID: productID, purchaseDate: purchaseDate, expiresDate: transaction.expiresDate,
      revocationDate: transaction.isUpgraded == true ? nil : transaction.cancellationDate, signedDate: nil)
  }

  fileprivate init?(_ transaction: JWSTransactionDecodedPayload) {
    guard let productID = transaction.productId, let purchaseDate = transaction.purchaseDate else {
      return nil
    }
    self.init(
      productID: productID, purchaseDate: purchaseDate, expiresDate: transaction.expiresDate,
      revocationDate: transaction.isUpgraded == true ? nil : transaction.revocationDate,
      signedDate: transaction.signedDate)
  }

  fileprivate func isOlder(than instant: Instant?) -> Bool { isNotSigned(signedDate, after: instant) }
}

extension PurchaseSummary.Renewal {
  fileprivate init(_ pending: PendingRenewalInfo) {
    self.init(
      autoRenewProductID: pending.autoRenewProductId, willRenew: pending.autoRenewStatus,
      isInBillingRetry: pending.isInBillingRetryPeriod ?? false,
      gracePeriodExpiresDate: pending.gracePeriodExpiresDate, signedDate: nil)
  }

  fileprivate init(_ renewal: JWSRenewalInfoDecodedPayload) {
    self.init(
      autoRenewProductID: renewal.autoRenewProductId, willRenew: renewal.autoRenewStatus.map { $0 == .on },
      isInBillingRetry: renewal.isInBillingRetryPeriod ?? false,
      gracePeriodExpiresDate: renewal.gracePeriodExpiresDate, signedDate: renewal.signedDate)
  }

  fileprivate func isOlder(than instant: Instant?) -> Bool { isNotSigned(signedDate, after: instant) }
}

/// Whether a document signed at `known` does not supersede one signed at `instant`.
private func isNotSigned(_ known: Instant?, after instant: Instant?) -> Bool {
  guard let known, let instant else { return known == nil }
  return known <= instant
}
