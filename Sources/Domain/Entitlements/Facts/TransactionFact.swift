package import AppStore

/// The contents of one signed transaction that the rules read: one purchase, or one period of a subscription
/// (Apple's JWSTransactionDecodedPayload).
///
/// Fields that Apple always sends are not optional. The environment is part of the key of the fact, not of
/// the fact.
package struct TransactionFact: Hashable, Sendable {
  /// Apple's `transactionId`, of this purchase or renewal.
  package var transactionID: String
  /// Apple's `originalTransactionId`, equal for every renewal and refund of the purchase.
  package var originalTransactionID: String
  /// The App Store product id, such as `pro.monthly`.
  package var productID: String
  /// The product type at Apple; it takes precedence over the catalog.
  package var type: ProductType
  /// When the purchase was charged or the period started.
  package var purchaseDate: Instant
  /// When the line started; restores and repeated downloads keep it.
  package var originalPurchaseDate: Instant?
  /// The end of the paid period; set exactly for auto-renewable subscriptions.
  package var expiresDate: Instant?
  /// When Apple refunded or revoked it; `nil` also if only some of its seats were refunded: "The transaction's
  /// revocationDate and revocationReason appear only when the App Store revokes every seat on the transaction" (StoreKit,
  /// Transaction.MultiSeatInfo.revokedSeatQuantity).
  package var revocationDate: Instant?
  /// Apple's reason to refund or revoke it.
  package var revocationReason: RevocationReason?
  /// Whether it was refunded or sharing ended.
  package var revocationType: RevocationType?
  /// Whether an upgrade to a higher level of the group replaced it.
  package var isUpgraded: Bool
  /// Whether it is an own purchase, shared by a family member or an assigned seat.
  package var ownership: InAppOwnershipType
  /// The kind of offer; `nil` for the standard price.
  package var offerType: OfferType?
  /// The payment mode of the offer.
  package var offerDiscountType: OfferDiscountType?
  /// Apple's `subscriptionGroupIdentifier`.
  package var subscriptionGroupID: String?
  /// The purchased quantity; at least 1.
  package var quantity: Int64
  /// The number of seats that were revoked; `nil` if none were.
  package var revokedSeatQuantity: Int64?
  /// When Apple signed the document. Among documents about one transaction the latest wins.
  package var signedDate: Instant
  /// When the service first had it, if that was before ``purchaseDate`` by the service's clock.
  package var arrivedEarlyAt: Instant?
  /// Price, offer, account and seats.
  @CopyOnWriteBox package var details: TransactionDetails

  /// Creates a fact; the defaults are those of a plain purchase.
  package init(
    transactionID: String, originalTransactionID: String, productID: String, type: ProductType,
    purchaseDate: Instant, originalPurchaseDate: Instant? = nil, expiresDate: Instant? = nil,
    revocationDate: Instant? = nil, revocationReason: RevocationReason? = nil,
    revocationType: RevocationType? = nil, isUpgraded: Bool = false,
    ownership: InAppOwnershipType = .purchased, offerType: OfferType? = nil,
    offerDiscountType: OfferDiscountType? = nil, subscriptionGroupID: String? = nil,
    quantity: Int64 = 1, revokedSeatQuantity: Int64? = nil, signedDate: Instant,
    arrivedEarlyAt: Instant? = nil, details: TransactionDetails = TransactionDetails()
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
    self.arrivedEarlyAt = arrivedEarlyAt
    self.details = details
  }

  /// Reads a part of ``details`` without a copy of all of them.
  package func inDetails<Part>(_ part: (borrowing TransactionDetails) -> Part) -> Part {
    _details.read(part)
  }

  /// The price of the whole transaction in milliunits of the currency; `nil` if Apple sent none.
  ///
  /// A subscription with a quantity has seats, and `price` is that of one (Apple, TransactionMultiSeatInfo); the price of
  /// other products includes their quantity.
  package var totalPrice: Int64? {
    let (ofSeats, price) = inDetails { ($0.seatsPrice, $0.price) }
    if let ofSeats { return ofSeats }
    guard let price, quantity > 1, type == .autoRenewableSubscription else { return price }
    let (total, overflow) = price.multipliedReportingOverflow(by: quantity)
    return overflow ? price : total
  }

  /// When Apple revoked it or, without a date, first reported the seats that are refunded; `nil` if nothing was.
  package var refundedAt: Instant? { revocationDate ?? refundsOfSeats.last?.reportedAt }

  /// The refunds of seats that are in force, in ascending order of the seats that were refunded in all.
  package var refundsOfSeats: [TransactionDetails.SeatRefund] {
    guard let revokedSeatQuantity, revokedSeatQuantity > 0 else { return [] }
    let reported = details.seatRefunds.filter { $0.quantity <= revokedSeatQuantity }
    guard reported.last?.quantity != revokedSeatQuantity else { return reported }
    return reported + [.init(quantity: revokedSeatQuantity, reportedAt: signedDate)]
  }

  /// The refunds that Apple reversed, each with the time of the reversal.
  package var reversedRefunds: [(refund: TransactionDetails.Refund, reversedAt: Instant)] {
    guard inDetails({ !$0.reversals.isEmpty }) else { return [] }
    return details.refunds.compactMap { refund in
      guard refund.date != revocationDate,
        let reversedAt = details.reversals.first(where: { $0 > refund.date })
      else { return nil }
      return (refund, reversedAt)
    }
  }

  /// Whether it is a period of a subscription that renews. Of the types that this version does not know, those
  /// with an end are.
  package var isSubscription: Bool {
    switch type {
    case .autoRenewableSubscription: true
    case .unrecognized: expiresDate != nil
    case .nonConsumable, .consumable, .nonRenewingSubscription: false
    }
  }

  /// Whether another customer pays for it.
  package var isShared: Bool { ownership.isShared }

  /// Whether the expiry precedes the purchase. Such a fact is stored, since Apple signed it; its period is
  /// empty.
  package var isContradictory: Bool {
    guard let expiresDate else { return false }
    return expiresDate < purchaseDate
  }

  /// As ``TransactionDetails/earlierSeatTimes``; reads the details of seats only.
  var earlierSeatTimes: [Range<Instant>] {
    if case .assigned = ownership { inDetails { $0.earlierSeatTimes } } else { [] }
  }

  /// Whether Apple revoked it before its period started.
  var isRevokedBeforeStart: Bool { revocationDate.map { $0 < purchaseDate } ?? false }

  /// The purchase date, or the expiry if that precedes it.
  var coverageStart: Instant { expiresDate.map { min($0, purchaseDate) } ?? purchaseDate }
}

