internal import HTTP
internal import HTTP2
internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import Platform

/// One HTTP/1.1 connection on its event loop: collects a request, asks the handler, writes the answer,
/// and then takes the next (NIO's pipelining handler holds it back until then).
final class HTTP1Handler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private enum State {
    case idle
    case collecting(HTTPRequestHead, [UInt8])
    /// The body was too large: the rest is read and dropped.
    case refused(HTTPRequestHead)
    case answering
    /// The last answer is out: whatever comes is not read any more.
    case ended
  }

  private let host: EventLoopContext
  private let http: HTTPHandler
  private let limits: TransportLimits
  private let peer: PeerCertificate?
  private let departure: DrainState
  private let logger: Logger
  private var state = State.idle
  private var task: Task<Void, Never>?
  private var isDraining = false
  private var context: ChannelHandlerContext?
  /// When the connection is closed if it does not go on; `nil` while it is our turn.
  private var end: NIODeadline?

  init(
    host: EventLoopContext, http: @escaping HTTPHandler, limits: TransportLimits, peer: PeerCertificate?,
    departure: DrainState, logger: Logger
  ) {
    self.host = host
    self.http = http
    self.limits = limits
    self.peer = peer
    self.departure = departure
    self.logger = logger
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    wait(limits.times.request)
    host.watch(self)
  }

  func handlerRemoved(context: ChannelHandlerContext) { leave() }

  private func leave() {
    host.unwatch(self)
    context = nil
  }

  private func wait(_ milliseconds: Int64) { end = .now() + .milliseconds(milliseconds) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch (unwrapInboundIn(data), state) {
    case (_, .ended): return
    case (.head(let head), _) where head.sizeInBytes > limits.http2.headerBytes:
      state = .answering
      write(.headersTooLarge(limit: limits.http2.headerBytes), to: head, context, closes: true)
    case (.head(let head), _):
      state = .collecting(head, [])
      wait(limits.times.request)
      if head.headers.first(name: "expect")?.lowercased() == "100-continue" {
        let interim = HTTPResponseHead(version: .http1_1, status: .continue)
        context.writeAndFlush(wrapOutboundOut(.head(interim)), promise: nil)
      }
    case (.body(let part), .collecting(let head, var body)):
      // Let go of the state's copy first, so that the body grows in place.
      state = .idle
      body.append(contentsOf: part.readableBytesView)
      state = body.count > limits.bodyBytes ? .refused(head) : .collecting(head, body)
    case (.end, .collecting(let head, let body)):
      state = .answering
      end = nil
      start(head, body, context)
    case (.end, .refused(let head)):
      write(.bodyTooLarge(limit: limits.bodyBytes), to: head, context)
    case (.body, _), (.end, _):
      return
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    task?.cancel()
    leave()
    context.fireChannelInactive()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard event is DrainEvent else { return context.fireUserInboundEventTriggered(event) }
    isDraining = true
    if case .idle = state { closeUnlessAsked(context) }
  }

  /// A request may be on its way when an idle connection is to end; it is answered yet.
  private func closeUnlessAsked(_ context: ChannelHandlerContext) {
    let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
    context.eventLoop.scheduleTask(in: Self.longestWay) {
      let (handler, context) = bound.value
      if case .idle = handler.state { context.close(promise: nil) }
    }
  }

  /// More than a request takes from one end of the network to the other.
  private static let longestWay = TimeAmount.milliseconds(300)
  /// For an answer to be read before the connection is gone, in milliseconds.
  private static let lastWords: Int64 = 1_000

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    logger.debug("connection failed", metadata: ["error": "\(error)"])
    context.close(promise: nil)
  }

  private func start(_ head: HTTPRequestHead, _ body: [UInt8], _ context: ChannelHandlerContext) {
    var request = HTTPRequest(
      method: head.method.rawValue, target: head.uri,
      headers: HeaderFields(head.headers.map { ($0.name.lowercased(), $0.value) }), body: body)
    request.peer = peer
    let loop = context.eventLoop
    let bound = NIOLoopBound((handler: self, context: context), eventLoop: loop)
    let http = http
    task = Task { [request] in
      ThreadPriority.setBackground()
      let response = await http(request)
      loop.execute {
        let (handler, context) = bound.value
        guard context.channel.isActive else { return }
        guard response.status != HTTPResponse.noResponseStatus else { return context.close(promise: nil) }
        handler.write(response, to: head, context)
      }
    }
  }

  private func write(
    _ response: HTTPResponse, to request: HTTPRequestHead, _ context: ChannelHandlerContext,
    closes: Bool = false
  ) {
    let keepsAlive = request.isKeepAlive && !isDraining && !departure.hasBegun && !closes
    state = keepsAlive ? .idle : .ended
    wait(keepsAlive ? limits.times.idle : Self.lastWords)
    var headers = HTTPHeaders(response.headers.strings)
    headers.replaceOrAdd(name: "content-length", value: String(response.body.count))
    if !keepsAlive { headers.replaceOrAdd(name: "connection", value: "close") }
    let head = HTTPResponseHead(
      version: .http1_1, status: HTTPResponseStatus(statusCode: response.status), headers: headers)
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    if request.method != .HEAD, !response.body.isEmpty {
      context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: response.body)))), promise: nil)
    }
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    // Only our side ends: to close at once would reset the connection if more had come, and the peer would lose
    // what it has not read yet (RFC 9112, section 9.6).
    if !keepsAlive { context.close(mode: .output, promise: nil) }
  }
}

extension HTTP1Handler: TimedConnection {
  /// Its requests are counted by the edge.
  var openStreams: Int { 0 }

  func tick(_ now: NIODeadline) {
    guard let end, now >= end else { return }
    context?.close(promise: nil)
  }
}

extension HTTPRequestHead {
  /// Counted as HTTP/2 does (RFC 9113, section 6.5.2).
  fileprivate var sizeInBytes: Int {
    headers.reduce(uri.utf8.count) { $0 + $1.name.utf8.count + $1.value.utf8.count + 32 }
  }
}

extension HTTPResponse {
  static func headersTooLarge(limit: Int) -> HTTPResponse {
    .text(431, "the request's header fields take more than \(limit) bytes\n")
  }
}
