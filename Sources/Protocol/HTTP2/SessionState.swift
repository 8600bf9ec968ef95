internal import CNghttp2

/// What the callbacks of one session write to, behind the pointer that nghttp2 carries as the
/// session's user data.
struct SessionState {
  var events: [SessionEvent] = []
  var streams = StreamPool()
  /// The stream whose header block is being received: a block is never interleaved (RFC 9113,
  /// section 4.3), so the fields of one need no look-up each.
  var receivingHeaders: UnsafeMutablePointer<StreamState>?
  /// The streams of a client: nghttp2 does not know one before its request is sent, and forgets it with
  /// the last byte of the answer, which the owner has yet to read.
  var requested: [Int32: UnsafeMutablePointer<StreamState>] = [:]
  /// A client's streams that are closed and whose events the owner has not taken.
  private var closing: [Int32] = []
  /// Those whose events it has taken, and looks at until it asks for more.
  private var closed: [Int32] = []
  /// The stream of ``receivingHeaders``.
  var openHeaderBlock: Int32?
  /// Bytes received on open streams and not yet taken.
  var inboundBytes = 0
  /// Bytes given to send on open streams and not yet sent, and all that were sent ever.
  var unsentBytes = 0
  var bodyBytesSent: Int64 = 0
  var openStreams = 0
  /// Frames received that carry no part of a request.
  var controlFrames = 0
  let headerBytes: Int
  let isServer: Bool

  init(headerBytes: Int, isServer: Bool) {
    self.headerBytes = headerBytes
    self.isServer = isServer
    events.reserveCapacity(64)
  }

  mutating func close(_ stream: UnsafeMutablePointer<StreamState>, _ id: Int32, _ code: ErrorCode) {
    if receivingHeaders == stream { headersEnded() }
    if isServer { release(stream) } else { closing.append(id) }
    events.append(.closed(StreamID(rawValue: id), code))
  }

  mutating func headersEnded() {
    receivingHeaders = nil
    openHeaderBlock = nil
  }

  private mutating func release(_ stream: UnsafeMutablePointer<StreamState>) {
    inboundBytes -= stream.pointee.inbound.count
    unsentBytes -= stream.pointee.unsent
    openStreams -= 1
    streams.giveBack(stream)
  }

  /// The owner asks for events, so it is done with those it took before.
  mutating func forgetClosed() {
    guard !isServer else { return }
    for id in closed {
      if let stream = requested.removeValue(forKey: id) { release(stream) }
    }
    swap(&closed, &closing)
    closing.removeAll(keepingCapacity: true)
  }
}

/// The state that a session lends to nghttp2; a callback outside a session is a bug.
func lent(_ pointer: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<SessionState> {
  guard let pointer else { preconditionFailure("nghttp2 called back without a session") }
  return pointer.assumingMemoryBound(to: SessionState.self)
}

/// The state of an open stream, or `nil` if nghttp2 has closed it or never knew it.
func openStream(_ session: OpaquePointer?, _ id: Int32) -> UnsafeMutablePointer<StreamState>? {
  nghttp2_session_get_stream_user_data(session, id)?.assumingMemoryBound(to: StreamState.self)
}
