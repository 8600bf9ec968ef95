package import AppStore
package import SignedData

/// A certificate chain shaped like Apple's, or with one defect, and the signers of documents under it.
package struct TestChain: Sendable {
  package let root: Certificate
  package let intermediate: Certificate
  package let leaf: Certificate
  package let leafKey: SigningKey

  package static let start = Instant(rfc3339: "2025-01-01T00:00:00Z")!
  package static let end = Instant(rfc3339: "2027-01-01T00:00:00Z")!
  package static let middle = Instant(rfc3339: "2026-01-01T00:00:00Z")!

  /// A chain whose leaf is valid from `start` until `end`; the certificates above it are valid a little
  /// longer.
  package init(
    name: String = "Test", markedIntermediate: Bool = true, markedLeaf: Bool = true,
    leafKey: SigningKey? = nil,
    from start: Instant = start, until end: Instant = end
  ) throws {
    self.leafKey = try leafKey ?? .generate(.p256)
    let authority = try CertificateIssuer.root(
      DistinguishedName([("CN", "\(name) Root"), ("O", "Tests")]), key: .generate(.p384),
      from: start.advanced(byMilliseconds: -1_000_000), until: end)
    let between = try authority.intermediate(
      DistinguishedName([("CN", "\(name) Intermediate")]), key: .generate(.p384),
      from: start.advanced(byMilliseconds: -1000), until: end, marked: markedIntermediate)
    root = authority.certificate
    intermediate = between.certificate
    leaf = try between.leaf(
      DistinguishedName([("CN", "\(name) Leaf")]), key: self.leafKey, from: start, until: end,
      marked: markedLeaf)
  }

  package var signer: JWSSigner { JWSSigner(key: leafKey, chain: [leaf, intermediate, root]) }

  package var receiptSigner: ReceiptSigner { ReceiptSigner(key: leafKey, chain: [leaf, intermediate, root]) }

  /// Returns a verifier that trusts Apple's roots and this one.
  package func verifier(for environment: Environment = .sandbox) throws -> SignedDataVerifier {
    try SignedDataVerifier(anchors: try TrustAnchors.apple().adding(root, for: environment))
  }
}
