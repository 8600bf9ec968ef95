internal import HTTP2
internal import Logging
internal import NIOCore

extension HTTP2Handler: TimedConnection {
  var openStreams: Int { session.openStreams }

  /// Looks at the connection as it is now.
  func tick(_ now: NIODeadline) {
    let seen = ConnectionLifetime.Observation(
      hasReceived: hasReceived, hasSent: session.bodyBytesSent != bodyBytesSeen,
      hasUnsent: session.unsentBytes > 0 || !isWritable,
      openStreams: session.openStreams, openHeaderBlock: session.openHeaderBlock?.rawValue)
    hasReceived = false
    bodyBytesSeen = session.bodyBytesSent
    session.forgetControlFrames()
    switch life.tick(now: now.milliseconds, seen) {
    case .nothing: return
    case .ping:
      session.ping(PingPurpose.keepalive)
      flush()
    case .retire: drain()
    case .close(let reason):
      logger.debug("closing a connection", metadata: ["reason": "\(reason.rawValue)"])
      endConnection(.enhanceYourCalm)
    }
  }

  /// Asks the client to open no more streams, and says a round trip later, when it has heard that, which ones
  /// were the last.
  func drain() {
    guard !isDraining else { return }
    isDraining = true
    life.retire(now: NIODeadline.now().milliseconds)
    session.announceGoAway()
    // The answer to the ping tells that the peer has seen the announcement. A peer that does not answer is
    // given a second.
    session.ping(PingPurpose.draining)
    flush()
    guard let loop = context?.eventLoop else { return }
    let handler = NIOLoopBound(self, eventLoop: loop)
    loop.scheduleTask(in: .seconds(1)) { handler.value.finishDraining() }
  }

  func finishDraining() {
    guard isDraining, !hasFinishedDraining else { return }
    hasFinishedDraining = true
    session.finishGoAway()
    scheduleFlush()
  }

  /// Closes a connection that takes more than it may.
  func checkBacklog() {
    let limit = limits.connectionBacklogBytes
    guard
      session.inboundBytes > limit || session.unsentBytes > limit
        || session.controlFrames > limits.controlFrames
    else { return }
    logger.debug(
      "closing a connection that takes too much",
      metadata: [
        "inbound": "\(session.inboundBytes)", "unsent": "\(session.unsentBytes)",
        "control frames": "\(session.controlFrames)",
      ])
    endConnection(.enhanceYourCalm)
  }

  /// Says why, if the peer listens, and closes.
  func endConnection(_ code: ErrorCode) {
    // To say it looks at the backlog once more, which is as it was.
    guard !isEnding else { return }
    isEnding = true
    session.terminate(code)
    flush()
    context?.close(promise: nil)
  }
}

/// What our pings are for: the answer repeats it.
enum PingPurpose {
  static let keepalive: UInt64 = 1
  static let draining: UInt64 = 2
}

extension NIODeadline {
  var milliseconds: Int64 { Int64(clamping: uptimeNanoseconds / 1_000_000) }
}
