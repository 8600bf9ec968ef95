internal import NIOCore

/// Passes what arrives on an HTTP/1.1 connection to its parser in pieces, so that it can wait after each of them: a read of
/// 64 KiB may have ten thousand chunks of a byte, which the parser would pass on before anything else happens, or two thousand
/// requests, which take many times the memory of their bytes while the response to the first one waits.
final class HTTP1Input: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private var context: ChannelHandlerContext?
  private var waiting = ByteBuffer()
  private var isPaused = false
  private var isPassing = false
  /// The bytes passed on since the parser last returned a part of a request, which it holds: header fields or trailers
  /// without an end. The reader of the parts sets it to zero.
  var unparsedBytes = 0

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var buffer = unwrapInboundIn(data)
    if waiting.readableBytes == 0 { waiting = buffer } else { waiting.writeBuffer(&buffer) }
    pass()
  }

  /// Lets the rest wait, or passes it on until it is paused again.
  func setPaused(_ isPaused: Bool) {
    self.isPaused = isPaused
    pass()
  }

  private func pass() {
    // A piece may end the wait that it began.
    guard !isPassing else { return }
    isPassing = true
    defer { isPassing = false }
    while !isPaused, waiting.readableBytes > 0, let context {
      let count = min(waiting.readableBytes, Self.pieceBytes)
      guard let piece = waiting.readSlice(length: count) else { break }
      unparsedBytes += count
      context.fireChannelRead(wrapInboundOut(piece))
    }
    // Its memory is that of a read.
    if waiting.readableBytes == 0 { waiting = ByteBuffer() }
  }

  private static let pieceBytes = 4 * 1_024
}
