internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import NIOTLS
internal import Platform
internal import SignedData
internal import Synchronization

/// Opens TLS connections to one address and closes them after the handshake.
struct TLSProbe {
  let host: String
  let port: Int
  /// A PEM file with the trusted authorities; `nil` selects those of the system.
  let authorities: String?

  /// The reason why there was no handshake.
  struct Failure: Error {
    let description: String
  }

  /// Returns the certificates that the server presents, its own first, without judging them.
  func presentedChain() async throws(Failure) -> [Certificate] {
    let presented = Presented()
    try await connect { context, name in
      try NIOSSLClientHandler(
        context: context, serverHostname: name,
        customVerificationCallback: { certificates, promise in
          presented.set(certificates.compactMap { try? $0.toDERBytes() })
          promise.succeed(.certificateVerified)
        })
    }
    var chain: [Certificate] = []
    for bytes in presented.value {
      guard let certificate = try? Certificate(der: bytes) else {
        throw Failure(description: "a certificate cannot be decoded")
      }
      chain.append(certificate)
    }
    return chain
  }

  /// Throws unless the chain and the name are valid for the authorities.
  func requireTrust() async throws(Failure) {
    try await connect { context, name in try NIOSSLClientHandler(context: context, serverHostname: name) }
  }

  private func connect(
    _ makeHandler: @escaping @Sendable (NIOSSLContext, String?) throws -> NIOSSLClientHandler
  ) async throws(Failure) {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.minimumTLSVersion = .tlsv12
    if let authorities { configuration.trustRoots = .file(authorities) }
    let handshake = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: Void.self)
    do {
      let context = try NIOSSLContext(configuration: configuration)
      // The extension for the name takes no addresses (RFC 6066, section 3).
      let isAddress = (try? SocketAddress(ipAddress: host, port: port)) != nil
      let name = isAddress ? nil : host
      let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .connectTimeout(.seconds(5))
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(makeHandler(context, name))
            try channel.pipeline.syncOperations.addHandler(HandshakeObserver(handshake))
          }
        }
        .connect(host: host, port: port).get()
      defer { channel.close(promise: nil) }
      try await handshake.futureResult.get()
    } catch {
      handshake.fail(error)
      throw Failure(description: Self.reason(of: error))
    }
  }

  /// The text of an error without the library's names of types and files.
  private static func reason(of error: any Error) -> String {
    if let attempt = (error as? NIOConnectionError)?.connectionErrors.first {
      return reason(of: attempt.error)
    }
    if let error = error as? IOError { return SystemError.text(error.errnoCode) }
    let text = "\(error)"
    // Such as "error:100000f7:SSL routines:OPENSSL_internal:WRONG_VERSION_NUMBER at tls_record.cc:127".
    guard let prefix = text.firstRange(of: "OPENSSL_internal:") else { return text }
    let name = text[prefix.upperBound...].prefix { $0.isLetter || $0.isNumber || $0 == "_" }
    return name == "WRONG_VERSION_NUMBER" ? "the server does not use TLS" : String(name)
  }
}

/// The certificates that a server presented.
private final class Presented: Sendable {
  private let certificates = Mutex<[[UInt8]]>([])

  var value: [[UInt8]] { certificates.withLock { $0 } }

  func set(_ value: [[UInt8]]) { certificates.withLock { $0 = value } }
}

/// Fulfils a promise at the end of the handshake.
private final class HandshakeObserver: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let promise: EventLoopPromise<Void>

  init(_ promise: EventLoopPromise<Void>) { self.promise = promise }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .handshakeCompleted? = event as? TLSUserEvent { promise.succeed() }
    context.fireUserInboundEventTriggered(event)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    promise.fail(error)
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    promise.fail(ChannelError.eof)
    context.fireChannelInactive()
  }
}
