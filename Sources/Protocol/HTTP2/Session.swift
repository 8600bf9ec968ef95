internal import CNghttp2
package import HTTP

/// One HTTP/2 connection without a socket.
///
/// Bytes go in through ``receive(_:)`` and come out of ``withOutput(_:)``; what the peer did comes out
/// of ``takeEvents(into:)``. Nothing here waits, reads a clock or calls back into its owner, so a whole
/// conversation can be replayed in a test from an array of bytes. What a server alone may do is in
/// `Session+Server.swift`, what a client alone may do in `Session+Client.swift`.
///
/// A session is not `Sendable`: the connection that owns it is the only one that touches it.
package final class Session {
  /// Valid from `init` to `deinit`; no other module has it.
  let session: OpaquePointer
  /// What the callbacks write to; lives as long as the session.
  let state: UnsafeMutablePointer<SessionState>

  init(session: OpaquePointer, state: UnsafeMutablePointer<SessionState>) {
    self.session = session
    self.state = state
  }

  deinit {
    nghttp2_session_del(session)
    state.pointee.streams.destroyAll()
    state.deinitialize(count: 1)
    state.deallocate()
  }

  /// Reads bytes from the peer. After an error only what ``withOutput(_:)`` still has can be sent.
  package func receive(_ bytes: UnsafeRawBufferPointer) throws(HTTP2Error) {
    let start = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
    let read = nghttp2_session_mem_recv(session, start, bytes.count)
    try check(CInt(clamping: read))
  }

  /// What the peer did since this was last asked, in the order in which it did it. `events` is
  /// emptied first; its memory goes back and forth, so that asking allocates nothing.
  package func takeEvents(into events: inout [SessionEvent]) {
    events.removeAll(keepingCapacity: true)
    swap(&events, &state.pointee.events)
    state.pointee.forgetClosed()
  }

  /// Gives `write` each piece of what there is to say to the peer now, until there is no more or
  /// `write` says that it has taken enough by answering `false`. A piece is valid during its call.
  package func withOutput(_ write: (UnsafeRawBufferPointer) -> Bool) throws(HTTP2Error) {
    while true {
      var piece: UnsafePointer<UInt8>?
      let count = nghttp2_session_mem_send(session, &piece)
      try check(CInt(clamping: count))
      guard count > 0, let piece else { return }
      guard write(UnsafeRawBufferPointer(start: piece, count: count)) else { return }
    }
  }

  /// Whether both sides have said all: the connection may be closed.
  package var isFinished: Bool {
    nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0
  }

  // MARK: What came

  /// The fields that opened a stream; `nil` once it is closed.
  package func head(of id: StreamID) -> HeaderFields? { stream(id)?.pointee.head }

  /// The fields behind the body; `nil` once the stream is closed.
  package func trailers(of id: StreamID) -> HeaderFields? {
    stream(id)?.pointee.trailers
  }

  /// Lends the bytes received and not yet taken; `body` is not called once the stream is closed.
  package func withInbound(of id: StreamID, _ body: (UnsafeRawBufferPointer) -> Void) {
    guard let stream = self.stream(id) else { return }
    stream.pointee.inbound.withUnsafeBufferPointer { body(UnsafeRawBufferPointer($0)) }
  }

  /// A copy of the bytes received and not yet taken; none once the stream is closed.
  package func inbound(of id: StreamID) -> [UInt8] { stream(id)?.pointee.inbound ?? [] }

  /// Whether the peer has sent all it will on a stream; also when the stream is closed.
  package func hasInboundEnded(of id: StreamID) -> Bool {
    stream(id)?.pointee.inboundHasEnded ?? true
  }

  /// How many bytes wait to be taken from a stream.
  package func inboundCount(of id: StreamID) -> Int {
    stream(id)?.pointee.inbound.count ?? 0
  }

  /// Takes the first `count` waiting bytes away. The peer may send no more for that: see
  /// ``allowMore(_:on:)``.
  package func removeInbound(_ count: Int, of id: StreamID) {
    guard count > 0, let stream = self.stream(id) else { return }
    let removed = min(count, stream.pointee.inbound.count)
    stream.pointee.inbound.removeFirst(removed)
    state.pointee.inboundBytes -= removed
  }

  /// Lets the peer send `count` more bytes on a stream, for as many that were received.
  package func allowMore(_ count: Int, on id: StreamID) {
    guard count > 0 else { return }
    nghttp2_session_consume_stream(session, id.rawValue, count)
  }

  // MARK: What goes

  /// How many bytes given to ``send(on:_:)`` wait for the peer or the transport.
  package func unsentCount(of id: StreamID) -> Int {
    stream(id)?.pointee.unsent ?? 0
  }

  /// Lets `append` add bytes to the body that goes out on a stream. Does nothing if the stream is
  /// closed.
  package func send(on id: StreamID, _ append: (inout [UInt8]) -> Void) {
    guard let stream = self.stream(id) else { return }
    let before = stream.pointee.outbound.count
    append(&stream.pointee.outbound)
    state.pointee.unsentBytes += stream.pointee.outbound.count - before
    wake(stream, id)
  }

  /// Ends the body that goes out on a stream, with fields behind it if there are any.
  package func finish(_ id: StreamID, trailers: HeaderFields = HeaderFields()) {
    guard let stream = self.stream(id) else { return }
    stream.pointee.outboundHasEnded = true
    stream.pointee.outboundTrailers = trailers
    wake(stream, id)
  }

  /// Ends a stream at once, in both directions.
  package func reset(_ id: StreamID, _ code: ErrorCode) {
    _ = nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), id.rawValue, code.rawValue)
  }

  /// Asks the peer for a sign of life; ``SessionEvent/pong(_:)`` with the same purpose is the answer.
  package func ping(_ purpose: UInt64) {
    withUnsafeBytes(of: purpose.bigEndian) { bytes in
      let data = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
      _ = nghttp2_submit_ping(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), data)
    }
  }

  /// Ends the connection with a GOAWAY that says why.
  package func terminate(_ code: ErrorCode) { _ = nghttp2_session_terminate_session(session, code.rawValue) }

  /// A stream's state; `nil` once it is closed (for a client: and its events were taken).
  private func stream(_ id: StreamID) -> UnsafeMutablePointer<StreamState>? {
    if let open = openStream(session, id.rawValue) { return open }
    return state.pointee.isServer ? nil : state.pointee.requested[id.rawValue]
  }

  private func wake(_ stream: UnsafeMutablePointer<StreamState>, _ id: StreamID) {
    guard stream.pointee.isDeferred else { return }
    stream.pointee.isDeferred = false
    _ = nghttp2_session_resume_data(session, id.rawValue)
  }
}
