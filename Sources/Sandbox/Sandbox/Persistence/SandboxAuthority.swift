internal import AppStore
internal import SignedData

/// The simulator's certificate chain, which has the shape of Apple's, and its private keys.
///
/// The chain is created once and stored. An expired leaf is replaced under the same intermediate. The leaf is
/// valid longer than Apple's two years, because documents are dated in simulated time, which can be advanced.
struct SandboxAuthority: Sendable {
  let root: Certificate
  let signer: JWSSigner
  /// Signs receipts with the same leaf. Apple uses a separate leaf with the same relevant extensions.
  let receiptSigner: ReceiptSigner
  /// The OCSP responder for the leaf and the intermediate.
  let responder: OCSPResponder

  /// Loads the stored chain, or creates it.
  ///
  /// - start: the time from which a new chain is valid, with a day before it; `nil` for `now`.
  /// - responder: the OCSP URL in the certificates. Certificates with another URL are issued again; `nil`
  ///   keeps them.
  init(
    directory: any StateFiles, now: Instant, start: Instant? = nil, responder address: String? = nil
  ) throws(SandboxError) {
    if try directory.read(File.root.certificate) == nil {
      try Self.make(in: directory, now: now, start: start ?? now, responder: address)
    }
    let root = try Self.load(.root, from: directory)
    var intermediate = try Self.load(.intermediate, from: directory)
    var leaf = try Self.load(.leaf, from: directory)
    if let address, intermediate.certificate.ocspResponder != address {
      intermediate = try Self.makeIntermediate(
        intermediate.key, under: root.issuer, in: directory, now: now, responder: address)
    }
    let named = intermediate.certificate.ocspResponder
    if now < leaf.certificate.notBefore || now > leaf.certificate.notAfter
      || leaf.certificate.ocspResponder != named
    {
      leaf = try Self.makeLeaf(under: intermediate.issuer, in: directory, now: now, responder: named)
    }
    self.root = root.certificate
    let chain = [leaf.certificate, intermediate.certificate, root.certificate]
    signer = JWSSigner(key: leaf.key, chain: chain)
    receiptSigner = ReceiptSigner(key: leaf.key, chain: chain)
    responder = OCSPResponder(issuers: [intermediate.issuer, root.issuer])
  }

  /// A certificate of the chain; the raw values are file names.
  private enum File: String {
    case root, intermediate, leaf

    var certificate: String { "\(rawValue).pem" }
    var key: String { "\(rawValue).key.pem" }

    var subject: DistinguishedName {
      let name =
        switch self {
        case .root: "Sandbox Root CA - G3 of entitled"
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

  /// Creates the chain. The root is written last, so that an interrupted creation starts over.
  private static func make(
    in directory: any StateFiles, now: Instant, start: Instant, responder: String?
  ) throws(SandboxError) {
    let key = try generate(.p384)
    let root: CertificateIssuer
    do {
      // One day early, for verifiers whose clock is slow. The other certificates begin with the root, so that those that
      // are issued again cover documents of the past.
      root = try .root(
        File.root.subject, key: key, from: start.advanced(byMilliseconds: -86_400_000),
        until: now.advanced(byYears: 50))
    } catch { throw .cryptographyFailed(error) }
    let intermediate = try makeIntermediate(
      try generate(.p384), under: root, in: directory, now: now, responder: responder)
    _ = try makeLeaf(under: intermediate.issuer, in: directory, now: now, responder: responder)
    try save(Link(certificate: root.certificate, key: key), as: .root, in: directory)
  }

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

  private static func save(_ link: Link, as file: File, in directory: any StateFiles) throws(SandboxError) {
    let key: String
    do { key = try link.key.pem() } catch { throw .cryptographyFailed(error) }
    try directory.write(file.key, key.utf8)
    if case .root = file { try directory.write("root.der", link.certificate.der) }
    try directory.write(file.certificate, link.certificate.pem.utf8)
  }

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

extension Instant {
  fileprivate func advanced(byYears years: Int64) -> Instant {
    CalendarTime(self).advanced(byMonths: years * 12).instant
  }
}
