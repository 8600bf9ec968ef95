package import AppStore

/// A certificate authority: a certificate, and the key to issue others with.
///
/// It makes chains shaped like Apple's: a root, an intermediate that carries Apple's mark, and a leaf
/// that carries the other. The marks can be left out, to make what a verifier must refuse.
package struct CertificateIssuer: Sendable {
  /// The authority's own certificate.
  package let certificate: Certificate
  let key: SigningKey

  /// An authority that exists already.
  package init(certificate: Certificate, key: SigningKey) {
    self.certificate = certificate
    self.key = key
  }

  /// Makes a root: certified by itself.
  package static func root(
    _ subject: DistinguishedName, key: SigningKey, from notBefore: Instant, until notAfter: Instant
  ) throws(CryptographyError) -> CertificateIssuer {
    let template = CertificateTemplate(
      subject: subject, publicKey: key.reference, notBefore: notBefore, notAfter: notAfter,
      extensions: [.certificateAuthority, .signsCertificates, .subjectKey])
    return CertificateIssuer(certificate: try template.signed(by: key, issuer: nil), key: key)
  }

  /// Issues an intermediate authority that may issue leaves, but no further authorities. With a `responder`,
  /// its certificate says that this is where OCSP tells whether it still counts.
  package func intermediate(
    _ subject: DistinguishedName, key: SigningKey, from notBefore: Instant, until notAfter: Instant,
    marked: Bool = true, responder: String? = nil
  ) throws(CryptographyError) -> CertificateIssuer {
    let template = CertificateTemplate(
      subject: subject, publicKey: key.reference, notBefore: notBefore, notAfter: notAfter,
      extensions: [.lastCertificateAuthority, .signsCertificates, .subjectKey, .authorityKey]
        + Self.access(responder),
      markers: marked ? [MarkerOID.intermediate] : [])
    return CertificateIssuer(certificate: try template.signed(by: self.key, issuer: certificate), key: key)
  }

  /// Issues a certificate for a key that signs App Store data. With a `responder`, it says that this is where
  /// OCSP tells whether it still counts.
  package func leaf(
    _ subject: DistinguishedName, key: SigningKey, from notBefore: Instant, until notAfter: Instant,
    marked: Bool = true, responder: String? = nil
  ) throws(CryptographyError) -> Certificate {
    let template = CertificateTemplate(
      subject: subject, publicKey: key.reference, notBefore: notBefore, notAfter: notAfter,
      extensions: [.endEntity, .signsData, .subjectKey, .authorityKey] + Self.access(responder),
      markers: marked ? [MarkerOID.leaf] : [])
    return try template.signed(by: self.key, issuer: certificate)
  }

  private static func access(_ responder: String?) -> [CertificateTemplate.Extension] {
    responder.map { [.answeredAt($0)] } ?? []
  }
}

/// Whose a certificate is: attributes in their order, such as `CN` and `O`.
package struct DistinguishedName: Hashable, Sendable {
  /// One attribute, by OpenSSL's short name (`CN`, `OU`, `O`, `C`).
  package struct Attribute: Hashable, Sendable {
    package let type: String
    package let value: String
  }

  package let attributes: [Attribute]

  /// A name of `(type, value)` pairs, in the order in which the certificate lists them.
  package init(_ attributes: [(String, String)]) {
    self.attributes = attributes.map { Attribute(type: $0.0, value: $0.1) }
  }
}
