internal import NIOCore
internal import NIOTLS

/// Detects HTTP/2 or HTTP/1.1 by the first bytes of a connection, builds its pipeline, and removes itself.
///
/// Plain text has no ALPN, and an HTTP/2 client begins with a preface that no HTTP/1.1 request can begin with
/// (RFC 9113, section 3.4). With TLS, a client must speak what it negotiated, if it negotiated anything. A connection
/// that sends too little within `timeout`, TLS handshake included, is closed.
final class ProtocolSniffer: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private let configure: (_ isHTTP2: Bool, _ context: ChannelHandlerContext) throws -> Void
  private let timeout: TimeAmount
  private let timers: LoopTimers
  private var end: LoopTimer?
  private var seen = ByteBuffer()
  private var isDecided = false
  private var shouldLeave = false
  /// The protocol that ALPN selected.
  private var negotiated: String?

  /// `configure` adds the handlers of the protocol after this one; the sniffer then passes on what it has received.
  init(
    timeout: TimeAmount, timers: LoopTimers,
    configure: @escaping (_ isHTTP2: Bool, _ context: ChannelHandlerContext) throws -> Void
  ) {
    self.timeout = timeout
    self.timers = timers
    self.configure = configure
  }

  func handlerAdded(context: ChannelHandlerContext) { wait(timeout, context) }

  /// Closes the connection after `time`; replaces an earlier limit.
  private func wait(_ time: TimeAmount, _ context: ChannelHandlerContext) {
    let channel = context.channel
    end?.cancel()
    end = timers.schedule(in: time) { channel.close(promise: nil) }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .handshakeCompleted(let negotiated)? = event as? TLSUserEvent {
      self.negotiated = negotiated
    }
    guard event is ChannelShouldQuiesceEvent, !isDecided else {
      return context.fireUserInboundEventTriggered(event)
    }
    // Forwards the event once the protocol is known, and closes silent connections soon.
    shouldLeave = true
    wait(min(timeout, .seconds(1)), context)
  }

  func handlerRemoved(context: ChannelHandlerContext) { end?.cancel() }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isDecided else { return context.fireChannelRead(data) }
    var buffer = unwrapInboundIn(data)
    seen.writeBuffer(&buffer)
    let start = seen.readableBytesView.prefix(Self.preface.count)
    let mayBeHTTP2 = Self.preface.starts(with: start)
    guard !mayBeHTTP2 || start.count == Self.preface.count else { return }
    isDecided = true
    end?.cancel()
    guard negotiated == nil || mayBeHTTP2 == (negotiated == "h2") else { return context.close(promise: nil) }
    do {
      try configure(mayBeHTTP2, context)
      context.fireChannelRead(wrapInboundOut(seen))
      if shouldLeave { context.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent()) }
      context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    } catch {
      context.close(promise: nil)
    }
  }

  private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
}
