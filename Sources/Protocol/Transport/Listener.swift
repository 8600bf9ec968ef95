internal import Glibc
package import HTTP
package import Logging
package import NIOCore
internal import NIOExtras
internal import NIOPosix
package import RPC

/// A port on which the process listens: gRPC and plain HTTP on HTTP/2, plain HTTP on HTTP/1.1.
package struct Listener: Sendable {
  /// What the connections of a listener are served with.
  package struct Service: Sendable {
    /// Makes the gRPC methods of one event loop; called once on each.
    package var makeHost: @Sendable (any EventLoop) -> MethodHost
    /// Answers whatever is not gRPC.
    package var http: HTTPHandler
    package var limits: TransportLimits
    /// `nil`: in the clear.
    package var tls: TLSIdentity?

    package init(
      makeHost: @escaping @Sendable (any EventLoop) -> MethodHost, http: @escaping HTTPHandler,
      limits: TransportLimits = TransportLimits(), tls: TLSIdentity? = nil
    ) {
      self.makeHost = makeHost
      self.http = http
      self.limits = limits
      self.tls = tls
    }
  }

  /// Where it listens; the port is the real one also if port 0 was asked for.
  package let address: HostAndPort
  private let channel: any Channel
  private let quiescing: ServerQuiescingHelper
  private let setup: ConnectionSetup
  private let isInherited: Bool

  /// How many connections there are now.
  package var openConnections: Int { setup.openConnections }

  /// How many calls were open on its HTTP/2 connections when they were last looked at, at most a second ago.
  package var openStreams: Int { setup.openStreams }

  /// How many connections were closed because there were too many.
  package var refusedConnections: Int { setup.refusedConnections }

  /// Starts to listen at `address`, or on `socket` if there is one, which is then the address.
  ///
  /// - Throws: ``ListenError`` if the address cannot be had.
  package static func listen(
    at address: HostAndPort, socket: InheritedSocket? = nil, on group: any EventLoopGroup,
    serving service: Service, logger: Logger
  ) async throws(ListenError) -> Listener {
    let quiescing = ServerQuiescingHelper(group: group)
    let setup = ConnectionSetup(service, logger: logger)
    do {
      let bootstrap = ServerBootstrap(group: group)
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
            try setup.configure(channel)
          }
        }
      let channel =
        if let socket { try await bootstrap.withBoundSocket(socket.descriptor).get() } else {
          try await bootstrap.bind(host: address.host, port: address.port).get()
        }
      let port = channel.localAddress?.port ?? address.port
      return Listener(
        address: HostAndPort(host: address.host, port: port), channel: channel, quiescing: quiescing,
        setup: setup, isInherited: socket != nil)
    } catch let error as IOError {
      throw ListenError(address: address, reason: String(cString: strerror(error.errnoCode)))
    } catch {
      throw ListenError(address: address, reason: "\(error)")
    }
  }

  /// Whoever asks over HTTP/1.1 is told with each answer to use another connection from now on; nothing else changes.
  package func announceShutDown() { setup.departure.begin() }

  /// Stops accepting, tells every connection to finish, and returns when the last has.
  ///
  /// - Parameters:
  ///   - grace: how long calls in flight may take; what is left then is cut.
  ///   - told: called when the connections were told; ends what would go on for ever.
  package func shutDown(grace: TimeAmount, told: @Sendable () -> Void = {}) async {
    announceShutDown()
    await ListenerCloser(channel: channel, isInherited: isInherited).close()
    let loop = channel.eventLoop
    let finished = loop.makePromise(of: Void.self)
    let cut = loop.scheduleTask(in: grace) { finished.succeed() }
    quiescing.initiateShutdown(promise: finished)
    // Behind the word to the connections of this loop; those of others hear it at the same time.
    try? await loop.submit {}.get()
    told()
    try? await finished.futureResult.get()
    cut.cancel()
  }
}

/// Why a listener did not come to be.
package struct ListenError: Error, CustomStringConvertible {
  package let address: HostAndPort
  /// The system's words.
  package let reason: String

  package var description: String { "cannot listen on \(address): \(reason)" }
}
