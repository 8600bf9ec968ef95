package import AppStore

/// A certificate authority: a certificate and its key.
///
/// Issues chains shaped like Apple's: a root, and an intermediate and a leaf with Apple's marker OIDs. The
/// markers can be omitted, to test that a verifier rejects the chain.
package struct CertificateIssuer: Sendable {
  /// The authority's own certificate.
  package let certificate: Certificate
  let key: SigningKey

  /// An existing authority.
  package init(certificate: Certificate, key: SigningKey) {
    self.certificate = certificate
    self.key = key
  }

  /// Creates a self-signed root.
  package static func root(
    _ subject: DistinguishedName, key: SigningKey, from notBefore: Instant, until notAfter: Instant
  ) throws(CryptographyError) -> CertificateIssuer {
    let template = CertificateTemplate(
      subject: subject, publicKey: key.reference, notBefore: notBefore, notAfter: notAfter,
      extensions: [.certificateAuthority, .signsCertificates, .subjectKey])
    return CertificateIssuer(certificate: try template.signed(by: key, issuer: nil), key: key)
  }

  /// Issues an intermediate authority that may issue only leaves. `responder` is the OCSP address in its
  /// certificate.
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

  /// Issues a certificate for a key that signs App Store data. `responder` is the OCSP address in it.
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

  /// Issues a certificate for a TLS server. `names` are host names and IP addresses.
  ///
  /// - Throws: ``CryptographyError`` for a name with other characters than those of host names and addresses.
  package func server(
    _ names: [String], key: SigningKey, from notBefore: Instant, until notAfter: Instant
  ) throws(CryptographyError) -> Certificate {
    let subjectNames = try CertificateTemplate.Extension.subjectNames(names)
    let template = CertificateTemplate(
      subject: DistinguishedName([("CN", names.first ?? "localhost")]), publicKey: key.reference,
      notBefore: notBefore, notAfter: notAfter,
      extensions: [
        .endEntity, .signsData, .authenticatesServers, subjectNames, .subjectKey, .authorityKey,
      ])
    return try template.signed(by: self.key, issuer: certificate)
  }

  private static func access(_ responder: String?) -> [CertificateTemplate.Extension] {
    responder.map { [.ocspResponder($0)] } ?? []
  }
}

/// The subject of a certificate: attributes such as `CN` and `O`, in order.
package struct DistinguishedName: Hashable, Sendable {
  /// One attribute, by OpenSSL's short name (`CN`, `OU`, `O`, `C`).
  package struct Attribute: Hashable, Sendable {
    /// The short name.
    package let type: String
    /// The text in the certificate.
    package let value: String
  }

  /// In certificate order.
  package let attributes: [Attribute]

  /// A name of `(type, value)` pairs in certificate order.
  package init(_ attributes: [(String, String)]) {
    self.attributes = attributes.map { Attribute(type: $0.0, value: $0.1) }
  }
}
