package import AppStore
package import SignedData

/// The content of an app receipt. Each property names its attribute type.
///
/// Source: `ReceiptFields` in Apple's receipt validation guide. The pre-order date is in `verifyReceipt`
/// responses only.
package struct AppReceiptPayload: Hashable, Sendable {
  /// All attributes in order, including those without a property.
  package let attributes: [ReceiptAttribute]

  /// 0. Some receipts do not have it.
  package let receiptType: ReceiptType?
  /// 1: the App Store id; 0 in the sandbox. Undocumented.
  package let appItemID: Int64?
  /// 2.
  package let bundleID: String?
  /// 3.
  package let applicationVersion: String?
  /// 4: the salt of ``deviceHash``.
  package let opaqueValue: [UInt8]?
  /// 5: see ``isFor(device:)``.
  package let deviceHash: [UInt8]?
  /// 12: the creation time, at which the signature's certificates must be valid.
  package let creationDate: Instant?
  /// 15. Undocumented.
  package let downloadID: Int64?
  /// 16. Undocumented.
  package let versionExternalIdentifier: Int64?
  /// 17: one for each purchase, in order.
  package let purchases: [InAppPurchase]
  /// 18: the purchase date of the app.
  package let originalPurchaseDate: Instant?
  /// 19: the first version bought, which shows whether the customer paid for an app that is free now.
  package let originalApplicationVersion: String?
  /// 21: the expiry of receipts of the Volume Purchase Program.
  package let expirationDate: Instant?

  /// The encoded value of attribute 2, which ``deviceHash`` covers.
  let bundleIDValue: [UInt8]?

  /// The maximum number of purchases.
  package static let maximumPurchases = 20_000

  /// Decodes the signed content of a receipt: DER or BER, optionally wrapped in OCTET STRINGs.
  ///
  /// - Throws: ``AppReceiptError`` for content that is not the attributes of an app receipt, or lacks one that Apple
  ///   always writes.
  package init(parsing content: [UInt8]) throws(AppReceiptError) {
    let set = try AttributeSet(parsing: content)
    attributes = set.attributes
    receiptType = try set.text(0).map { ReceiptType(rawValue: $0) }
    appItemID = try set.integer(1)
    bundleID = try set.text(2)
    bundleIDValue = set.bytes(2)
    applicationVersion = try set.text(3)
    opaqueValue = set.bytes(4)
    deviceHash = set.bytes(5)
    creationDate = try set.date(12)
    downloadID = try set.integer(15)
    versionExternalIdentifier = try set.integer(16)
    purchases = try Self.purchases(in: set)
    originalPurchaseDate = try set.date(18)
    originalApplicationVersion = try set.text(19)
    expirationDate = try set.date(21)
  }

  private static func purchases(in set: AttributeSet) throws(AppReceiptError) -> [InAppPurchase] {
    let values = set.values(17)
    guard values.count <= maximumPurchases else { throw .tooMany("purchases", limit: maximumPurchases) }
    var purchases: [InAppPurchase] = []
    purchases.reserveCapacity(values.count)
    for value in values { purchases.append(try InAppPurchase(parsing: value)) }
    return purchases
  }

  /// The attributes without a property, or with a value that it cannot have.
  package var unknownAttributes: [ReceiptAttribute] {
    let known: Set<Int64> = [0, 1, 2, 3, 4, 5, 12, 15, 16, 17, 18, 19, 21]
    return attributes.filter { !known.contains($0.type) || $0.hasUnknownForm }
  }
}

extension AppReceiptPayload: SignedReceipt {
  /// Decodes the content of a verified receipt.
  ///
  /// - Throws: ``VerificationError``, to which the ``AppReceiptError`` is converted.
  package init(signedContent: [UInt8]) throws(VerificationError) {
    do { try self.init(parsing: signedContent) } catch { throw VerificationError(error) }
  }

  /// A receipt without a type belongs to the sandbox: Production must be stated.
  package var origin: SignedPayloadOrigin {
    guard let receiptType else { return .known(.sandbox) }
    return receiptType.environment.map { .known($0) } ?? .unknown(receiptType.rawValue)
  }
}

extension AppReceiptPayload {
  /// Whether the receipt was issued for a device: `identifier` is the 16 bytes of `identifierForVendor`, or
  /// on a Mac the six of its MAC address.
  ///
  /// False if the receipt has no device hash, which is SHA-1 over the identifier, the opaque value, and
  /// attribute 2's value with its ASN.1 header.
  package func isFor(device identifier: [UInt8]) throws(CryptographyError) -> Bool {
    guard let opaqueValue, let deviceHash, let bundleIDValue else { return false }
    return try SHA1.hash(identifier + opaqueValue + bundleIDValue) == deviceHash
  }
}

/// The receipt type: the source of the app (attribute 0, `receipt_type` in `verifyReceipt`).
package enum ReceiptType: OpenCode {
  /// `Production`: a receipt of the App Store.
  case production
  /// Bought through the Volume Purchase Program.
  case productionVPP
  case productionSandbox
  case productionVPPSandbox
  /// Issued by StoreKit testing in Xcode, not by Apple.
  case xcode
  /// Another value, as it is in the receipt.
  case unrecognized(String)

  package static let known: [ReceiptType] = [
    .production, .productionVPP, .productionSandbox, .productionVPPSandbox, .xcode,
  ]

  package var rawValue: String {
    switch self {
    case .production: "Production"
    case .productionVPP: "ProductionVPP"
    case .productionSandbox: "ProductionSandbox"
    case .productionVPPSandbox: "ProductionVPPSandbox"
    case .xcode: "Xcode"
    case .unrecognized(let rawValue): rawValue
    }
  }

  /// The environment; `nil` for an unknown type.
  package var environment: Environment? {
    switch self {
    case .production, .productionVPP: .production
    case .productionSandbox, .productionVPPSandbox: .sandbox
    case .xcode: .xcode
    case .unrecognized: nil
    }
  }
}
