internal import AppStore
internal import SignedData

/// The simulator's certificate chain, which has the shape of Apple's, and its private keys.
///
/// The chain is created once and stored. An expired leaf is replaced under the same intermediate. The leaf is
/// valid longer than Apple's two years, because documents are dated in simulated time, which can be advanced.
/// There are two roots: a rotation of the root changes to the other one, so that a verifier can trust both before.
struct SandboxAuthority: Sendable {
  /// The root of a new chain.
  let root: Certificate
  /// The root to which the first rotation of the root changes.
  let secondRoot: Certificate
  /// Leaf, intermediate and root of the documents that are signed now.
  let chain: [Certificate]
  /// Signs JWS documents with the leaf.
  let signer: JWSSigner
  /// Signs receipts with the same leaf. Apple uses a separate leaf with the same relevant extensions.
  let receiptSigner: ReceiptSigner
  /// The OCSP responder for leaves and intermediates, also the replaced ones.
  let responder: OCSPResponder
  /// The replaced certificates.
  let retired: RetiredCertificates

  /// Loads the stored chain, or creates it. What is missing or out of date below the root is issued again, so that an
  /// interrupted creation or rotation is completed.
  ///
  /// - responder: the OCSP URL in the certificates. Certificates with another URL are issued again; `nil` keeps them.
  ///
  /// - Throws: ``SandboxError/corrupt(path:detail:)`` for a file that is malformed or missing,
  ///   ``SandboxError/unusable(path:detail:)``, ``SandboxError/cryptographyFailed(_:)``.
  init(
    directory: any StateFiles, now: Instant, responder address: String? = nil
  ) throws(SandboxError) {
    if try directory.read(File.root.certificate) == nil {
      try Self.make(in: directory, now: now, responder: address)
    }
    let first = try Self.load(.root, from: directory)
    if try directory.read(File.secondRoot.certificate) == nil {
      let second = try Self.newRoot(
        .secondRoot, from: first.certificate.notBefore, until: first.certificate.notAfter)
      try Self.save(second, as: .secondRoot, in: directory)
    }
    let second = try Self.load(.secondRoot, from: directory)
    var intermediate = try Self.load(.intermediate, from: directory)
    var leaf = try Self.load(.leaf, from: directory)
    let root = intermediate.certificate.issuer == second.certificate.subject ? second : first
    if let address, intermediate.certificate.ocspResponder != address {
      intermediate = try Self.makeIntermediate(
        intermediate.key, under: root.issuer, in: directory, now: now, responder: address)
    }
    let named = intermediate.certificate.ocspResponder
    // A rotation that was interrupted left a leaf of the intermediate before.
    if now < leaf.certificate.notBefore || now > leaf.certificate.notAfter
      || leaf.certificate.ocspResponder != named || !leaf.certificate.names(issuer: intermediate.certificate)
    {
      leaf = try Self.makeLeaf(under: intermediate.issuer, in: directory, now: now, responder: named)
    }
    self.root = first.certificate
    secondRoot = second.certificate
    chain = [leaf.certificate, intermediate.certificate, root.certificate]
    signer = JWSSigner(key: leaf.key, chain: chain)
    receiptSigner = ReceiptSigner(key: leaf.key, chain: chain)
    retired = try RetiredCertificates(from: directory)
    responder = OCSPResponder(
      issuers: [intermediate.issuer, first.issuer, second.issuer] + retired.intermediates)
  }

  /// Replaces a certificate and those below it by new ones with new keys, and stores them.
  ///
  /// - revoking: whether the responder reports the replaced certificate as revoked from now on; roots have no responder.
  static func rotate(
    _ part: SandboxCertificate, revoking: Bool, in directory: any StateFiles, now: Instant
  ) throws(SandboxError) -> SandboxAuthority {
    let present = try SandboxAuthority(directory: directory, now: now)
    let responder = present.chain[1].ocspResponder
    let intermediate = try load(.intermediate, from: directory)
    var retired = present.retired
    if revoking { retired.revoke(present.chain[part.position], at: now) }
    if part != .leaf { try retired.retire(intermediate.key.pemText(), intermediate.certificate) }
    try retired.save(in: directory)
    var issuer = intermediate.issuer
    if part != .leaf {
      let isFirst = present.chain[2].subject == present.root.subject
      let root = try load((part == .root) == isFirst ? .secondRoot : .root, from: directory)
      issuer = try makeIntermediate(
        try generate(.p384), under: root.issuer, in: directory, now: now, responder: responder
      ).issuer
    }
    _ = try makeLeaf(under: issuer, in: directory, now: now, responder: responder)
    return try SandboxAuthority(directory: directory, now: now)
  }

  /// A certificate of the chain; the raw values are file names.
  private enum File: String {
    case root, intermediate, leaf
    case secondRoot = "second-root"

    var certificate: String { "\(rawValue).pem" }
    var key: String { "\(rawValue).key.pem" }

