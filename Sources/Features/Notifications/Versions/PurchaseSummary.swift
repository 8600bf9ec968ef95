package import AppStore

/// What notifications of one version, and nothing else, say of one purchase line.
package struct PurchaseSummary: Sendable {
  /// One period or purchase.
  struct Purchase: Hashable, Sendable {
    let productID: String
    let purchaseDate: Instant
    let expiresDate: Instant?
    let revocationDate: Instant?
    /// `nil` in version 1, where nothing is signed.
    let signedDate: Instant?
  }

  /// What is told of the next renewal.
  struct Renewal: Hashable, Sendable {
    let autoRenewProductID: String?
    let willRenew: Bool?
    let isInBillingRetry: Bool
    let gracePeriodExpiresDate: Instant?
    let signedDate: Instant?
  }

  /// How many notifications told of the line.
  package private(set) var notifications = 0
  /// By Apple's numbers of the transactions.
  private(set) var purchases: [String: Purchase] = [:]
  private(set) var renewal: Renewal?
  /// What happened, in version 1's words.
  private(set) var words: [String] = []
  /// What happened and version 1 has no word for.
  private(set) var newWords: [String] = []

  /// Nothing was told yet.
  package init() {}

  /// Takes in a body of version 1. Bodies come in the order of their arrival, since nothing dates what they say.
  package mutating func take(_ body: ResponseBodyV1, about line: String) {
    notifications += 1
    if let type = body.notificationType { words.append(V1Vocabulary.current(type)) }
    for transaction in body.unifiedReceipt?.latestReceiptInfo ?? []
    where transaction.originalTransactionId == line {
      if let id = transaction.transactionId, let purchase = Purchase(transaction) { purchases[id] = purchase }
    }
    let pending = body.unifiedReceipt?.pendingRenewalInfo ?? []
    if let told = pending.first(where: { $0.originalTransactionId == line }) { renewal = Renewal(told) }
  }

  /// Takes in a notification of version 2, which was verified when it came. What was signed last counts,
  /// whenever it comes.
  package mutating func take(
    _ payload: ResponseBodyV2DecodedPayload, _ transaction: JWSTransactionDecodedPayload?,
    _ renewal: JWSRenewalInfoDecodedPayload?
  ) {
    notifications += 1
    let told = V1Vocabulary.of(payload, transaction?.type)
    if told.isEmpty { newWords.append(V1Vocabulary.name(payload)) } else { words += told }
    if let id = transaction?.transactionId, let purchase = transaction.flatMap(Purchase.init),
      purchases[id].map({ $0.isOlder(than: purchase.signedDate) }) ?? true
    {
      purchases[id] = purchase
    }
    if let renewal, self.renewal.map({ $0.isOlder(than: renewal.signedDate) }) ?? true {
      self.renewal = Renewal(renewal)
    }
  }

  /// The transaction that was bought last.
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
      revocationDate: transaction.cancellationDate, signedDate: nil)
  }

  fileprivate init?(_ transaction: JWSTransactionDecodedPayload) {
    guard let productID = transaction.productId, let purchaseDate = transaction.purchaseDate else {
      return nil
    }
    self.init(
      productID: productID, purchaseDate: purchaseDate, expiresDate: transaction.expiresDate,
      revocationDate: transaction.revocationDate, signedDate: transaction.signedDate)
  }

  fileprivate func isOlder(than moment: Instant?) -> Bool { isNotSigned(signedDate, after: moment) }
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

  fileprivate func isOlder(than moment: Instant?) -> Bool { isNotSigned(signedDate, after: moment) }
}

/// Whether what was signed at `known` does not supersede what was signed at `moment`.
private func isNotSigned(_ known: Instant?, after moment: Instant?) -> Bool {
  guard let known, let moment else { return known == nil }
  return known <= moment
}
