package import HTTP
package import Logging
package import NIOCore
internal import NIOExtras
internal import NIOHTTP1
internal import NIOPosix
package import RPC

/// A port on which the process listens: gRPC and plain HTTP on HTTP/2, plain HTTP on HTTP/1.1.
package struct Listener: Sendable {
  /// What the connections of a listener are served with.
  package struct Service: Sendable {
    /// Makes the gRPC methods of one event loop; called once on each.
    package var makeHost: @Sendable (any EventLoop) -> CallHost
    /// Answers whatever is not gRPC.
    package var http: HTTPHandler
    package var limits: TransportLimits

    package init(
      makeHost: @escaping @Sendable (any EventLoop) -> CallHost, http: @escaping HTTPHandler,
      limits: TransportLimits = TransportLimits()
    ) {
      self.makeHost = makeHost
      self.http = http
      self.limits = limits
    }
  }

  /// Where it listens; the port is the real one also if port 0 was asked for.
  package let address: HostAndPort
  private let channel: any Channel
  private let quiescing: ServerQuiescingHelper

  /// Starts to listen.
  ///
  /// - Throws: ``ListenError`` if the address cannot be had.
  package static func listen(
    at address: HostAndPort, on group: any EventLoopGroup, serving service: Service, logger: Logger
  ) async throws(ListenError) -> Listener {
    let quiescing = ServerQuiescingHelper(group: group)
    let hosts = LoopHosts(make: service.makeHost)
    do {
      let channel = try await ServerBootstrap(group: group)
        .serverChannelOption(.backlog, value: 1_024)
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .serverChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(
              quiescing.makeServerChannelHandler(channel: channel))
          }
        }
        .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
        .childChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try Self.configure(channel, hosts, service, logger)
          }
        }
        .bind(host: address.host, port: address.port).get()
      let port = channel.localAddress?.port ?? address.port
      return Listener(
        address: HostAndPort(host: address.host, port: port), channel: channel, quiescing: quiescing)
    } catch {
      throw ListenError(address: address, reason: "\(error)")
    }
  }

  /// Stops accepting, tells every connection to finish, and returns when the last has.
  ///
  /// - Parameter grace: how long calls in flight may take; what is left then is cut.
  package func shutDown(grace: TimeAmount) async {
    let loop = channel.eventLoop
    let finished = loop.makePromise(of: Void.self)
    let cut = loop.scheduleTask(in: grace) { finished.succeed() }
    quiescing.initiateShutdown(promise: finished)
    try? await finished.futureResult.get()
    cut.cancel()
  }

  private static func configure(
    _ channel: any Channel, _ hosts: LoopHosts, _ service: Service, _ logger: Logger
  ) throws {
    let host = hosts.host(of: channel.eventLoop)
    let sniffer = ProtocolSniffer { isHTTP2, context in
      let operations = context.pipeline.syncOperations
      if isHTTP2 {
        try operations.addHandler(
          HTTP2Handler(host: host, http: service.http, limits: service.limits, logger: logger))
      } else {
        try operations.configureHTTPServerPipeline(withErrorHandling: true)
        try operations.addHandler(
          HTTP1Handler(http: service.http, limits: service.limits, logger: logger))
      }
    }
    try channel.pipeline.syncOperations.addHandler(sniffer)
  }
}

/// Why a listener did not come to be.
package struct ListenError: Error, CustomStringConvertible {
  package let address: HostAndPort
  /// The system's words.
  package let reason: String

  package var description: String { "cannot listen on \(address): \(reason)" }
}
