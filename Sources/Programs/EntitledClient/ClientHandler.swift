internal import HTTP
internal import HTTP2
internal import NIOCore

/// The client side of one HTTP/2 connection, on its event loop, with one ``ClientExchange`` for each request. All
/// functions must be called on that event loop.
final class ClientHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let session: Session
  private var context: ChannelHandlerContext?
  private var exchanges: [StreamID: any ClientExchange] = [:]
  private var events: [SessionEvent] = []
  private var isFlushing = false
  /// Whether a flush was requested during a flush.
  private var needsAnotherFlush = false
  /// The first error of the connection or of TLS.
  private var fault: String?
  /// The first bytes of the server, which tell another protocol.
  private var opening: [UInt8] = []

  /// Creates a session that sends its preface when the channel is active.
  init() throws(HTTP2Error) { session = try Session.client() }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    if context.channel.isActive { flush() }
  }

  func channelActive(context: ChannelHandlerContext) {
    flush()
    context.fireChannelActive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let received: Result<Void, HTTP2Error> = unwrapInboundIn(data).withUnsafeReadableBytes { bytes in
      opening += bytes.prefix(Self.openingLength - opening.count)
      do throws(HTTP2Error) {
        return .success(try session.receive(bytes))
      } catch {
        return .failure(error)
      }
    }
    if case .failure = received { return context.close(promise: nil) }
    handleEvents()
    flush()
  }

  func channelInactive(context: ChannelHandlerContext) {
    let lost = exchanges.values
    exchanges = [:]
    self.context = nil
    for exchange in lost { exchange.lost(reason) }
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    fault = fault ?? ClientTLS.reason(of: error)
    context.close(promise: nil)
  }

  /// The reason why the connection ended; `nil` if it is unknown.
  private var reason: String? {
    if let fault { return fault }
    // An alert of TLS (RFC 8446, section 5.1): the server cannot read cleartext.
    if opening.starts(with: [0x15, 0x03]) { return "the server requires TLS; set --tls" }
    return opening.elementsEqual("HTTP/".utf8) ? "the server does not speak HTTP/2" : nil
  }

  /// Enough to recognize TLS and HTTP/1.
  private static let openingLength = 5

  /// Sends a request with its complete body; `exchange` receives the response.
  func send(_ fields: HeaderFields, body: [UInt8], _ exchange: any ClientExchange) {
    guard let id = open(fields, endOfStream: body.isEmpty, exchange) else { return }
    guard !body.isEmpty else { return }
    session.send(on: id) { $0 += body }
    finish(id)
  }

  /// Opens a stream whose body follows. If the connection is closed, returns `nil` and reports the exchange as lost.
  func open(_ fields: HeaderFields, endOfStream: Bool = false, _ exchange: any ClientExchange) -> StreamID? {
    guard context != nil, let id = try? session.request(fields, endOfStream: endOfStream) else {
      exchange.lost(reason)
      return nil
    }
    exchanges[id] = exchange
    flush()
    return id
  }

  /// Sends a part of a request body. Returns whether the next part may follow immediately.
  func send(_ id: StreamID, _ append: (inout [UInt8]) -> Void) -> Bool {
    session.send(on: id, append)
    flush()
    return session.unsentCount(of: id) < Self.backlogBytes
  }

  /// Ends a request body.
  func finish(_ id: StreamID) {
    session.finish(id)
    flush()
  }

  /// Continues to read a response after its mailbox has room again.
  func resume(_ id: StreamID) {
    exchanges[id]?.received(id, session)
    flush()
  }

  /// Resets a stream, unless its response is complete.
  func cancel(_ id: StreamID) {
    guard exchanges.removeValue(forKey: id) != nil else { return }
    session.reset(id, .cancel)
    flush()
  }

  /// The maximum number of unsent body bytes of one request.
  private static let backlogBytes = 128 * 1_024

  /// Sends GOAWAY and closes the connection.
  func close() {
    session.finishGoAway()
    flush()
    context?.close(promise: nil)
  }

  /// Handles the events that the session has collected.
  private func handleEvents() {
    session.takeEvents(into: &events)
    for event in events { handle(event) }
  }

  /// Passes an event to the exchange of its stream; those of cancelled streams have none.
  private func handle(_ event: SessionEvent) {
    switch event {
    case .headers(let id, let endOfStream), .data(let id, let endOfStream):
      endOfStream ? ended(id) : exchanges[id]?.received(id, session)
    case .trailers(let id): ended(id)
    case .headersTooLarge(let id): session.reset(id, .cancel)
    case .drained(let id): exchanges[id]?.drained()
    case .closed(let id, _): exchanges.removeValue(forKey: id)?.lost(nil)
    case .goAway, .pong: return
    }
  }

  /// Ends an exchange with its complete response.
  private func ended(_ id: StreamID) { exchanges.removeValue(forKey: id)?.ended(id, session) }

  /// Writes the output of the session, and handles the events of the writing, mostly drained bodies.
  private func flush() {
    guard !isFlushing else { return needsAnotherFlush = true }
    isFlushing = true
    defer { isFlushing = false }
    repeat {
      needsAnotherFlush = false
      guard let context, write(context) else { return }
      handleEvents()
    } while needsAnotherFlush
    if session.isFinished { context?.close(promise: nil) }
  }

  /// Writes the output of the session. Returns whether the connection stays open.
  private func write(_ context: ChannelHandlerContext) -> Bool {
    var output = context.channel.allocator.buffer(capacity: 1_024)
    do throws(HTTP2Error) {
      try session.withOutput { piece in
        output.writeBytes(piece)
        return true
      }
    } catch {
      context.close(promise: nil)
      return false
    }
    if output.readableBytes > 0 { context.writeAndFlush(wrapOutboundOut(output), promise: nil) }
    return true
  }
}
