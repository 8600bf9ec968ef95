internal import HTTP2
internal import Logging
internal import NIOCore

extension HTTP2Handler: TimedConnection {
  var openStreams: Int { session.openStreams }

  /// Checks the timeouts of the connection.
  func tick(_ now: NIODeadline) {
    let seen = ConnectionLifetime.Observation(
      hasReceived: hasReceived, hasSent: session.bodyBytesSent != bodyBytesSeen,
      hasUnsent: session.unsentBytes > 0 || !isWritable,
      openStreams: session.openStreams, hasOpened: session.newestStream != newestStreamSeen,
      openHeaderBlock: session.openHeaderBlock?.rawValue)
    hasReceived = false
    bodyBytesSeen = session.bodyBytesSent
    newestStreamSeen = session.newestStream
    session.resetControlFrameCount()
    session.resetWork()
    costlyTime = .zero
    switch lifetime.tick(now: now.milliseconds, seen) {
    case .nothing: return
    case .ping:
      session.ping(PingPurpose.keepalive)
      flush()
    case .retire: drain()
    case .close(let reason):
      logger.debug("closing connection", metadata: ["reason": "\(reason.rawValue)"])
      endConnection(reason == .retired ? .noError : .enhanceYourCalm)
    }
  }

  /// Asks the client to open no more streams, and announces the last accepted stream a round trip later, when
  /// the client has received the request.
  func drain() {
    guard !isDraining else { return }
    isDraining = true
    lifetime.retire(now: NIODeadline.now().milliseconds)
    session.announceGoAway()
    // The ping is acknowledged after the peer has received the announcement; waits at most a second.
    session.ping(PingPurpose.draining)
    flush()
    // After the announcement, so that the client opens new streams on another connection.
    for exchange in exchanges.values { exchange.retire() }
    _ = schedule(in: .seconds(1)) { [self] in finishDraining() }
  }

  func finishDraining() {
    guard isDraining, !hasFinishedDraining else { return }
    hasFinishedDraining = true
    session.finishGoAway()
    scheduleFlush()
  }

  /// Closes a connection that exceeds its limits.
  func checkBacklog() {
    let limit = limits.connectionBacklogBytes
    guard
      session.inboundBytes > limit || session.unsentBytes > limit
        || session.controlFrames > limits.controlFrames || session.hasExcessiveHeaders
        || session.headCosts > Self.headCostsLimit
    else { return }
    logger.debug(
      "closing connection over its limits",
      metadata: [
        "inbound": "\(session.inboundBytes)", "unsent": "\(session.unsentBytes)",
        "header fields": "\(session.headCosts)", "control frames": "\(session.controlFrames)",
      ])
    endConnection(.enhanceYourCalm)
  }

  /// Of one connection, in bytes: 3 KiB of header fields for each of 1,000 requests without an end. A connection with more
  /// would occupy the loop for milliseconds when it ends, because all of its streams are freed at once.
  private static let headCostsLimit = 4 << 20

  /// The memory of a stream whose response the peer does not read, besides the response, in bytes.
  private static let unsentStreamBytes = 1_024

  /// Reports the responses that the peer has not read and the requests that it has not ended, or ends the connection if
  /// too many wait on all connections.
  func reportHeld() {
    let buffered = isWritable ? 0 : context?.channel.unwrittenBytes ?? 0
    var unsent = session.unsentBytes + buffered
    if unsent > 0 { unsent += session.openStreams * Self.unsentStreamBytes }
    if unsent > 0, unread == nil { unread = openAccount(held.unreadResponses, "unread responses") }
    unread?.report(unsent)
    reportIncomplete(session.incompleteBytes)
  }

  /// Reports much of incomplete requests before the end of the tick, in which other connections may send as much.
  func reportManyIncomplete() {
    let bytes = session.incompleteBytes
    if bytes > Self.manyIncomplete { reportIncomplete(bytes) }
  }

  /// In bytes.
  private static let manyIncomplete = 256 * 1_024

  private func reportIncomplete(_ bytes: Int) {
    guard !isEnding else { return }
    if bytes > 0, incomplete == nil {
      incomplete = openAccount(held.incompleteRequests, "incomplete requests")
    }
    incomplete?.report(bytes)
  }

  /// Opens an account of held bytes, whose excess ends the connection with ENHANCE_YOUR_CALM.
  private func openAccount(_ held: HeldBytes, _ name: String) -> HeldBytes.Account? {
    guard let loop = context?.eventLoop else { return nil }
    let handler = NIOLoopBound(self, eventLoop: loop)
    return held.open { [logger] in
      logger.debug("closing connection over a limit of all", metadata: ["most": "\(name)"])
      // At once, because the memory of several connections may be read in one tick.
      if loop.inEventLoop {
        handler.value.endConnection(.enhanceYourCalm)
      } else {
        loop.execute { handler.value.endConnection(.enhanceYourCalm) }
      }
    }
  }

  /// Sends GOAWAY with the code, ends the calls, and closes.
  func endConnection(_ code: ErrorCode) {
    // Flushing checks the backlog again, which is unchanged.
    guard !isEnding else { return }
    isEnding = true
    session.terminate(code)
    flush()
    closeAfterOutput()
    // The peer has a second to read GOAWAY; what it still sends is not worth reading.
    updateReading()
    endCalls()
    session.discardStreams()
  }
}

extension Channel {
  /// The bytes that the socket has not accepted.
  var unwrittenBytes: Int { (try? syncOptions?.getOption(.bufferedWritableBytes)) ?? 0 }
}

/// The purpose of a ping, which its acknowledgement repeats.
enum PingPurpose {
  static let keepalive: UInt64 = 1
  static let draining: UInt64 = 2
}

extension NIODeadline {
  var milliseconds: Int64 { Int64(clamping: uptimeNanoseconds / 1_000_000) }
}
