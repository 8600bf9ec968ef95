internal import Glibc
internal import HTTP
internal import NIOCore
internal import Platform
internal import Synchronization
internal import TLS

/// The certificate files of a listener.
package struct TLSSettings: Hashable, Sendable {
  /// The path of the certificate chain in PEM, leaf first, without the root.
  package let certificate: String
  /// The path of the private key in PEM.
  package let key: String
  /// The path of the authorities of client certificates in PEM; `nil`: none are requested.
  package let clientAuthorities: String?

  package init(certificate: String, key: String, clientAuthorities: String? = nil) {
    self.certificate = certificate
    self.key = key
    self.clientAuthorities = clientAuthorities
  }
}

/// The reason why TLS cannot use its files.
package enum TLSError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A file is missing or malformed; `reason` is the library's.
  case unusable(file: String, reason: String)
  /// The key does not belong to the certificate, or the TLS library rejects one of them.
  case refused(certificate: String, reason: String)

  package var description: String {
    switch self {
    case .unusable(let file, let reason): "cannot use \(file) for TLS: \(reason)"
    case .refused(let certificate, let reason):
      "TLS does not work with the certificate \(certificate) and its key: \(reason); the key must belong to the "
        + "first certificate of the file"
    }
  }
}

/// The certificate and the client authorities of a listener, read from ``TLSSettings``.
///
/// ``reload()`` reads the files again; only new connections use the result.
package final class TLSIdentity: Sendable {
  /// `nil` for a certificate that is no file, which is never reloaded.
  private let settings: TLSSettings?
  private let current: Mutex<Material>

  private struct Material: Sendable {
    let context: TLSContext
    /// Seconds since 1970.
    let end: Int64
  }

  /// Reads the files.
  ///
  /// - Throws: ``TLSError/unusable(file:reason:)`` if a file cannot be read;
  ///   ``TLSError/refused(certificate:reason:)``.
  package init(_ settings: TLSSettings) throws(TLSError) {
    self.settings = settings
    current = Mutex(try Self.material(settings))
  }

  /// Uses a certificate chain, leaf first, and its key, both in PEM.
  ///
  /// - Throws: ``TLSError`` for what cannot be decoded, or a key that is not the certificate's.
  package init(chain: String, key: String) throws(TLSError) {
    settings = nil
    guard let certificates = CertificateList(.text(chain)) else {
      throw .unusable(file: "the certificate", reason: Self.noCertificate)
    }
    guard let key = PrivateKey(.text(key)) else {
      throw .unusable(file: "the private key", reason: Self.noPrivateKey)
    }
    current = Mutex(try Self.material(certificates, key, certificate: "of the process"))
  }

  /// The problems of all files, each by itself, and of the certificate with its key.
  package static func problems(of settings: TLSSettings) -> [TLSError] {
    var problems: [TLSError] = []
    func attempt(_ read: () throws(TLSError) -> Void) {
      do throws(TLSError) { try read() } catch { problems.append(error) }
    }
    for file in [settings.certificate, settings.clientAuthorities].compactMap(\.self) {
      attempt { () throws(TLSError) in _ = try certificates(in: file) }
    }
    attempt { () throws(TLSError) in _ = try privateKey(in: settings.key) }
    if problems.isEmpty { attempt { () throws(TLSError) in _ = try material(settings) } }
    return problems
  }

  /// Reads the files again. After an error the current ones stay in use.
  ///
  /// - Throws: ``TLSError``; the present certificate stays in use then.
  package func reload() throws(TLSError) {
    guard let settings else { return }
    let fresh = try Self.material(settings)
    current.withLock { $0 = fresh }
  }

  /// The first end of the certificates in the chain, in seconds since 1970.
  package var end: Int64? { current.withLock { $0.end } }

  /// The TLS handler of one connection.
  func makeHandler() throws(TLSFailure) -> TLSHandler {
    try TLSHandler(server: current.withLock { $0.context })
  }

  /// Reads certificate, key and authorities. With authorities, a client may present a certificate, and need not, because
  /// a caller without a certificate may have a token; a certificate of another authority is rejected.
  ///
  /// - Throws: ``TLSError`` with the file that cannot be used.
  private static func material(_ settings: TLSSettings) throws(TLSError) -> Material {
    let chain = try certificates(in: settings.certificate)
    let key = try privateKey(in: settings.key)
    var authorities: CertificateList?
    if let file = settings.clientAuthorities { authorities = try certificates(in: file) }
    return try material(chain, key, authorities, certificate: settings.certificate)
  }

  /// `certificate` names the certificate in an error.
  private static func material(
    _ chain: CertificateList, _ key: PrivateKey, _ clientAuthorities: CertificateList? = nil,
    certificate: String
  ) throws(TLSError) -> Material {
    do {
      let context = try TLSContext(server: chain, key: key, clientAuthorities: clientAuthorities)
      return Material(context: context, end: chain.end)
    } catch {
      throw .refused(certificate: certificate, reason: "\(error)")
    }
  }

  private static func certificates(in file: String) throws(TLSError) -> CertificateList {
    try requireReadable(file)
    guard let list = CertificateList(.file(file)) else { throw .unusable(file: file, reason: noCertificate) }
    return list
  }

  private static func privateKey(in file: String) throws(TLSError) -> PrivateKey {
    try requireReadable(file)
    guard let key = PrivateKey(.file(file)) else { throw .unusable(file: file, reason: noPrivateKey) }
    return key
  }

  private static func requireReadable(_ file: String) throws(TLSError) {
    guard access(file, R_OK) == 0 else { throw .unusable(file: file, reason: SystemError.text(errno)) }
  }

  private static let noCertificate = "it is no certificate in PEM"
  private static let noPrivateKey = "it is no private key in PEM without a passphrase"
}

extension PeerCertificate {
  /// The verified client certificate of a connection; `nil` if the peer has none.
  static func of(_ pipeline: ChannelPipeline.SynchronousOperations) -> PeerCertificate? {
    (try? pipeline.handler(type: TLSHandler.self))?.clientNames.map { PeerCertificate(names: $0) }
  }
}
