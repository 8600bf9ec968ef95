package import AppStore
package import SignedData

/// What an app receipt says. In each line, the number of its attribute.
///
/// Apple documents the attributes at `ReceiptFields` in its receipt validation guide. The date of a
/// pre-order is not among them: it is told by `verifyReceipt` only.
package struct AppReceiptPayload: Hashable, Sendable {
  /// Everything as it came, those without a property here included.
  package let attributes: [ReceiptAttribute]

  /// 0. Some receipts do not have it.
  package let receiptType: ReceiptType?
  /// 1: the app's number in the App Store; 0 in the sandbox. Apple does not document it.
  package let appItemID: Int64?
  /// 2.
  package let bundleID: String?
  /// 3.
  package let applicationVersion: String?
  /// 4: what makes ``deviceHash`` different each time.
  package let opaqueValue: [UInt8]?
  /// 5: see ``isFor(device:)``.
  package let deviceHash: [UInt8]?
  /// 12: when Apple made the receipt, and the moment at which its signature is judged.
  package let creationDate: Instant?
  /// 15. Apple does not document it.
  package let downloadID: Int64?
  /// 16. Apple does not document it.
  package let versionExternalIdentifier: Int64?
  /// 17, once for each purchase, in the order in which they came.
  package let purchases: [InAppPurchase]
  /// 18: when the app itself was bought.
  package let originalPurchaseDate: Instant?
  /// 19: the version that was bought first; decides who paid for an app that is free now.
  package let originalApplicationVersion: String?
  /// 21: when the receipt ends, for apps bought through the Volume Purchase Program.
  package let expirationDate: Instant?

  /// The value of attribute 2 as it stands there, which is what ``deviceHash`` is over.
  let bundleIDValue: [UInt8]?

  /// Most purchases that a receipt may have.
  package static let maximumPurchases = 20_000

  /// Reads the content of a receipt's signed message: DER or BER, in OCTET STRINGs or not.
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

  /// The attributes that have no property here.
  package var unknownAttributes: [ReceiptAttribute] {
    let known: Set<Int64> = [0, 1, 2, 3, 4, 5, 12, 15, 16, 17, 18, 19, 21]
    return attributes.filter { !known.contains($0.type) }
  }
}

extension AppReceiptPayload: SignedReceipt {
  package init(signedContent: [UInt8]) throws(VerificationError) {
    do { try self.init(parsing: signedContent) } catch { throw VerificationError(error) }
  }

  /// A receipt that does not say where it belongs counts for the sandbox: Production must be claimed.
  package var origin: SignedPayloadOrigin {
    guard let receiptType else { return .known(.sandbox) }
    return receiptType.environment.map { .known($0) } ?? .unknown(receiptType.rawValue)
  }
}

extension AppReceiptPayload {
  /// Whether the receipt was made for a device, by the bytes of the identifier that the device goes by:
  /// the 16 of `identifierForVendor`, or on a Mac the six of its network address.
  ///
  /// False too if the receipt does not say. The hash is SHA-1 over the identifier, the opaque value, and
  /// attribute 2's value with its ASN.1 header.
  package func isFor(device identifier: [UInt8]) throws(CryptographyError) -> Bool {
    guard let opaqueValue, let deviceHash, let bundleIDValue else { return false }
    return try SHA1.hash(identifier + opaqueValue + bundleIDValue) == deviceHash
  }
}

/// What kind of receipt it is: where the app came from (attribute 0, `receipt_type` in `verifyReceipt`).
package enum ReceiptType: OpenCode {
  case production
  /// Bought through the Volume Purchase Program.
  case productionVPP
  case productionSandbox
  case productionVPPSandbox
  /// Made by StoreKit testing in Xcode, not by Apple.
  case xcode
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

  /// The environment that it belongs to; `nil` if this version does not know the kind.
  package var environment: Environment? {
    switch self {
    case .production, .productionVPP: .production
    case .productionSandbox, .productionVPPSandbox: .sandbox
    case .xcode: .xcode
    case .unrecognized: nil
    }
  }
}
