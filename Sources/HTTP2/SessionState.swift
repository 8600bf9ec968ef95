internal import CNghttp2

/// What the callbacks of one session write to, behind the pointer that nghttp2 carries as the
/// session's user data.
struct SessionState {
  var events: [SessionEvent] = []
  var streams = StreamPool()
  /// The stream whose header block is being received: a block is never interleaved (RFC 9113,
  /// section 4.3), so the fields of one need no look-up each.
  var receivingHeaders: UnsafeMutablePointer<StreamState>?
  /// A client's requests that nghttp2 has taken and may not have sent: it does not know their streams
  /// before that. An entry stays until its stream is closed.
  var unopened: [Int32: UnsafeMutablePointer<StreamState>] = [:]
  let headerBytes: Int
  let isServer: Bool

  init(headerBytes: Int, isServer: Bool) {
    self.headerBytes = headerBytes
    self.isServer = isServer
    events.reserveCapacity(64)
  }

  mutating func close(_ stream: UnsafeMutablePointer<StreamState>, _ id: Int32, _ code: ErrorCode) {
    if receivingHeaders == stream { receivingHeaders = nil }
    if !isServer { unopened[id] = nil }
    streams.giveBack(stream)
    events.append(.closed(StreamID(rawValue: id), code))
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
