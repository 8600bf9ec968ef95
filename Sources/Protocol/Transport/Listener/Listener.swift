package import HTTP
package import Logging
package import NIOCore
internal import NIOPosix
package import Platform
package import RPC

/// A listening port: gRPC and plain HTTP over HTTP/2, plain HTTP over HTTP/1.1.
package struct Listener: Sendable {
  /// The handlers, limits and TLS identity of a listener.
  package struct Service: Sendable {
    /// Makes the gRPC methods of one event loop; called once on each.
    package var makeHost: @Sendable (any EventLoop) -> MethodHost
    /// Handles requests that are not gRPC.
    package var http: HTTPHandler
    /// The threads on which such a request is handled; `nil` for those of Swift.
    package var threads: @Sendable (HTTPRequest) -> BackgroundThreads? = { _ in nil }
    /// Answers every such request on the event loop instead; `nil`: ``http`` answers them as tasks.
    package var refusal: (@Sendable (HTTPRequest) -> HTTPResponse)?
    /// Whether such a request needs no credential, so that its success does not show that the peer is a client.
    package var isPublic: @Sendable (HTTPRequest) -> Bool = { _ in false }
    /// Whether such a request may wait for a thread when others may not.
    package var isPreferred: @Sendable (HTTPRequest) -> Bool = { _ in false }
    /// The limits of each connection, and of their number.
    package var limits: TransportLimits
    /// `nil`: plain text.
    package var tls: TLSIdentity?
    /// Bounds what the peers of several listeners make the server hold; `nil`: those of this listener.
    package var held: PeerBytes?

    package init(
      makeHost: @escaping @Sendable (any EventLoop) -> MethodHost, http: @escaping HTTPHandler,
      limits: TransportLimits = TransportLimits(), tls: TLSIdentity? = nil
    ) {
      self.makeHost = makeHost
      self.http = http
      self.limits = limits
      self.tls = tls
    }

    /// A listener without gRPC.
    package static func plain(_ handler: @escaping HTTPHandler) -> Service {
      Service(makeHost: { _ in MethodHost(methods: MethodTable([])) }, http: handler)
    }
  }

  /// The address; its port is the actual one if port 0 was requested.
  package let address: HostAndPort
  private let channel: any Channel
  private let connections: OpenConnections
  private let initializer: ConnectionInitializer
  private let isInherited: Bool

  /// The number of open connections.
  package var openConnections: Int { connections.count }

  /// The number of open HTTP/2 calls at the last check, at most a second ago.
  package var openStreams: Int { initializer.openStreams }

  /// The number of connections closed because of the connection limit.
  package var refusedConnections: Int { connections.refused }

  /// Listens at `address`, or on `socket` instead if there is one.
  ///
  /// - Throws: ``ListenError`` if the address is not available.
  package static func listen(
    at address: HostAndPort, socket: InheritedSocket? = nil, on group: any EventLoopGroup,
    serving service: Service, logger: Logger
  ) async throws(ListenError) -> Listener {
    let connections = OpenConnections(limit: service.limits.connections)
    let initializer = ConnectionInitializer(service, logger: logger)
    await initializer.prepare(group)
    do {
      let bootstrap = ServerBootstrap(group: group)
        .serverChannelOption(.backlog, value: 1_024)
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .serverChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            let operations = channel.pipeline.syncOperations
            try operations.addHandlers(
              AcceptPacer(initializer.pace, initializer.drainState, isInherited: socket != nil),
              AcceptedConnections(connections))
          }
        }
        .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
        // At most 64 KiB of one connection before the others have their turn.
        .childChannelOption(.maxMessagesPerRead, value: 1)
        .childChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try initializer.configure(channel)
          }
        }
      let channel =
        if let socket { try await bootstrap.withBoundSocket(socket.descriptor).get() } else {
          try await bootstrap.bind(host: address.host, port: address.port).get()
        }
      let port = channel.localAddress?.port ?? address.port
      return Listener(
        address: HostAndPort(host: address.host, port: port), channel: channel,
        connections: connections, initializer: initializer, isInherited: socket != nil)
    } catch let error as IOError {
      throw ListenError(address: address, reason: SystemError.text(error.errnoCode))
    } catch {
      throw ListenError(address: address, reason: "\(error)")
    }
  }

  /// Makes every further HTTP/1.1 response ask the client to reconnect.
  package func announceShutDown() { initializer.drainState.begin() }

  /// Drains the listener: stops accepting, asks every connection to finish, and returns when the last one is
  /// closed.
  ///
  /// - Parameters:
  ///   - grace: the time for calls in flight; connections that remain are closed afterwards.
  ///   - onAnnounced: called after all connections were asked to finish; ends streams without a natural end.
  package func shutDown(grace: TimeAmount, onAnnounced: @Sendable () -> Void = {}) async {
    announceShutDown()
    await ListenerCloser(channel: channel, isInherited: isInherited).close()
    let loop = channel.eventLoop
    let finished = loop.makePromise(of: Void.self)
    let cut = loop.scheduleTask(in: grace) { finished.succeed() }
    // Returns after the connections of this loop were asked; other loops ask theirs at the same time.
    try? await loop.submit { [channel, connections] in
      channel.close(promise: nil)
      connections.drain(finished)
    }.get()
    onAnnounced()
    try? await finished.futureResult.get()
    cut.cancel()
  }
}

/// The reason a listener could not bind.
package struct ListenError: Error, CustomStringConvertible {
  /// The address that the listener was to bind.
  package let address: HostAndPort
  /// The error message of the operating system.
  package let reason: String

  package var description: String {
    "cannot listen on \(address): \(reason); choose another address, or end the process that uses this one"
  }
}
