internal import HTTP
internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import Synchronization

/// Builds the channel pipeline of each connection, up to the connection limit.
final class ConnectionInitializer: Sendable {
  private let service: Listener.Service
  private let contexts: EventLoopContexts
  private let logger: Logger
  private let open = Atomic<Int>(0)
  private let refused = Atomic<Int>(0)
  private let held: PeerBytes
  /// The rate at which connections are accepted.
  let pace: ConnectionPace
  /// Whether the listener drains.
  let drainState = DrainState()

  init(_ service: Listener.Service, logger: Logger) {
    self.service = service
    self.logger = logger
    pace = ConnectionPace(perSecond: service.limits.unusedConnections)
    held = service.held ?? PeerBytes(service.limits)
    contexts = EventLoopContexts(
      make: service.makeHost, tick: .milliseconds(service.limits.times.tick))
  }

  /// Prepares the event loops.
  func prepare(_ group: any EventLoopGroup) async { await contexts.prepare(group) }

  /// The number of open connections.
  var openConnections: Int { open.load(ordering: .relaxed) }

  /// The number of open HTTP/2 calls at the last check.
  var openStreams: Int { contexts.openStreams }

  /// The number of connections rejected because of the connection limit.
  var refusedConnections: Int { refused.load(ordering: .relaxed) }

  /// Builds the pipeline.
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
    let host = contexts.context(of: channel.eventLoop)
    if let tls = service.tls {
      try operations.addHandler(PlainHTTPRefusal(host.timers))
      try operations.addHandler(tls.makeHandler())
    }
    let timeout = TimeAmount.milliseconds(service.limits.times.handshake)
    let sniffer = ProtocolSniffer(timeout: timeout, timers: host.timers) {
      [service, held, pace, logger, drainState] isHTTP2, context in
      let operations = context.pipeline.syncOperations
      let peer = PeerCertificate.of(operations)
      let http = HTTPResponder(
        handler: service.http, refusal: service.refusal, threads: service.threads,
        isPublic: service.isPublic)
      if isHTTP2 {
        try operations.addHandler(
          HTTP2Handler(
            host: host, http: http, limits: service.limits, peer: peer, held: held,
            pace: pace, logger: logger))
      } else {
        let input = HTTP1Input()
        try operations.addHandlers([
          DrainHandler(), HTTPResponseEncoder(), input, service.limits.makeHTTP1Decoder(),
          HTTPServerPipelineHandler(), NIOHTTPResponseHeadersValidator(), HTTPServerProtocolErrorHandler(),
          HTTP1Handler(
            host: host, http: http, limits: service.limits, peer: peer, held: held, pace: pace,
            drainState: drainState, input: input, logger: logger),
        ])
      }
    }
    try operations.addHandler(sniffer)
  }
}

/// The connection limit is reached.
struct TooManyConnections: Error {}
