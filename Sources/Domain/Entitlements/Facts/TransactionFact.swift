package import AppStore

/// What one signed transaction says, as far as the rules ask: one purchase, or one period of a
/// subscription.
///
/// Fields that Apple always sends are not optional here. Which environment it is from is part of the
/// key under which the fact is kept, not of the fact.
package struct TransactionFact: Hashable, Sendable {
  /// Apple's number of this purchase or renewal.
  package var transactionID: String
  /// Apple's number of the purchase line: every renewal and refund of it carries the same.
  package var originalTransactionID: String
  /// Apple's product id, such as `pro.monthly`.
  package var productID: String
  /// What Apple sold it as; counts more than what the catalog says.
  package var type: ProductType
  /// When this purchase was charged, or this period began.
  package var purchaseDate: Instant
  /// When the line began; a restored or repeated download keeps it.
  package var originalPurchaseDate: Instant?
  /// The end of the paid period; auto-renewable subscriptions only, and always there for these.
  package var expiresDate: Instant?
  /// When Apple took the purchase back.
  package var revocationDate: Instant?
  /// Why Apple took it back.
  package var revocationReason: RevocationReason?
  /// Whether it was refunded, or is no longer shared.
  package var revocationType: RevocationType?
  /// A higher level of the group took over.
  package var isUpgraded: Bool
  /// How the customer came to it.
  package var ownership: InAppOwnershipType
  /// The kind of offer it was bought with; `nil` for the standard price.
  package var offerType: OfferType?
  /// How that offer is paid for.
  package var offerDiscountType: OfferDiscountType?
  /// Apple's number of the subscription group.
  package var subscriptionGroupID: String?
  /// How many were bought; at least 1.
  package var quantity: Int64
  /// How many of these, sold as seats, were taken back; `nil` if none were.
  package var revokedSeatQuantity: Int64?
  /// When Apple signed the document. Of two about one transaction the newer one counts.
  package var signedDate: Instant
  /// What it says of money, offers and whose it is.
  @CopyOnWriteBox package var details: TransactionDetails

  /// A fact by its parts, with the values that most purchases have.
  package init(
    transactionID: String, originalTransactionID: String, productID: String, type: ProductType,
    purchaseDate: Instant, originalPurchaseDate: Instant? = nil, expiresDate: Instant? = nil,
    revocationDate: Instant? = nil, revocationReason: RevocationReason? = nil,
    revocationType: RevocationType? = nil, isUpgraded: Bool = false,
    ownership: InAppOwnershipType = .purchased, offerType: OfferType? = nil,
    offerDiscountType: OfferDiscountType? = nil, subscriptionGroupID: String? = nil,
    quantity: Int64 = 1, revokedSeatQuantity: Int64? = nil, signedDate: Instant,
    details: TransactionDetails = TransactionDetails()
  ) {
    self.transactionID = transactionID
    self.originalTransactionID = originalTransactionID
    self.productID = productID
    self.type = type
    self.purchaseDate = purchaseDate
    self.originalPurchaseDate = originalPurchaseDate
    self.expiresDate = expiresDate
    self.revocationDate = revocationDate
    self.revocationReason = revocationReason
    self.revocationType = revocationType
    self.isUpgraded = isUpgraded
    self.ownership = ownership
    self.offerType = offerType
    self.offerDiscountType = offerDiscountType
    self.subscriptionGroupID = subscriptionGroupID
    self.quantity = max(1, quantity)
    self.revokedSeatQuantity = revokedSeatQuantity
    self.signedDate = signedDate
    self.details = details
  }

  /// When access ended because the purchase was taken back; `nil` where only some of its seats were, which
  /// leaves the purchaser theirs.
  package var accessRevokedAt: Instant? {
    if let revokedSeatQuantity, (1..<max(1, quantity)).contains(revokedSeatQuantity) { return nil }
    return revocationDate
  }

  /// Whether somebody else pays for it.
  package var isShared: Bool { ownership.isShared }

  /// The dates contradict each other. Such a fact is kept, since Apple signed it; its period is empty.
  package var isContradictory: Bool {
    guard let expiresDate else { return false }
    return expiresDate < purchaseDate
  }
}

extension TransactionFact {
  /// Whether this document replaces `other`, which is about the same transaction.
  ///
  /// A signed transaction replaces what a receipt said of it, and never the other way round. Otherwise the
  /// newer signature wins. Of two different documents signed in the same millisecond the contents
  /// decide, so that the order of arrival never does.
  package func supersedes(_ other: TransactionFact) -> Bool {
    guard details.isFromReceipt == other.details.isFromReceipt else { return other.details.isFromReceipt }
    guard signedDate == other.signedDate else { return signedDate > other.signedDate }
    guard times == other.times else { return times > other.times }
    guard codes == other.codes else { return codes > other.codes }
    guard revokedSeatQuantity == other.revokedSeatQuantity else {
      return revokedSeatQuantity ?? 0 > other.revokedSeatQuantity ?? 0
    }
    return other.details.orderingKey.lexicographicallyPrecedes(details.orderingKey)
  }

  private var times: (Int64, Int64, Int64, Int64, Int64, Int64) {
    (
      order(revocationDate), isUpgraded ? 1 : 0, order(expiresDate), order(purchaseDate),
      order(originalPurchaseDate), quantity
    )
  }

  private var codes: (String, String, String, String, String, String) {
    let reasons = [revocationReason?.rawValue, offerType?.rawValue].map { $0.map(String.init) ?? "" }
    return (
      productID, type.rawValue, ownership.rawValue, reasons.joined(separator: " "),
      "\(revocationType?.rawValue ?? "") \(offerDiscountType?.rawValue ?? "")", subscriptionGroupID ?? ""
    )
  }
}

/// Where an optional moment sorts: none comes before all.
func order(_ instant: Instant?) -> Int64 { instant?.millisecondsSince1970 ?? .min }

extension InAppOwnershipType {
  /// Whether who has it is not who pays for it.
  var isShared: Bool {
    switch self {
    case .familyShared, .assigned: true
    case .purchased, .unrecognized: false
    }
  }
}