extension TransactionFact {
  /// The fact as the service has it since `instant`.
  package func arrived(at instant: Instant) -> TransactionFact {
    guard instant < purchaseDate else { return self }
    var fact = self
    fact.arrivedEarlyAt = instant
    return fact
  }

  /// The fact as its document states it: without its arrival, and without what other documents reported.
  package var asStated: TransactionFact {
    guard
      arrivedEarlyAt != nil || !details.seatRefunds.isEmpty || details.wasWithoutAdditions
        || !details.refunds.isEmpty || !details.reversals.isEmpty || details.firstExpiresDate != nil
        || details.upgradeReportedAt != nil || details.receiptStatement != nil
    else { return self }
    var fact = self
    fact.arrivedEarlyAt = nil
    if details.receiptStatement != nil { fact.removeReceiptStatement() }
    if !details.seatRefunds.isEmpty { fact.details.seatRefunds = [] }
    if details.wasWithoutAdditions { fact.details.wasWithoutAdditions = false }
    if !details.refunds.isEmpty { fact.details.refunds = [] }
    if !details.reversals.isEmpty { fact.details.reversals = [] }
    if details.firstExpiresDate != nil { fact.details.firstExpiresDate = nil }
    if details.upgradeReportedAt != nil { fact.details.upgradeReportedAt = nil }
    return fact
  }

  /// The fact of this document and `other` about the same transaction: the content of the one that supersedes,
  /// with the first arrival and the refunds of seats that either reported.
  package func merged(with other: TransactionFact) -> TransactionFact {
    var fact = supersedes(other) ? self : other
    let arrivals = [arrivedEarlyAt, other.arrivedEarlyAt].compactMap(\.self).filter { $0 < fact.purchaseDate }
    fact.arrivedEarlyAt = arrivals.min()
    if !details.seatRefunds.isEmpty || !other.details.seatRefunds.isEmpty {
      fact.details.seatRefunds = TransactionDetails.SeatRefund.merged(
        details.seatRefunds, other.details.seatRefunds)
    }
    fact.recordRefunds(of: self, other)
    fact.recordBeginning(of: self, other)
    fact.recordFirstEnd(of: self, other)
    fact.recordUpgrade(of: self, other)
    fact.recordReceipt(of: self, other)
    return fact
  }

