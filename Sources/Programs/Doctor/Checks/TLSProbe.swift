internal import NIOCore
internal import NIOPosix
internal import NIOTLS
internal import Platform
internal import SignedData
internal import TLS

/// Opens TLS connections to one address and closes them after the handshake.
struct TLSProbe {
  let host: String
  let port: Int
  /// A PEM file with the trusted authorities; `nil` selects those of the system.
  let authorities: String?

  /// The reason why there was no handshake.
  struct Failure: Error {
    /// The text of the operating system or of TLS.
    let description: String
  }

  /// Returns the certificates that the server presents, its own first, without judging them.
  func presentedChain() async throws(Failure) -> [Certificate] {
    let presented = try await connect(requiresTrust: false)
    var chain: [Certificate] = []
    for bytes in presented {
      guard let certificate = try? Certificate(der: bytes) else {
        throw Failure(description: "a certificate cannot be decoded")
      }
      chain.append(certificate)
    }
    return chain
  }

  /// Throws unless the chain and the name are valid for the authorities.
  func requireTrust() async throws(Failure) { _ = try await connect(requiresTrust: true) }

  /// Returns the certificates that the server presents, in DER.
  private func connect(requiresTrust: Bool) async throws(Failure) -> [[UInt8]] {
    let handshake = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: [[UInt8]].self)
    do {
      let isAddress = (try? SocketAddress(ipAddress: host, port: port)) != nil
      let name = isAddress ? TLSHost.address(host) : .name(host)
      let context = try TLSContext(client: try trusted(), requiresTrust: requiresTrust)
      let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .connectTimeout(.seconds(5))
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            let tls = try TLSHandler(client: context, host: name)
            try channel.pipeline.syncOperations.addHandlers(tls, HandshakeObserver(tls, handshake))
          }
        }
        .connect(host: host, port: port).get()
      defer { channel.close(promise: nil) }
      return try await handshake.futureResult.get()
    } catch {
      handshake.fail(error)
      throw Failure(description: Self.reason(of: error))
    }
  }

  /// The authorities of the file; `nil` for those of the system.
  private func trusted() throws -> CertificateList? {
    try authorities.map { file in
      guard let list = CertificateList(.file(file)) else {
        throw TLSFailure.failed(reason: "\(file) has no certificate in PEM")
      }
      return list
    }
  }

  /// The text of an error; of several addresses, that of the first.
  private static func reason(of error: any Error) -> String {
    if let attempt = (error as? NIOConnectionError)?.connectionErrors.first {
      return reason(of: attempt.error)
    }
    if let error = error as? IOError { return SystemError.text(error.errnoCode) }
    return error as? TLSFailure == .notTLS ? "the server does not use TLS" : "\(error)"
  }
}

/// Fulfils a promise with the server's certificates at the end of the handshake.
private final class HandshakeObserver: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let tls: TLSHandler
  private let promise: EventLoopPromise<[[UInt8]]>

  init(_ tls: TLSHandler, _ promise: EventLoopPromise<[[UInt8]]>) {
    self.tls = tls
    self.promise = promise
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .handshakeCompleted? = event as? TLSUserEvent { promise.succeed(tls.presentedChain) }
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
