package import AppStore
internal import Bytes

/// The roots that signed data may end in, and for which environments each counts.
///
/// Apple's are always there, for Production and Sandbox. Others come only through configuration, one
/// environment at a time, so that a test root can never vouch for a real purchase.
package struct TrustAnchors: Sendable {
  struct Anchor: Sendable {
    let certificate: Certificate
    var environments: Set<Environment>
  }

  let apple: [Anchor]
  private(set) var configured: [Anchor] = []

  private init(apple: [Anchor]) { self.apple = apple }

  /// Apple's roots and nothing else.
  package static func apple() throws(CryptographyError) -> TrustAnchors {
    var anchors: [Anchor] = []
    for root in AppleRoots.all {
      anchors.append(
        Anchor(certificate: try Certificate(anchor: root), environments: [.production, .sandbox]))
    }
    return TrustAnchors(apple: anchors)
  }

  /// These, and one more root for one environment.
  package func adding(_ certificate: Certificate, for environment: Environment) -> TrustAnchors {
    var result = self
    if let known = result.configured.firstIndex(where: { $0.certificate.der == certificate.der }) {
      result.configured[known].environments.insert(environment)
    } else {
      result.configured.append(Anchor(certificate: certificate, environments: [environment]))
    }
    return result
  }

  /// These, and one more root, given as DER, for one environment.
  package func adding(certificateDER der: [UInt8], for environment: Environment) throws(CryptographyError)
    -> TrustAnchors
  {
    adding(try Certificate(der: der), for: environment)
  }
}

extension Certificate {
  /// A certificate that says what an anchor is, a name and a key, and nothing else.
  ///
  /// OpenSSL wants anchors as certificates. Its signature is by a key that is thrown away: an anchor's
  /// signature is never looked at, but one must be there for the certificate to be well formed. So are
  /// its dates, which bound nothing.
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
