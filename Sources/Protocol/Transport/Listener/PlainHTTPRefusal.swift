internal import NIOCore

/// Answers a request in plain HTTP to a port with TLS, because TLS closes the connection without a reason that a client shows.
///
/// Looks at the first bytes of a connection only, and removes itself if they may be TLS. A client of HTTP/2 gets an alert of
/// TLS, because it would take a response of HTTP/1.1 for an old server.
final class PlainHTTPRefusal: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let timers: LoopTimers
  private var hasAnswered = false

  init(_ timers: LoopTimers) { self.timers = timers }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !hasAnswered else { return }
    let start = unwrapInboundIn(data).readableBytesView.prefix(3)
    // A record of TLS begins with its type, a number below 32; a method with a letter.
    let isMethod = start.first.map { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 } ?? false
    let isHTTP2 = start.elementsEqual("PRI".utf8)
    guard isMethod, isHTTP2 || !"PRI".utf8.starts(with: start) else {
      context.fireChannelRead(data)
      return context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }
    hasAnswered = true
    let answer = isHTTP2 ? ByteBuffer(bytes: Self.alert) : ByteBuffer(string: Self.response)
    context.writeAndFlush(wrapOutboundOut(answer), promise: nil)
    // Closing both sides would reset the connection if more input had arrived (RFC 9112, section 9.6), and the client would
    // not see the answer.
    context.close(mode: .output, promise: nil)
    let channel = context.channel
    _ = timers.schedule(in: .seconds(1)) { channel.close(promise: nil) }
  }

  /// The record of a fatal alert `protocol_version` (RFC 8446, sections 5.1 and 6.2).
  private static let alert: [UInt8] = [0x15, 0x03, 0x01, 0, 2, 2, 70]
  private static let response = """
    HTTP/1.1 400 Bad Request\r
    content-type: text/plain\r
    content-length: \(reason.utf8.count)\r
    connection: close\r
    \r
    \(reason)
    """
  private static let reason = "plain HTTP on a port with TLS: use https\n"
}
