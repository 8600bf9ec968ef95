internal import HTTP
internal import Logging
internal import NIOCore
internal import NIOHTTP1

/// One HTTP/1.1 connection on its event loop: collects a request, calls the handler, writes the response, and
/// then reads the next request, which NIO's pipelining handler delays until then.
final class HTTP1Handler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  /// The progress of the connection's current request.
  enum State {
    case idle
    case collecting(HTTPRequestHead)
    /// The request is complete, but the peer has not read the responses to the earlier ones.
    case waiting(HTTPRequestHead)
    case answering
    /// A response without an end yet.
    case streaming(StreamedBody)
    /// The last response is written; no more input is read.
    case ended
  }

  let host: EventLoopContext
  private let http: HTTPResponder
  let limits: TransportLimits
  private let peer: PeerCertificate?
  let held: PeerBytes
  /// `nil` until the peer leaves a response unread.
  var unread: HeldBytes.Account?
  /// `nil` until a part of a request waits for the rest.
  var incomplete: HeldBytes.Account?
  /// `nil` once the connection has returned its token.
  var pace: ConnectionPace?
  /// Whether the current request needs no credential.
  var isPublic = false
  let drainState: DrainState
  private let logger: Logger
  let input: HTTP1Input
  var state = State.idle
  /// The body of the request so far. Not in the state, because each change of that would copy it.
  var body: [UInt8] = []
  private var task: Task<Void, Never>?
  private(set) var isDraining = false
  private(set) var context: ChannelHandlerContext?
  /// The work since the connection last waited, in bytes of bodies that were read, and whether it waits.
  var work = 0
  var isDelayed = false
  /// Whether a request is complete, and its response is not.
  var isResponding = false
  /// The deadline of the peer; `nil` while the handler runs.
  var end: NIODeadline?
  /// The bytes that the peer had not read at the last check, and since when.
  var stall: (bytes: Int, since: NIODeadline)?

  init(
    host: EventLoopContext, http: HTTPResponder, limits: TransportLimits, peer: PeerCertificate?,
    held: PeerBytes, pace: ConnectionPace, drainState: DrainState, input: HTTP1Input, logger: Logger
  ) {
    self.host = host
    self.input = input
    self.http = http
    self.limits = limits
    self.peer = peer
    self.held = held
    self.pace = pace
    self.drainState = drainState
    self.logger = logger
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    wait(limits.times.request)
    host.watch(self)
  }

  func handlerRemoved(context: ChannelHandlerContext) { leave() }

  private func leave() {
    if case .streaming(let body) = state { body.close() }
    unread?.close()
    incomplete?.close()
    host.unwatch(self)
    context = nil
  }

  func wait(_ milliseconds: Int64) { end = .now() + .milliseconds(milliseconds) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let part = unwrapInboundIn(data)
    input.unparsedBytes = 0
    if case .body(let bytes) = part { countBody(bytes.readableBytes, context) }
    switch (part, state) {
    case (_, .ended): return
    case (.head(let head), _): begin(head, context)
    case (.body(let part), .collecting(let head)): append(part, to: head, context)
    case (.end, .collecting(let head)): complete(head, context)
    case (.body, _), (.end, _): return
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    defer { context.fireChannelReadComplete() }
    // What follows the last request is not kept.
    if case .ended = state { return }
    if input.unparsedBytes > 0 { reportIncomplete(body.count + input.unparsedBytes, context) }
  }

  /// Begins to collect a request, or refuses it.
  private func begin(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
    if let refusal = head.refusal(limits) {
      state = .answering
      return write(refusal, to: head, context, closes: true)
    }
    state = .collecting(head)
    wait(limits.times.request)
    if head.expectsContinue {
      let interim = HTTPResponseHead(version: .http1_1, status: .continue)
      context.writeAndFlush(wrapOutboundOut(.head(interim)), promise: nil)
    }
  }

  /// Appends a part of the body, or refuses a request whose body is too long.
  private func append(_ part: ByteBuffer, to head: HTTPRequestHead, _ context: ChannelHandlerContext) {
    body.reserve(part.readableBytes, of: head)
    body.append(contentsOf: part.readableBytesView)
    guard body.count <= limits.bodyBytes else {
      // Its length was not announced. The rest is read for a while, so that the peer gets the response.
      body = []
      return write(.bodyTooLarge(limit: limits.bodyBytes), to: head, context, closes: true)
    }
    reportIncomplete(body.count, context)
  }

  /// Starts a complete request, unless the peer has yet to read the responses to the earlier ones.
  private func complete(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
    end = nil
    isResponding = true
    updateInput()
    guard context.channel.isWritable else { return state = .waiting(head) }
    start(head, context)
  }

  func channelInactive(context: ChannelHandlerContext) {
    task?.cancel()
    leave()
    context.fireChannelInactive()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard event is DrainEvent else { return context.fireUserInboundEventTriggered(event) }
    isDraining = true
    switch state {
    case .idle: closeAfterLinger(context)
    case .streaming(let body): body.retire()
    default: return
    }
  }

  /// Lingers before closing an idle connection, so that a request in flight is still answered.
  private func closeAfterLinger(_ context: ChannelHandlerContext) {
    let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
    context.eventLoop.scheduleTask(in: Self.drainLinger) {
      let (handler, context) = bound.value
      if case .idle = handler.state { context.close(promise: nil) }
    }
  }

  /// Longer than the transit time of a request.
  private static let drainLinger = TimeAmount.milliseconds(300)

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    logger.debug("connection failed", metadata: ["error": "\(error)"])
    switch (error, state) {
    // The input after an invalid request is not read.
    case (ByteToMessageDecoderError.dataReceivedInErrorState, _), (is HTTPParserError, .ended): return
    // NIO has answered it, and the peer gets the time to read that.
    case (is HTTPParserError, _): endAfterOutput(context)
    default: context.close(promise: nil)
    }
  }

  /// Backpressure: the next request starts when the peer has read most of the responses to the earlier ones.
  func channelWritabilityChanged(context: ChannelHandlerContext) {
    reportUnread(context)
    if context.channel.isWritable {
      switch state {
      case .waiting(let head): start(head, context)
      case .streaming(let body): body.resume()
      default: break
      }
    }
    context.fireChannelWritabilityChanged()
  }

  /// Starts the handler of a complete request; its response arrives on the event loop.
  private func start(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
    state = .answering
    reportIncomplete(0, context)
    var request = HTTPRequest(head, body: body)
    body = []
    request.peer = peer
    request.address = context.remoteAddress?.ipAddress ?? ""
    isPublic = http.isPublic(request)
    let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
    task = http.start(request, host.mailbox) { response in
      let (handler, context) = bound.value
      guard context.channel.isActive else { return }
      guard response.status != HTTPResponse.noResponseStatus else { return context.close(promise: nil) }
      handler.write(response, to: head, context)
    }
  }
}
