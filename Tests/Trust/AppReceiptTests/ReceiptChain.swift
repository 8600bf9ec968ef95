import AppReceipt
import AppStore
import SignedData

/// A chain shaped like that of Apple's receipts, or with one thing wrong, and receipts signed with it.
struct ReceiptChain {
  let root: Certificate
  let intermediate: Certificate
  let leaf: Certificate
  let key: SigningKey

  static let start = Instant(rfc3339: "2020-01-01T00:00:00Z")!
  static let end = Instant(rfc3339: "2022-01-01T00:00:00Z")!
  static let middle = Instant(rfc3339: "2021-01-01T00:00:00Z")!

  init(
    name: String = "Test", markedIntermediate: Bool = true, markedLeaf: Bool = true,
    key: SigningKey? = nil
  ) throws {
    self.key = try key ?? .generate(.p256)
    let intermediateKey = try SigningKey.generate(.p384)
    let authority = try CertificateIssuer.root(
      DistinguishedName([("CN", "\(name) Root")]), key: .generate(.p384),
      from: Self.start.advanced(byMilliseconds: -1_000_000), until: Self.end)
    let between = try authority.intermediate(
      DistinguishedName([("CN", "\(name) Intermediate")]), key: intermediateKey,
      from: Self.start.advanced(byMilliseconds: -1000), until: Self.end, marked: markedIntermediate)
    root = authority.certificate
    intermediate = between.certificate
    leaf = try between.leaf(
      DistinguishedName([("CN", "\(name) Receipt Signing")]), key: self.key, from: Self.start,
      until: Self.end, marked: markedLeaf)
  }

  var signer: ReceiptSigner { ReceiptSigner(key: key, chain: [leaf, intermediate, root]) }

  func verifier(for environment: Environment = .sandbox) throws -> SignedDataVerifier {
    try SignedDataVerifier(anchors: try TrustAnchors.apple().adding(root, for: environment))
  }

  /// A receipt's content with one purchase; `nil` leaves an attribute out.
  static func content(
    type: String? = "ProductionSandbox", bundle: String? = "com.example", created: Instant? = middle
  ) -> ReceiptBuilder {
    var receipt = ReceiptBuilder()
    if let type { receipt.add(0, type) }
    if let bundle { receipt.add(2, bundle) }
    if let created { receipt.add(12, created) }
    receipt.add(3, "7")
    var purchase = ReceiptBuilder()
    purchase.add(1702, "com.example.yearly")
    purchase.add(1703, "20000001")
    receipt.add(purchase: purchase)
    return receipt
  }
}

let exampleApp = AppIdentity(bundleID: "com.example", appAppleID: nil)

extension SignedDataVerifier {
  /// The code for why a receipt is refused, or `nil` if it is not.
  func refusal(
    of receipt: [UInt8], app: AppIdentity = exampleApp, environments: Set<Environment> = [.sandbox]
  ) -> String? {
    do throws(VerificationError) {
      let _: Verified<AppReceiptPayload> = try verifyReceipt(receipt, for: app, environments: environments)
      return nil
    } catch { return error.reason }
  }
}