  /// Whether it began its period, instead of adding seats to it: a document about it has no reason of added seats, which
  /// all transactions of a period have from the first added seats on (Apple: additionalTransactionReason). Receipts
  /// never have the reason.
  var beganPeriod: Bool {
    details.additionalTransactionReason == nil ? !details.isFromReceipt : details.wasWithoutAdditions
  }

  /// Records the refunds and reversals that either of two documents about this purchase shows.
  mutating func recordRefunds(of first: TransactionFact, _ second: TransactionFact) {
    guard first.details.hasRefunds || second.details.hasRefunds else { return }
    details.mergeRefunds(of: first.details, second.details)
  }

  /// Records whether either of two documents about this purchase shows that it began its period.
  mutating func recordBeginning(of first: TransactionFact, _ second: TransactionFact) {
    guard details.additionalTransactionReason != nil, !details.wasWithoutAdditions,
      first.beganPeriod || second.beganPeriod
    else { return }
    details.wasWithoutAdditions = true
  }

  /// Records the first end of the period that either of two documents about this purchase shows. Receipts are as of their
  /// creation, with whole seconds.
  mutating func recordFirstEnd(of first: TransactionFact, _ second: TransactionFact) {
    let ends = [first.signedFirstEnd, second.signedFirstEnd].compactMap(\.self)
    let firstEnd = ends.min().flatMap { end in expiresDate.map { end < $0 } == true ? end : nil }
    guard firstEnd != details.firstExpiresDate else { return }
    details.firstExpiresDate = firstEnd
  }

  /// The end of the period before any extension.
  package var firstEnd: Instant? { inDetails { $0.firstExpiresDate ?? expiresDate } }

  /// The first end of the period that signed documents show.
  private var signedFirstEnd: Instant? { inDetails { $0.isFromReceipt } ? nil : firstEnd }

  /// Records the first report of an upgrade in either of two documents about this purchase.
  mutating func recordUpgrade(of first: TransactionFact, _ second: TransactionFact) {
    let reports = [first.firstUpgradeReport, second.firstUpgradeReport].compactMap(\.self)
    let earlier = reports.min().flatMap { isUpgraded && $0 == signedDate ? nil : $0 }
    guard earlier != details.upgradeReportedAt else { return }
    details.upgradeReportedAt = earlier
  }

  /// By when it was upgraded: the signature of the first known document that says so. `nil` if the present one does not.
  package var upgradedBy: Instant? { isUpgraded ? firstUpgradeReport : nil }

  /// The signature of the first document that says it was upgraded, also if a later one does not.
  private var firstUpgradeReport: Instant? {
    inDetails { $0.upgradeReportedAt } ?? (isUpgraded ? signedDate : nil)
  }

  /// Whether this document replaces `other` about the same transaction.
  ///
  /// A signed transaction always replaces a receipt entry, besides a later cancellation (``TransactionDetails/ReceiptStatement``).
  /// Otherwise the later signature wins. If two different documents were signed in the same millisecond, their contents decide, so the order of arrival
  /// never does.
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
      order(statedRevocation.date), isUpgraded ? 1 : 0, order(expiresDate), order(purchaseDate),
      order(originalPurchaseDate), quantity
    )
  }

  private var codes: (String, String, String, String, String, String) {
    let reasons = [statedRevocation.reason?.rawValue, offerType?.rawValue].map { $0.map(String.init) ?? "" }
    return (
      productID, type.rawValue, ownership.rawValue, reasons.joined(separator: " "),
      "\(revocationType?.rawValue ?? "") \(offerDiscountType?.rawValue ?? "")", subscriptionGroupID ?? ""
    )
  }
}

/// A sort key: no date precedes every date.
func order(_ instant: Instant?) -> Int64 { instant?.millisecondsSince1970 ?? .min }

extension InAppOwnershipType {
  /// Whether the customer who has it is not the one who pays.
  var isShared: Bool {
    switch self {
    case .familyShared, .assigned: true
    case .purchased, .unrecognized: false
    }
  }
}
