internal import HTTP
internal import NIOCore
internal import NIOSSL
internal import Synchronization

/// The certificate that a listener shows, and whom it believes: what is read from ``TLSSettings``.
///
/// ``reload()`` reads the files again. New connections then see the new certificate; those that are open stay as
/// they are.
package final class TLSIdentity: Sendable {
  private let settings: TLSSettings
  private let context: Mutex<NIOSSLContext>

  /// Reads the files.
  package init(_ settings: TLSSettings) throws(TLSError) {
    self.settings = settings
    context = Mutex(try Self.makeContext(settings))
  }

  /// Reads the files again. If one cannot be used, all stays as it was.
  package func reload() throws(TLSError) {
    let fresh = try Self.makeContext(settings)
    context.withLock { $0 = fresh }
  }

  /// What makes a connection one of TLS.
  func makeHandler() -> NIOSSLServerHandler { NIOSSLServerHandler(context: context.withLock { $0 }) }

  private static func makeContext(_ settings: TLSSettings) throws(TLSError) -> NIOSSLContext {
    let chain = try reading(settings.certificate) { try NIOSSLCertificate.fromPEMFile($0) }
    let key = try reading(settings.key) { try NIOSSLPrivateKey(file: $0, format: .pem) }
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
    configuration.minimumTLSVersion = .tlsv12
    configuration.cipherSuiteValues = forwardSecret
    configuration.applicationProtocols = ["h2", "http/1.1"]
    if let authorities = settings.clientAuthorities {
      let roots = try reading(authorities) { try NIOSSLCertificate.fromPEMFile($0) }
      configuration.trustRoots = .certificates(roots)
      // Who shows none may still have a token; who shows one that is not of these authorities is refused.
      configuration.certificateVerification = .optionalVerification
      configuration.sendCANameList = true
    }
    do {
      return try NIOSSLContext(configuration: configuration)
    } catch {
      throw .refused(certificate: settings.certificate, reason: "\(error)")
    }
  }

  private static func reading<Value>(
    _ file: String, _ read: (String) throws -> Value
  ) throws(TLSError) -> Value {
    do {
      return try read(file)
    } catch {
      throw .unusable(file: file, reason: "\(error)")
    }
  }

  /// The suites of TLS 1.2 that App Transport Security takes and that authenticate what they encrypt. Those of
  /// TLS 1.3 are all of that kind and cannot be chosen.
  private static let forwardSecret: [NIOTLSCipher] = [
    .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
    .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
    .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
  ]
}

extension PeerCertificate {
  /// The certificate with which the peer of this connection has identified itself; `nil` if it has not. TLS
  /// has verified it.
  static func of(_ pipeline: ChannelPipeline.SynchronousOperations) -> PeerCertificate? {
    guard let certificate = try? pipeline.nioSSL_peerCertificate() else { return nil }
    let textual: Set<_SubjectAlternativeName.NameType> = [.dnsName, .uri, .email]
    let names = certificate._subjectAlternativeNames().filter { textual.contains($0.nameType) }.map { entry in
      entry.contents.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }
    return PeerCertificate(names: names)
  }
}
