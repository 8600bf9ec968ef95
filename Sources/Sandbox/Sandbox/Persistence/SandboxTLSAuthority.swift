package import AppStore
internal import SignedData

/// A certificate for TLS on the sandbox's names, and the root that signed it.
///
/// The root is not that of the App Store documents: a client that trusts it for connections accepts no document because of
/// it. In a directory it is created once, so that clients can keep it; the certificate is made again at each start.
package struct SandboxTLSAuthority: Sendable {
  /// The root certificate, in PEM.
  package let root: String
  /// The certificate of the listener, in PEM.
  package let certificate: String
  /// The private key of ``certificate``, in PEM.
  package let key: String

  private static let rootFile = "tls-root.pem"
  private static let keyFile = "tls-root.key.pem"
  /// Apple: "About upcoming limits on trusted certificates": at most 398 days.
  private static let days: Int64 = 397
  /// Ten years, because clients install the root.
  private static let rootDays: Int64 = 3_650

  /// Reads or makes the root, and makes a certificate.
  ///
  /// - Parameters:
  ///   - directory: the directory of the root, which is created if it is missing; `nil` makes a root in memory.
  ///   - names: host names and IP addresses for the certificate.
  ///   - now: the present, at which the certificate begins to be valid.
  /// - Throws: ``SandboxError`` if the directory cannot be used or a name is invalid.
  package init(directory: String?, names: [String], now: Instant) throws(SandboxError) {
    let issuer = try Self.issuer(directory, now: now)
    do throws(CryptographyError) {
      let key = try SigningKey.generate(.p256)
      let certificate = try issuer.server(
        names, key: key, from: now.advanced(byDays: -1), until: now.advanced(byDays: Self.days - 1))
      root = issuer.certificate.pem
      self.certificate = certificate.pem
      self.key = try key.pem()
    } catch { throw .cryptographyFailed(error) }
  }

  /// Loads the root of a directory, or makes one.
  private static func issuer(_ path: String?, now: Instant) throws(SandboxError) -> CertificateIssuer {
    guard let path else { return try makeRoot(now: now).issuer }
    let files = try SandboxStorage.files(in: path)
    if let pem = try files.read(rootFile), let key = try files.read(keyFile) {
      do throws(CryptographyError) {
        let certificate = try Certificate(pem: pem)
        if now < certificate.notAfter {
          return CertificateIssuer(certificate: certificate, key: try SigningKey(pem: key))
        }
      } catch { throw .corrupt(path: "\(path)/\(rootFile)", detail: error.description) }
    }
    let (issuer, key) = try makeRoot(now: now)
    try files.write(keyFile, key.utf8)
    try files.write(rootFile, issuer.certificate.pem.utf8)
    return issuer
  }

  /// A root with a new key. It is not stored.
  private static func makeRoot(now: Instant) throws(SandboxError) -> (issuer: CertificateIssuer, key: String)
  {
    do throws(CryptographyError) {
      let key = try SigningKey.generate(.p256)
      let name = DistinguishedName([("CN", "TLS root of an entitled sandbox"), ("O", "entitled sandbox")])
      let issuer = try CertificateIssuer.root(
        name, key: key, from: now.advanced(byDays: -1), until: now.advanced(byDays: rootDays))
      return (issuer, try key.pem())
    } catch { throw .cryptographyFailed(error) }
  }
}
