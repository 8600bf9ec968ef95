internal import HTTP
internal import NIOCore
internal import NIOHTTP1

// The responses, with bodies that are whole or sent in parts.
extension HTTP1Handler {
  /// Writes a response. A stream to a caller of HTTP/1.0 ends with its connection, because that version has no
  /// chunks. So does the response to HEAD, after which NIO would write the last chunk of a body that it does not have.
  func write(
    _ response: HTTPResponse, to request: HTTPRequestHead, _ context: ChannelHandlerContext,
    closes: Bool = false
  ) {
    if response.status < 400, !isPublic, let pace {
      pace.release()
      self.pace = nil
    }
    if response.status >= 400 { addWork(TransportLimits.costOfRefusal, context) }
    reportIncomplete(0, context)
    // Without transfer codings, the end of the connection is the end of the body.
    let isUnframed = response.stream != nil && (request.isBefore1_1 || request.method == .HEAD)
    let keepsAlive = keepsAlive(request) && !closes && !isUnframed
    var headers = HTTPHeaders(response.headers.strings)
    if response.hasLength {
      headers.replaceOrAdd(name: "content-length", value: String(response.body.count))
    }
    if !keepsAlive { headers.replaceOrAdd(name: "connection", value: "close") }
    let head = HTTPResponseHead(
      version: isUnframed ? .http1_0 : .http1_1,
      status: HTTPResponseStatus(statusCode: response.status), headers: headers)
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    if request.method != .HEAD {
      if let stream = response.stream { return send(stream, to: request, context, closes: isUnframed) }
      if !response.body.isEmpty {
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: response.body)))), promise: nil)
      }
    }
    finish(keepsAlive: keepsAlive, context)
  }

  func keepsAlive(_ request: HTTPRequestHead) -> Bool {
    request.isKeepAlive && !request.asksForUpgrade && !isDraining && !drainState.hasBegun
  }

  /// Ends the response, and the connection unless it is kept alive.
  func finish(keepsAlive: Bool, _ context: ChannelHandlerContext) {
    isResponding = false
    if keepsAlive {
      state = .idle
      wait(limits.times.idle)
    } else {
      state = .ended
      ignoreFurtherInput(context)
    }
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    reportUnread(context)
    if !keepsAlive { endAfterOutput(context) }
    updateInput()
  }

  /// Closes the output only: closing both sides would reset the connection if more input had arrived, and the peer would
  /// lose unread bytes (RFC 9112, section 9.6).
  func endAfterOutput(_ context: ChannelHandlerContext) {
    state = .ended
    body = []
    reportIncomplete(0, context)
    wait(Self.closeLinger)
    context.close(mode: .output, promise: nil)
  }

  /// In milliseconds: the time for the peer to read the last response.
  private static let closeLinger: Int64 = 1_000

  /// Sends a body while its producer runs.
  func send(
    _ stream: HTTPBodyStream, to request: HTTPRequestHead, _ context: ChannelHandlerContext, closes: Bool
  ) {
    let body = StreamedBody()
    state = .streaming(body)
    end = nil
    context.flush()
    let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
    body.start(stream, on: context.eventLoop) { part in
      let (handler, context) = bound.value
      return handler.send(part, context)
    } end: {
      let (handler, context) = bound.value
      guard case .streaming = handler.state, handler.context != nil else { return }
      handler.finish(keepsAlive: handler.keepsAlive(request) && !closes, context)
    }
    if isDraining { body.retire() }
  }

  /// Sends a part of a body; returns whether the next one may follow at once.
  private func send(_ part: [UInt8], _ context: ChannelHandlerContext) -> Bool {
    guard case .streaming = state, self.context != nil else { return true }
    context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: part)))), promise: nil)
    reportUnread(context)
    return context.channel.isWritable
  }
}
