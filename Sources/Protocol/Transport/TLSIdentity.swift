internal import Glibc
internal import HTTP
internal import NIOCore
internal import NIOSSL
internal import Platform
internal import Synchronization

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
    let context: NIOSSLContext
    /// Seconds since 1970.
    let end: Int64?

    init(_ context: NIOSSLContext, _ chain: [NIOSSLCertificate]) {
      self.context = context
      end = chain.map { Int64($0.notValidAfter) }.min()
    }
  }

  /// Reads the files.
  package init(_ settings: TLSSettings) throws(TLSError) {
    self.settings = settings
    current = Mutex(try Self.material(settings))
  }

  /// Uses a certificate chain, leaf first, and its key, both in PEM.
  ///
  /// - Throws: ``TLSError`` for a file that cannot be read, or a key that is not the certificate's.
  package init(chain: String, key: String) throws(TLSError) {
    settings = nil
    let certificates = try Self.reading("the certificate") { _ in
      try NIOSSLCertificate.fromPEMBytes(Array(chain.utf8))
    }
    let privateKey = try Self.reading("the private key") { _ in
      try NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem)
    }
    let context = try Self.makeContext(
      Self.configuration(certificates, privateKey), certificate: "of the process")
    current = Mutex(Material(context, certificates))
  }

  /// The problems of all files, each by itself, and of the certificate with its key.
  package static func problems(of settings: TLSSettings) -> [TLSError] {
    var problems: [TLSError] = []
    func attempt(_ read: () throws(TLSError) -> Void) {
      do throws(TLSError) { try read() } catch { problems.append(error) }
    }
    let certificates = [settings.certificate, settings.clientAuthorities].compactMap(\.self)
    for file in certificates {
      attempt { () throws(TLSError) in _ = try reading(file, Self.certificates(in:)) }
    }
    attempt { () throws(TLSError) in
      _ = try reading(settings.key) { try NIOSSLPrivateKey(file: $0, format: .pem) }
    }
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
  func makeHandler() -> NIOSSLServerHandler { NIOSSLServerHandler(context: current.withLock { $0.context }) }

  /// Reads certificate, key and authorities. With authorities, a client may present a certificate, and need not.
  ///
  /// - Throws: ``TLSError`` with the file that cannot be used.
  private static func material(_ settings: TLSSettings) throws(TLSError) -> Material {
    let chain = try reading(settings.certificate, certificates(in:))
    let key = try reading(settings.key) { try NIOSSLPrivateKey(file: $0, format: .pem) }
    var configuration = configuration(chain, key)
    if let authorities = settings.clientAuthorities {
      let roots = try reading(authorities, certificates(in:))
      configuration.trustRoots = .certificates(roots)
      // A caller without a certificate may have a token; a certificate of another authority is rejected.
      configuration.certificateVerification = .optionalVerification
      configuration.sendCANameList = true
    }
    return Material(try makeContext(configuration, certificate: settings.certificate), chain)
  }

  private static func configuration(_ chain: [NIOSSLCertificate], _ key: NIOSSLPrivateKey) -> TLSConfiguration
  {
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
    configuration.minimumTLSVersion = .tlsv12
    configuration.cipherSuiteValues = forwardSecret
    configuration.applicationProtocols = ["h2", "http/1.1"]
    return configuration
  }

  /// `certificate` names the certificate in an error.
  private static func makeContext(
    _ configuration: TLSConfiguration, certificate: String
  ) throws(TLSError) -> NIOSSLContext {
    do {
      return try NIOSSLContext(configuration: configuration)
    } catch {
      throw .refused(certificate: certificate, reason: "\(error)")
    }
  }

  private static func reading<Value>(
    _ file: String, _ read: (String) throws -> Value
  ) throws(TLSError) -> Value {
    do {
      return try read(file)
    } catch {
      throw .unusable(file: file, reason: reason(error))
    }
  }

  /// Reads the certificates in a file. The library reports a file that it cannot read as one without certificates.
  private static func certificates(in file: String) throws -> [NIOSSLCertificate] {
    guard access(file, R_OK) == 0 else { throw IOError(errnoCode: errno, reason: "open") }
    return try NIOSSLCertificate.fromPEMFile(file)
  }

  private static func reason(_ error: any Error) -> String {
    if let error = error as? IOError { return SystemError.text(error.errnoCode) }
    return switch error as? NIOSSLError {
    case .failedToLoadCertificate: "it is no certificate in PEM"
    case .failedToLoadPrivateKey: "it is no private key in PEM without a passphrase"
    default: "\(error)"
    }
  }

  /// The AEAD suites of TLS 1.2 that App Transport Security accepts. Those of TLS 1.3 cannot be selected.
  private static let forwardSecret: [NIOTLSCipher] = [
    .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
    .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
    .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
  ]
}

extension PeerCertificate {
  /// The verified client certificate of a connection; `nil` if the peer has none.
  static func of(_ pipeline: ChannelPipeline.SynchronousOperations) -> PeerCertificate? {
    guard let certificate = try? pipeline.nioSSL_peerCertificate() else { return nil }
    let textual: Set<_SubjectAlternativeName.NameType> = [.dnsName, .uri, .email]
    let names = certificate._subjectAlternativeNames().filter { textual.contains($0.nameType) }.map { entry in
      entry.contents.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }
    return PeerCertificate(names: names)
  }
}
