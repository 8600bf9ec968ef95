internal import HTTP
internal import HTTP2
internal import NIOCore

/// The client's side of one HTTP/2 connection, on its event loop: with a `ClientExchange` for each request.
final class ClientHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let session: Session
  private var context: ChannelHandlerContext?
  private var exchanges: [StreamID: any ClientExchange] = [:]
  private var events: [SessionEvent] = []
  private var isFlushing = false
  /// More was said while what was said before was written.
  private var flushesAgain = false

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
    for exchange in lost { exchange.lost() }
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  /// Sends a request with its whole body; the exchange gets its answer.
  func send(_ fields: HeaderFields, body: [UInt8], _ exchange: any ClientExchange) {
    guard let id = open(fields, endOfStream: body.isEmpty, exchange) else { return }
    guard !body.isEmpty else { return }
    session.send(on: id) { $0 += body }
    finish(id)
  }

  /// Opens a stream with a request; its body comes later. `nil`, and the exchange is lost, if there can be none.
  func open(_ fields: HeaderFields, endOfStream: Bool = false, _ exchange: any ClientExchange) -> StreamID? {
    guard context != nil, let id = try? session.request(fields, endOfStream: endOfStream) else {
      exchange.lost()
      return nil
    }
    exchanges[id] = exchange
    flush()
    return id
  }

  /// Sends a part of a request's body; answers whether the next may follow at once.
  func send(_ id: StreamID, _ append: (inout [UInt8]) -> Void) -> Bool {
    session.send(on: id, append)
    flush()
    return session.unsentCount(of: id) < Self.backlogBytes
  }

  /// Ends a request's body.
  func finish(_ id: StreamID) {
    session.finish(id)
    flush()
  }

  /// Takes more of an answer, for which there is room now.
  func resume(_ id: StreamID) {
    exchanges[id]?.received(id, session)
    flush()
  }

  /// Gives a request up, unless it has its answer.
  func cancel(_ id: StreamID) {
    guard exchanges.removeValue(forKey: id) != nil else { return }
    session.reset(id, .cancel)
    flush()
  }

  /// Bytes of one request's body that may wait for the server.
  private static let backlogBytes = 128 * 1_024

  /// Says goodbye and closes.
  func close() {
    session.finishGoAway()
    flush()
    context?.close(promise: nil)
  }

  private func handleEvents() {
    session.takeEvents(into: &events)
    for event in events { handle(event) }
  }

  private func handle(_ event: SessionEvent) {
    switch event {
    case .headers(let id, let endOfStream), .data(let id, let endOfStream):
      endOfStream ? ended(id) : exchanges[id]?.received(id, session)
    case .trailers(let id): ended(id)
    case .headersTooLarge(let id): session.reset(id, .cancel)
    case .drained(let id): exchanges[id]?.drained()
    case .closed(let id, _): exchanges.removeValue(forKey: id)?.lost()
    case .goAway, .pong: return
    }
  }

  private func ended(_ id: StreamID) { exchanges.removeValue(forKey: id)?.ended(id, session) }

  /// Writes what the session has to say, and hears what came of that: bodies that are sent, mostly.
  private func flush() {
    guard !isFlushing else { return flushesAgain = true }
    isFlushing = true
    defer { isFlushing = false }
    repeat {
      flushesAgain = false
      guard let context, write(context) else { return }
      handleEvents()
    } while flushesAgain
    if session.isFinished { context?.close(promise: nil) }
  }

  /// Writes what the session has to say; answers whether the connection goes on.
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