    var subject: DistinguishedName {
      let name =
        switch self {
        case .root: "Sandbox Root CA - G3 of entitled"
        case .secondRoot: "Sandbox Root CA - G4 of entitled"
        case .intermediate: "Sandbox Developer Relations Certification Authority of entitled"
        case .leaf: "Sandbox App Store Receipt Signing of entitled"
        }
      return DistinguishedName([("CN", name), ("O", "entitled sandbox")])
    }
  }

  /// A certificate with its private key.
  private struct Link {
    let certificate: Certificate
    let key: SigningKey

    var issuer: CertificateIssuer { CertificateIssuer(certificate: certificate, key: key) }
  }

  /// When new chains begin to be valid: 1970, because all worlds of a process share the chain, and one of them may begin, begin
  /// again or be restored at any earlier time. The certificates below the root begin with it.
  private static let beginning = Instant(millisecondsSince1970: 0)

  /// Creates the chain. The root is written last, so that an interrupted creation starts over.
  private static func make(
    in directory: any StateFiles, now: Instant, responder: String?
  ) throws(SandboxError) {
    let root = try newRoot(.root, from: beginning, until: now.advanced(byYears: 50))
    let intermediate = try makeIntermediate(
      try generate(.p384), under: root.issuer, in: directory, now: now, responder: responder)
    _ = try makeLeaf(under: intermediate.issuer, in: directory, now: now, responder: responder)
    try save(root, as: .root, in: directory)
  }

  /// A root with a new key. It is not stored.
  private static func newRoot(_ file: File, from start: Instant, until end: Instant) throws(SandboxError)
    -> Link
  {
    let key = try generate(.p384)
    do {
      let root = try CertificateIssuer.root(file.subject, key: key, from: start, until: end)
      return Link(certificate: root.certificate, key: key)
    } catch { throw .cryptographyFailed(error) }
  }

  /// Issues and stores an intermediate for a key, valid from the root's start, so that documents of the past verify.
  private static func makeIntermediate(
    _ key: SigningKey, under root: CertificateIssuer, in directory: any StateFiles, now: Instant,
    responder: String?
  ) throws(SandboxError) -> Link {
    let link: Link
    do {
      let issuer = try root.intermediate(
        File.intermediate.subject, key: key, from: root.certificate.notBefore,
        until: now.advanced(byYears: 50),
        responder: responder)
      link = Link(certificate: issuer.certificate, key: key)
    } catch { throw .cryptographyFailed(error) }
    try save(link, as: .intermediate, in: directory)
    return link
  }

  /// Issues and stores a leaf with a new key.
  private static func makeLeaf(
    under issuer: CertificateIssuer, in directory: any StateFiles, now: Instant, responder: String?
  ) throws(SandboxError) -> Link {
    let key = try generate(.p256)
    let leaf: Link
    do {
      let certificate = try issuer.leaf(
        File.leaf.subject, key: key, from: issuer.certificate.notBefore, until: now.advanced(byYears: 20),
        responder: responder)
      leaf = Link(certificate: certificate, key: key)
    } catch { throw .cryptographyFailed(error) }
    try save(leaf, as: .leaf, in: directory)
    return leaf
  }

  private static func generate(_ curve: SigningKey.Curve) throws(SandboxError) -> SigningKey {
    do { return try SigningKey.generate(curve) } catch { throw .cryptographyFailed(error) }
  }

  /// Stores the key before its certificate, because the certificate shows that both exist.
  private static func save(_ link: Link, as file: File, in directory: any StateFiles) throws(SandboxError) {
    try directory.write(file.key, try link.key.pemText().utf8)
    if case .root = file { try directory.write("root.der", link.certificate.der) }
    try directory.write(file.certificate, link.certificate.pem.utf8)
  }

  /// Reads a certificate and its key.
  private static func load(_ file: File, from directory: any StateFiles) throws(SandboxError) -> Link {
    let certificate = try text(file.certificate, in: directory)
    let key = try text(file.key, in: directory)
    do {
      return Link(certificate: try Certificate(pem: certificate), key: try SigningKey(pem: key))
    } catch {
      throw .corrupt(path: "\(directory.path)/\(file.rawValue)", detail: error.description)
    }
  }

  private static func text(_ name: String, in directory: any StateFiles) throws(SandboxError) -> String {
    guard let text = try directory.read(name) else {
      throw .corrupt(path: "\(directory.path)/\(name)", detail: "file is missing")
    }
    return text
  }
}

extension SigningKey {
  /// The unencrypted private key in PEM.
  fileprivate func pemText() throws(SandboxError) -> String {
    do { return try pem() } catch { throw .cryptographyFailed(error) }
  }
}

extension Instant {
  fileprivate func advanced(byYears years: Int64) -> Instant {
    CalendarTime(self).advanced(byMonths: years * 12).instant
  }
}
