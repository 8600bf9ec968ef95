internal import HTTP
internal import Logging
internal import NIOCore
internal import NIOHTTP1

/// Builds the channel pipeline of each connection.
final class ConnectionInitializer: Sendable {
  private let service: Listener.Service
  private let contexts: EventLoopContexts
  private let logger: Logger
  private let held: PeerBytes
  private let waiting: WaitingRequests
  /// The rate at which connections are accepted.
  let pace: ConnectionPace
  /// Whether the listener drains.
  let drainState = DrainState()

  init(_ service: Listener.Service, logger: Logger) {
    self.service = service
    self.logger = logger
    pace = ConnectionPace(perSecond: service.limits.unusedConnections)
    held = service.held ?? PeerBytes(service.limits)
    waiting = WaitingRequests(bytes: service.limits.incompleteRequestBytes)
    contexts = EventLoopContexts(
      make: service.makeHost, tick: .milliseconds(service.limits.times.tick))
  }

  /// Prepares the event loops.
  func prepare(_ group: any EventLoopGroup) async { await contexts.prepare(group) }

  /// The number of open HTTP/2 calls at the last check.
  var openStreams: Int { contexts.openStreams }

  /// Builds the pipeline.
  func configure(_ channel: any Channel) throws {
    let operations = channel.pipeline.syncOperations
    let host = contexts.context(of: channel.eventLoop)
    if let tls = service.tls {
      try operations.addHandler(PlainHTTPRefusal(host.timers))
      try operations.addHandler(tls.makeHandler())
    }
    let timeout = TimeAmount.milliseconds(service.limits.times.handshake)
    let sniffer = ProtocolSniffer(timeout: timeout, timers: host.timers) {
      [service, held, waiting, pace, logger, drainState] isHTTP2, context in
      let operations = context.pipeline.syncOperations
      let peer = PeerCertificate.of(operations)
      let http = HTTPResponder(
        handler: service.http, refusal: service.refusal, threads: service.threads,
        isPublic: service.isPublic, isPreferred: service.isPreferred, waiting: waiting)
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
