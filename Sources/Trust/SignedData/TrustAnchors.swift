package import AppStore
internal import Bytes

/// The root certificates that signed data may chain to, each trusted for some environments.
///
/// Apple's roots are always trusted for Production and Sandbox. Other roots are configured for one
/// environment each, so that a test root can never certify a real purchase.
package struct TrustAnchors: Sendable {
  /// A root with the environments that it is trusted for.
  struct Anchor: Sendable {
    let certificate: Certificate
    var environments: Set<Environment>
  }

  let apple: [Anchor]
  private(set) var configured: [Anchor] = []

  private init(apple: [Anchor]) { self.apple = apple }

  /// Returns Apple's roots only, trusted for production and Apple's sandbox.
  ///
  /// - Throws: ``CryptographyError`` if OpenSSL fails; the roots are part of the program.
  package static func apple() throws(CryptographyError) -> TrustAnchors {
    var anchors: [Anchor] = []
    for root in AppleRoots.all {
      anchors.append(
        Anchor(certificate: try Certificate(anchor: root), environments: [.production, .sandbox]))
    }
    return TrustAnchors(apple: anchors)
  }

  /// Returns these anchors plus a root for one environment. A root that is already configured is trusted for both
  /// environments.
  package func adding(_ certificate: Certificate, for environment: Environment) -> TrustAnchors {
    var result = self
    if let known = result.configured.firstIndex(where: { $0.certificate.der == certificate.der }) {
      result.configured[known].environments.insert(environment)
    } else {
      result.configured.append(Anchor(certificate: certificate, environments: [environment]))
    }
    return result
  }
}

extension Certificate {
  /// A certificate with the name and key of an anchor, because OpenSSL accepts anchors only as certificates.
  ///
  /// A discarded key signs it: an anchor's signature and dates are never checked, but must be well formed.
  fileprivate convenience init(anchor: AppleRoots.Root) throws(CryptographyError) {
    guard let key = Base64.standard.decode(anchor.key) else {
      throw .unreadable(what: "the key of a pinned root", detail: "")
    }
    let template = CertificateTemplate(
      subject: anchor.name, publicKey: try KeyReference.publicKey(der: key),
      notBefore: Instant(millisecondsSince1970: 0),
      notAfter: Instant(millisecondsSince1970: 253_402_300_799_000),
      extensions: [.certificateAuthority, .signsCertificates, .subjectKey])
    try self.init(der: template.signed(by: .generate(.p256), issuer: nil).der)
  }
}
