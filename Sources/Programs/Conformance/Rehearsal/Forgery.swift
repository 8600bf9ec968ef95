internal import Bytes
internal import JSON
internal import SignedData

/// The ways in which a rehearsal forges a document, so that nothing else about it is wrong.
enum Forgery: String, CaseIterable {
  /// The last characters of the signature are others.
  case signature = "with a changed signature"
  /// The payload has another member, under the old signature.
  case payload = "with a changed payload"
  /// A valid signature of a chain with Apple's names and markers.
  case foreignChain = "of a foreign chain"
  /// A foreign leaf above the genuine intermediate and root.
  case foreignLeaf = "of a foreign leaf"

  /// Returns the forged document; `nil` if a document of this kind cannot be forged.
  func applied(to document: RehearsedDocument) throws(CryptographyError) -> RehearsedDocument? {
    guard let jws = document.jws, let decoded = try? UnverifiedJWS(jws),
      let forged = try forged(jws, decoded)
    else { return nil }
    return RehearsedDocument(
      document.kind, text: RehearsedDocument.text(document.kind, of: forged), origin: .forged,
      name: "\(document.kind.rawValue) \(rawValue)")
  }

  /// The forged JWS; `nil` without a chain of three certificates.
  private func forged(_ jws: String, _ decoded: UnverifiedJWS) throws(CryptographyError) -> String? {
    let parts = jws.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    let chain = decoded.certificates
    guard parts.count == 3, chain.count == 3 else { return nil }
    switch self {
    case .signature:
      let end = parts[2].hasSuffix("AAAA") ? "BBBB" : "AAAA"
      return "\(parts[0]).\(parts[1]).\(parts[2].dropLast(4))\(end)"
    case .payload:
      var payload = decoded.payload
      payload["forged"] = true
      let text = String(decoding: Base64.url.encodeUTF8(payload.serialized()), as: UTF8.self)
      return "\(parts[0]).\(text).\(parts[2])"
    case .foreignChain, .foreignLeaf:
      let foreign = try ForeignChain(like: chain[0])
      let certificates =
        self == .foreignChain ? foreign.certificates : [foreign.certificates[0], chain[1], chain[2]]
      return try JWSSigner(key: foreign.key, chain: certificates).sign(payload: decoded.payload)
    }
  }
}

/// A chain in the shape of Apple's under a root that no verifier trusts.
private struct ForeignChain {
  let key: SigningKey
  /// Leaf, intermediate and root.
  let certificates: [Certificate]

  /// Makes a chain that is valid as long as `leaf`.
  init(like leaf: Certificate) throws(CryptographyError) {
    let (start, end) = (leaf.notBefore, leaf.notAfter)
    func name(_ text: String) -> DistinguishedName {
      DistinguishedName([("CN", text), ("O", "Apple Inc."), ("C", "US")])
    }
    key = try .generate(.p256)
    let root = try CertificateIssuer.root(
      name("Apple Root CA - G3"), key: .generate(.p384), from: start, until: end)
    let intermediate = try root.intermediate(
      name("Apple Worldwide Developer Relations Certification Authority"), key: .generate(.p384), from: start,
      until: end)
    let certificate = try intermediate.leaf(
      name("Prod ECC Mac App Store and iTunes Store Receipt Signing"), key: key, from: start, until: end)
    certificates = [certificate, intermediate.certificate, root.certificate]
  }
}
