internal import HTTP
internal import HTTP2
internal import Logging
internal import NIOCore
internal import RPC

/// One HTTP/2 connection on its event loop: passes bytes from the socket to the session and events of the
/// session to the calls, and writes all responses of a tick together.
///
/// Confined to its loop. It keeps state only for streams that are not answered at once; a unary call with a
/// complete request and a synchronous handler has none.
final class HTTP2Handler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  let session: Session
  let host: EventLoopContext
  let http: HTTPResponder
  let limits: TransportLimits
  let peer: PeerCertificate?
  let logger: Logger
  let held: PeerBytes
  /// `nil` until the peer leaves a response unread.
  var unread: HeldBytes.Account?
  /// `nil` until a part of a request waits for the rest.
  var incomplete: HeldBytes.Account?
  /// `nil` once the connection has returned its token.
  private var pace: ConnectionPace?

  /// The calls that wait for their request or their handler.
  var exchanges: [StreamID: any Exchange] = [:]
  private(set) var context: ChannelHandlerContext?
  /// The IP address of the peer; empty if it has none. Made at the first request that needs it.
  private(set) lazy var remoteIPAddress = context?.remoteAddress?.ipAddress ?? ""
  private(set) lazy var remoteNetwork = PeerNetwork(address: remoteIPAddress)
  private var events: [SessionEvent] = []
  private var output = ByteBuffer()
  /// The streams to reset after their output is sent, because nghttp2 drops output at a reset.
  private var resetsAfterOutput: [StreamID] = []
  private var isReading = false
  private var flushIsScheduled = false
  var hasPausedReads = false
  /// Whether input waits because it costs much. The part of it that was read from the socket is in ``delayedInput``.
  var isDelayed = false
  var delayedInput = ByteBuffer()
  /// The time of input with ``Session/work`` since the connection last waited.
  var costlyTime = TimeAmount.zero
  /// The number of calls and requests that were started as tasks.
  var startedTasks = 0
  private(set) var isClosing = false
  var isEnding = false
  /// Cached from the channel: the query costs as much as a header field, and a call needs it four times.
  private var isActive = false
  private(set) var isWritable = true
  var isDraining = false
  var hasFinishedDraining = false
  var lifetime: ConnectionLifetime
  /// Activity since the last check.
  var hasReceived = false
  var bodyBytesSeen: Int64 = 0
  var newestStreamSeen: StreamID?

  init(
    host: EventLoopContext, http: HTTPResponder, limits: TransportLimits, peer: PeerCertificate?,
    held: PeerBytes, pace: ConnectionPace, logger: Logger
  ) throws {
    self.session = try Session.server(limits: limits.http2)
    self.host = host
    self.http = http
    self.limits = limits
    self.peer = peer
    self.logger = logger
    self.held = held
    self.pace = pace
    lifetime = ConnectionLifetime(
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
    var buffer = unwrapInboundIn(data)
    if isDelayed {
      delayedInput.writeBuffer(&buffer)
    } else {
      read(buffer)
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    isReading = false
    // A part of a frame needs no response, and a peer may send each byte by itself.
    if session.hasOutput { scheduleFlush() } else { settle() }
    context.fireChannelReadComplete()
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    isWritable = context.channel.isWritable
    if isWritable { flush() }
    updateReading()
    context.fireChannelWritabilityChanged()
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

  func handleEvents() {
    // Moved out of the object during the loop, so that the memory is reused and never copied.
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
    // Most calls were answered with their header fields, because the message arrived with them.
    guard !exchanges.isEmpty else { return }
    exchanges[id]?.received()
  }

  private func refuseHeaders(_ id: StreamID) {
    if let fields = session.head(of: id), RequestHead(fields, methods: host.methods).contentType == .grpc {
      let limit = limits.http2.headerBytes
      return refuse(id, Status(.resourceExhausted, "the header fields exceed the limit of \(limit) bytes"))
    }
    answerPlain(id, .headersTooLarge(limit: limits.http2.headerBytes))
  }

  private func closed(_ id: StreamID) {
    guard !exchanges.isEmpty else { return }
    exchanges.removeValue(forKey: id)?.closed()
  }

  private func endAll() {
    endCalls()
    context = nil
    host.unwatch(self)
  }

  /// Cancels all calls.
  func endCalls() {
    let open = exchanges
    exchanges = [:]
    for exchange in open.values { exchange.closed() }
    unread?.close()
    incomplete?.close()
  }

  func fail(_ error: HTTP2Error) {
    logger.debug("closing connection after a protocol error", metadata: ["error": "\(error)"])
    flush()
    context?.close(promise: nil)
  }

  /// Records that a call has succeeded.
  func succeeded() {
    guard let pace else { return }
    pace.release()
    self.pace = nil
  }

  // MARK: Output

  /// Flushes the output of the session at the end of the tick.
  func scheduleFlush() {
    guard !isReading, !flushIsScheduled, context != nil else { return }
    flushIsScheduled = true
    host.flushAtEndOfTick(self)
  }

  /// Resets a stream whose caller is still sending, once its response is sent (RFC 9113, section 8.1).
  func resetAfterOutput(_ id: StreamID) { resetsAfterOutput.append(id) }

  /// Writes the output of the session, and handles the resulting events.
  func flush() {
    flushIsScheduled = false
    guard !isClosing, isActive, let context else { return }
    do throws(HTTP2Error) {
      if try writeOutput(context), !resetsAfterOutput.isEmpty {
        resetAnswered()
        _ = try writeOutput(context)
      }
      // Sending closes streams and drains bodies.
      handleEvents()
      if session.unsentBytes > limits.connectionBacklogBytes { return checkBacklog() }
    } catch {
      logger.debug("send failed", metadata: ["error": "\(error)"])
      context.close(promise: nil)
      return
    }
    settle()
  }

  /// Reports what the peer makes the server hold, and closes a connection that both sides have finished.
  private func settle() {
    guard !isClosing, context != nil else { return }
    reportHeld()
    if session.isFinished { closeAfterOutput() }
  }

  /// Closes the output, and lingers until the peer closes its side. Closing both would reset the connection
  /// if unread input had arrived, and the peer would lose unread bytes (RFC 9112, section 9.6).
  func closeAfterOutput() {
    guard !isClosing, let context else { return }
    isClosing = true
    context.close(mode: .output, promise: nil)
    _ = schedule(in: .seconds(1)) { [self] in self.context?.close(promise: nil) }
  }

  /// Resets the streams whose responses are sent.
  private func resetAnswered() {
    resetsAfterOutput.removeAll { id in
      guard session.unsentCount(of: id) == 0 else { return false }
      if !session.hasInboundEnded(of: id) { session.reset(id, .noError) }
      return true
    }
  }

  /// Writes while the socket is writable; returns whether all output is written.
  private func writeOutput(_ context: ChannelHandlerContext) throws(HTTP2Error) -> Bool {
    // An array collects the pieces, three for a call, because a `ByteBuffer` costs much more to append to.
    var pieces = host.takeOutputBuffer()
    defer { host.returnOutputBuffer(&pieces) }
    var isComplete = false
    while !isComplete, isWritable {
      pieces.removeAll(keepingCapacity: true)
      isComplete = true
      try session.withOutput { piece in
        pieces.append(contentsOf: piece)
        isComplete = pieces.count < Self.writeSize
        return isComplete
      }
      guard !pieces.isEmpty else { return true }
      output.clear(minimumCapacity: pieces.count)
      output.writeBytes(pieces)
      context.writeAndFlush(wrapOutboundOut(output), promise: nil)
    }
    return isComplete
  }

  /// The approximate maximum size of one write to the socket.
  private static let writeSize = 256 * 1_024
}

/// A stream that is not answered at once. Called on the event loop of the connection.
protocol Exchange: AnyObject {
  /// More of the request has arrived, or its end.
  func received()
  /// All output has been written to the socket.
  func drained()
  /// The stream is closed; no more can be sent.
  func closed()
  /// The client was asked to open another connection.
  func retire()
}

extension Exchange {
  func retire() {}
}
