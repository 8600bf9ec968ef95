internal import HTTP
internal import HTTP2
internal import Logging
internal import NIOCore
internal import NIOExtras
internal import RPC

/// One HTTP/2 connection on its event loop: bytes from the socket into the session, what the session
/// says happened to the calls, and all answers of a turn back in one write.
///
/// It is confined to its loop. What it holds per stream is only for streams that are not answered at
/// once; a unary call whose request came whole never gets an entry.
final class HTTP2Handler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  let session: Session
  let host: EventLoopContext
  let http: HTTPHandler
  let limits: TransportLimits
  let peer: PeerCertificate?
  let logger: Logger

  /// Calls that wait for more of their request or for their handler.
  var exchanges: [StreamID: any Exchange] = [:]
  private(set) var context: ChannelHandlerContext?
  private var events: [SessionEvent] = []
  private var output = ByteBuffer()
  /// Streams to reset once what was said on them is sent: nghttp2 drops what waits on a stream that is
  /// being reset.
  private var resetsAfterOutput: [StreamID] = []
  private var isReading = false
  private var flushIsScheduled = false
  private var isHoldingBack = false
  private var isClosing = false
  var isEnding = false
  /// What the channel says, remembered: asking it costs as much as a header field, and a call asks four times.
  private var isActive = false
  private(set) var isWritable = true
  var isDraining = false
  var hasFinishedDraining = false
  var life: ConnectionLifetime
  /// What the life was not told yet.
  var hasReceived = false
  var bodyBytesSeen: Int64 = 0

  init(
    host: EventLoopContext, http: @escaping HTTPHandler, limits: TransportLimits, peer: PeerCertificate?,
    logger: Logger
  ) throws {
    self.session = try Session.server(limits: limits.http2)
    self.host = host
    self.http = http
    self.limits = limits
    self.peer = peer
    self.logger = logger
    life = ConnectionLifetime(
      limits.times, now: NIODeadline.now().milliseconds, jitter: .random(in: -1...1))
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    host.watch(self)
    isActive = context.channel.isActive
    isWritable = context.channel.isWritable
    flush()
  }

  func handlerRemoved(context: ChannelHandlerContext) { endAll() }

  func channelActive(context: ChannelHandlerContext) {
    isActive = true
    flush()
    context.fireChannelActive()
  }

  func channelInactive(context: ChannelHandlerContext) {
    isActive = false
    endAll()
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isClosing else { return }
    isReading = true
    hasReceived = true
    let buffer = unwrapInboundIn(data)
    var failure: HTTP2Error?
    buffer.withUnsafeReadableBytes { bytes in
      do throws(HTTP2Error) {
        try session.receive(bytes)
      } catch {
        failure = error
      }
    }
    if let failure { return fail(failure) }
    handleEvents()
    checkBacklog()
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    isReading = false
    scheduleFlush()
    context.fireChannelReadComplete()
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    isWritable = context.channel.isWritable
    if isWritable { flush() }
    holdBack(!isWritable)
    context.fireChannelWritabilityChanged()
  }

  /// A peer that does not take our answers is not read from either: else its requests and our words about
  /// them would pile up.
  private func holdBack(_ holdsBack: Bool) {
    guard holdsBack != isHoldingBack, let channel = context?.channel else { return }
    isHoldingBack = holdsBack
    try? channel.syncOptions?.setOption(.autoRead, value: !holdsBack)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case is ChannelShouldQuiesceEvent: drain()
    default: context.fireUserInboundEventTriggered(event)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    logger.debug("connection failed", metadata: ["error": "\(error)"])
    context.close(promise: nil)
  }

  // MARK: Events

  private func handleEvents() {
    // Taken out of the object while they are gone through: their memory is used again, and never copied.
    var events: [SessionEvent] = []
    swap(&events, &self.events)
    session.takeEvents(into: &events)
    defer { swap(&events, &self.events) }
    for event in events {
      switch event {
      case .headers(let id, _): opened(id)
      case .data(let id, _), .trailers(let id): received(id)
      case .headersTooLarge(let id): refuseHeaders(id)
      case .drained(let id): exchanges[id]?.drained()
      case .closed(let id, _): closed(id)
      case .pong(let purpose): if purpose == PingPurpose.draining { finishDraining() }
      case .goAway: break
      }
    }
  }

  private func opened(_ id: StreamID) {
    guard let fields = session.head(of: id) else { return }
    let head = RequestHead(fields, methods: host.methods)
    guard head.contentType == .grpc else { return openPlain(id, fields) }
    openCall(id, head, fields)
  }

  private func received(_ id: StreamID) {
    // Mostly the call was answered when its header fields came, since its message came with them.
    guard !exchanges.isEmpty else { return }
    exchanges[id]?.received()
  }

  private func refuseHeaders(_ id: StreamID) {
    answerPlain(id, .headersTooLarge(limit: limits.http2.headerBytes))
  }

  private func closed(_ id: StreamID) {
    guard !exchanges.isEmpty else { return }
    exchanges.removeValue(forKey: id)?.closed()
  }

  private func endAll() {
    let open = exchanges
    exchanges = [:]
    for exchange in open.values { exchange.closed() }
    context = nil
    host.unwatch(self)
  }

  private func fail(_ error: HTTP2Error) {
    logger.debug("closing a connection that broke the protocol", metadata: ["error": "\(error)"])
    flush()
    context?.close(promise: nil)
  }

  // MARK: Output

  /// Sends what the session has to say at the end of the loop's turn.
  func scheduleFlush() {
    guard !isReading, !flushIsScheduled, context != nil else { return }
    flushIsScheduled = true
    host.speakAtEndOfTurn(self)
  }

  /// Ends a stream whose caller is still sending, once its answer is out (RFC 9113, section 8.1).
  func resetAfterOutput(_ id: StreamID) { resetsAfterOutput.append(id) }

  /// Writes what the session has to say, and hears what came of that.
  func flush() {
    flushIsScheduled = false
    guard !isClosing, isActive, let context else { return }
    do throws(HTTP2Error) {
      if try writeOutput(context), !resetsAfterOutput.isEmpty {
        resetAnswered()
        _ = try writeOutput(context)
      }
      // Sending closes streams and drains bodies: whoever waits for that is told now.
      handleEvents()
      if session.unsentBytes > limits.connectionBacklogBytes { return checkBacklog() }
    } catch {
      logger.debug("cannot send", metadata: ["error": "\(error)"])
      context.close(promise: nil)
      return
    }
    if session.isFinished { closeGently() }
  }

  /// Ends our side, and waits a moment for the peer to end its own. To close at once would reset the connection
  /// if anything came that was not read, and the peer would lose what it has not read yet (RFC 9112, section 9.6).
  private func closeGently() {
    guard !isClosing, let context else { return }
    isClosing = true
    context.close(mode: .output, promise: nil)
    _ = schedule(in: .seconds(1)) { [self] in self.context?.close(promise: nil) }
  }

  /// Resets the streams whose answers are out. One whose caller does not read waits for it.
  private func resetAnswered() {
    resetsAfterOutput.removeAll { id in
      guard session.unsentCount(of: id) == 0 else { return false }
      if !session.hasInboundEnded(of: id) { session.reset(id, .noError) }
      return true
    }
  }

  /// Writes while the socket takes it; answers whether all is written that can be.
  private func writeOutput(_ context: ChannelHandlerContext) throws(HTTP2Error) -> Bool {
    var isComplete = false
    while !isComplete, isWritable {
      output.clear(minimumCapacity: 4 * 1_024)
      isComplete = true
      try session.withOutput { piece in
        output.writeBytes(piece)
        isComplete = output.readableBytes < Self.writeSize
        return isComplete
      }
      guard output.readableBytes > 0 else { return true }
      context.writeAndFlush(wrapOutboundOut(output), promise: nil)
    }
    return isComplete
  }

  /// Bytes of one write to the socket, at most about that.
  private static let writeSize = 256 * 1_024
}

/// A stream that is not answered at once. Called on the connection's loop.
protocol Exchange: AnyObject {
  /// More of the request came, or its end.
  func received()
  /// All that was sent has gone to the socket.
  func drained()
  /// The stream is gone; nothing can be sent on it any more.
  func closed()
}
