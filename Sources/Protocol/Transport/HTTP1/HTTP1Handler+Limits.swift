internal import NIOCore

// The memory that the peer makes the server hold.
extension HTTP1Handler {
  /// Reports the responses that the peer has not read.
  func reportUnread(_ context: ChannelHandlerContext) {
    let bytes = context.channel.unwrittenBytes
    guard self.context != nil, bytes > 0 || unread != nil else { return }
    if unread == nil {
      let channel = context.channel
      unread = held.unreadResponses.open { channel.close(promise: nil) }
    }
    unread?.report(bytes)
  }

  /// Reports the part of a request that has arrived.
  func reportIncomplete(_ bytes: Int, _ context: ChannelHandlerContext) {
    guard self.context != nil, bytes > 0 || incomplete != nil else { return }
    if incomplete == nil {
      let channel = context.channel
      incomplete = held.incompleteRequests.open { channel.close(promise: nil) }
    }
    incomplete?.report(bytes)
  }
}

// The time that the peer has.
extension HTTP1Handler: TimedConnection {
  /// The edge counts the requests.
  var openStreams: Int { 0 }

  func tick(_ now: NIODeadline) {
    let hasTimedOut = end.map { now >= $0 } ?? false
    if hasTimedOut || isStalled(now) { context?.close(promise: nil) }
  }

  /// Whether the peer has read nothing of pending responses for too long.
  private func isStalled(_ now: NIODeadline) -> Bool {
    guard let channel = context?.channel, !channel.isWritable else {
      stall = nil
      return false
    }
    let bytes = channel.unwrittenBytes
    if let stall, stall.bytes <= bytes { return now - stall.since >= .milliseconds(limits.times.stall) }
    stall = (bytes, now)
    return false
  }
}
