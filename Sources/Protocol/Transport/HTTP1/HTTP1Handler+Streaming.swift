internal import HTTP
internal import NIOCore
internal import NIOHTTP1

// Responses whose bodies are sent in parts.
extension HTTP1Handler {
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
      handler.finish(handler.keepsAlive(request) && !closes, context)
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
