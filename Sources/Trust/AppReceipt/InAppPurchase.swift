package import AppStore

/// A purchase in an app receipt. Each property names its attribute type.
package struct InAppPurchase: Hashable, Sendable {
  /// All attributes in order, including those without a property.
  package let attributes: [ReceiptAttribute]

  /// 1701.
  package let quantity: Int64?
  /// 1702.
  package let productID: String?
  /// 1703.
  package let transactionID: String?
  /// 1705: the first transaction of a subscription or restored purchase.
  package let originalTransactionID: String?
  /// 1704.
  package let purchaseDate: Instant?
  /// 1706.
  package let originalPurchaseDate: Instant?
  /// 1707. Undocumented; the codes are those seen in receipts.
  package let productType: ProductType?
  /// 1708: the expiry of a subscription.
  package let expirationDate: Instant?
  /// 1711: one for each renewal of a subscription; otherwise 0.
  package let webOrderLineItemID: Int64?
  /// 1712: the revocation date.
  package let cancellationDate: Instant?
  /// 1713.
  package let isInTrialPeriod: Bool?
  /// 1719.
  package let isInIntroductoryOfferPeriod: Bool?
  /// 1721. Undocumented.
  package let promotionalOfferID: String?

  /// Decodes the value of an attribute 17.
  /// An absent attribute is `nil`.
  ///
  /// - Throws: ``AppReceiptError/wrongValue(attribute:expected:)`` for an attribute of another type than Apple
  ///   documents.
  package init(parsing bytes: [UInt8]) throws(AppReceiptError) {
    let set = try AttributeSet(parsing: bytes)
    attributes = set.attributes
    quantity = try set.integer(1701)
    productID = try set.text(1702)
    transactionID = try set.text(1703)
    originalTransactionID = try set.text(1705)
    purchaseDate = try set.date(1704)
    originalPurchaseDate = try set.date(1706)
    productType = try set.integer(1707).map(Self.productType)
    expirationDate = try set.date(1708)
    webOrderLineItemID = try set.integer(1711)
    cancellationDate = try set.date(1712)
    isInTrialPeriod = try set.flag(1713)
    isInIntroductoryOfferPeriod = try set.flag(1719)
    promotionalOfferID = try set.text(1721)
  }

  /// The attributes without a property, or with a value that it cannot have.
  package var unknownAttributes: [ReceiptAttribute] {
    let known: Set<Int64> = Set(1701...1708).union([1711, 1712, 1713, 1719, 1721])
    return attributes.filter { !known.contains($0.type) || $0.hasUnknownForm }
  }

  /// The type of a product by Apple's number in receipts.
  private static func productType(_ code: Int64) -> ProductType {
    switch code {
    case 0: .nonConsumable
    case 1: .consumable
    case 2: .nonRenewingSubscription
    case 3: .autoRenewableSubscription
    default: .unrecognized(String(code))
    }
  }
}
