internal import HTTP
internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import Synchronization

/// Makes a pipeline for each connection of a listener that there is room for.
final class ConnectionSetup: Sendable {
  private let service: Listener.Service
  private let hosts: EventLoopContexts
  private let logger: Logger
  private let open = Atomic<Int>(0)
  private let refused = Atomic<Int>(0)
  /// Whether the connections are about to be asked to go.
  let departure = DrainState()

  init(_ service: Listener.Service, logger: Logger) {
    self.service = service
    self.logger = logger
    hosts = EventLoopContexts(
      make: service.makeHost, tick: .milliseconds(service.limits.times.tick))
  }

  /// How many connections there are.
  var openConnections: Int { open.load(ordering: .relaxed) }

  /// How many calls were open on HTTP/2 connections when each was last looked at.
  var openStreams: Int { hosts.openStreams }

  /// How many connections there was no room for.
  var refusedConnections: Int { refused.load(ordering: .relaxed) }

  /// Sets the pipeline up.
  ///
  /// - Throws: `TooManyConnections`, which closes the connection.
  func configure(_ channel: any Channel) throws {
    let count = open.add(1, ordering: .relaxed).newValue
    channel.closeFuture.whenComplete { [self] _ in open.subtract(1, ordering: .relaxed) }
    guard count <= service.limits.connections else {
      refused.add(1, ordering: .relaxed)
      throw TooManyConnections()
    }
    let operations = channel.pipeline.syncOperations
    if let tls = service.tls { try operations.addHandler(tls.makeHandler()) }
    let host = hosts.host(of: channel.eventLoop)
    let sniffer = ProtocolSniffer(patience: .milliseconds(service.limits.times.handshake)) {
      [service, logger, departure] isHTTP2, context in
      let operations = context.pipeline.syncOperations
      let peer = PeerCertificate.of(operations)
      if isHTTP2 {
        try operations.addHandler(
          HTTP2Handler(host: host, http: service.http, limits: service.limits, peer: peer, logger: logger))
      } else {
        try operations.addHandler(DrainHandler())
        try operations.configureHTTPServerPipeline(withErrorHandling: true)
        try operations.addHandler(
          HTTP1Handler(
            host: host, http: service.http, limits: service.limits, peer: peer, departure: departure,
            logger: logger))
      }
    }
    try operations.addHandler(sniffer)
  }
}

/// There is no room for another connection.
struct TooManyConnections: Error {}
