internal import HTTP
internal import HTTP2
internal import NIOCore

/// The client's side of one HTTP/2 connection, on its event loop: each request waits for its whole answer.
final class ClientHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let session: Session
  private var context: ChannelHandlerContext?
  private var waiting: [StreamID: EventLoopPromise<ClientResponse>] = [:]
  private var events: [SessionEvent] = []

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
    session.takeEvents(into: &events)
    for event in events { handle(event) }
    flush()
  }

  func channelInactive(context: ChannelHandlerContext) {
    let lost = waiting.values
    waiting = [:]
    self.context = nil
    for promise in lost { promise.fail(ChannelError.eof) }
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  /// Sends a request; the promise gets its answer.
  func send(_ fields: HeaderFields, body: [UInt8], _ promise: EventLoopPromise<ClientResponse>) {
    guard context != nil else { return promise.fail(ChannelError.ioOnClosedChannel) }
    do throws(HTTP2Error) {
      let id = try session.request(fields, endOfStream: body.isEmpty)
      waiting[id] = promise
      if !body.isEmpty {
        session.send(on: id) { $0 += body }
        session.finish(id)
      }
      flush()
    } catch {
      promise.fail(error)
    }
  }

  /// Says goodbye and closes.
  func close() {
    session.finishGoAway()
    flush()
    context?.close(promise: nil)
  }

  private func handle(_ event: SessionEvent) {
    switch event {
    case .headers(let id, let endOfStream): if endOfStream { finish(id) }
    case .data(let id, let endOfStream): endOfStream ? finish(id) : allowMore(id)
    case .trailers(let id): finish(id)
    case .headersTooLarge(let id): session.reset(id, .cancel)
    case .closed(let id, _): waiting.removeValue(forKey: id)?.fail(ChannelError.eof)
    case .drained, .goAway, .pong: return
    }
  }

  private func allowMore(_ id: StreamID) {
    // Only the size of an answer that never ends could do harm, and the server is one's own.
    session.allowMore(session.inboundCount(of: id), on: id)
  }

  private func finish(_ id: StreamID) {
    guard let promise = waiting.removeValue(forKey: id) else { return }
    promise.succeed(
      ClientResponse(
        head: session.head(of: id) ?? HeaderFields(),
        body: session.inbound(of: id),
        trailers: session.trailers(of: id) ?? HeaderFields()))
  }

  private func flush() {
    guard let context else { return }
    var output = context.channel.allocator.buffer(capacity: 1_024)
    do throws(HTTP2Error) {
      try session.withOutput { piece in
        output.writeBytes(piece)
        return true
      }
    } catch {
      return context.close(promise: nil)
    }
    if output.readableBytes > 0 { context.writeAndFlush(wrapOutboundOut(output), promise: nil) }
    if session.isFinished { context.close(promise: nil) }
  }
}
