internal import CNghttp2

/// One HTTP/2 connection without a socket.
///
/// Bytes go in through ``receive(_:)`` and come out of ``withOutput(_:)``; ``takeEvents(into:)`` returns the actions of
/// the peer. A session does not wait, read a clock or call its owner, so tests can replay a whole connection from an
/// array of bytes. The extensions have what it reads, its streams, and the use of resources by the peer;
/// `Session+Roles.swift` has the operations of clients and servers.
///
/// A session is not `Sendable`: only the connection that owns it uses it.
package final class Session {
  /// Valid from `init` to `deinit`.
  let session: OpaquePointer
  /// The state that callbacks write; valid as long as the session.
  let state: UnsafeMutablePointer<SessionState>
  /// The limit of streams that the first SETTINGS frame is still to announce.
  var announcedStreams: UInt32?

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

  /// Returns the events since the last call, in order. `events` is emptied first; the two arrays swap their memory, so
  /// that the call allocates nothing.
  package func takeEvents(into events: inout [SessionEvent]) {
    events.removeAll(keepingCapacity: true)
    swap(&events, &state.pointee.events)
    state.pointee.discardClosed()
  }

  /// Calls `write` with each piece of output until there is no more or `write` returns `false`. A piece is valid
  /// during its call.
  ///
  /// - Throws: ``HTTP2Error`` without memory.
  package func withOutput(_ write: (UnsafeRawBufferPointer) -> Bool) throws(HTTP2Error) {
    while true {
      var piece: UnsafePointer<UInt8>?
      let count = nghttp2_session_mem_send(session, &piece)
      try check(CInt(clamping: count))
      guard count > 0, let piece else { return }
      let output = UnsafeRawBufferPointer(start: piece, count: count)
      if let limit = announcedStreams {
        announcedStreams = nil
        guard Self.announcing(limit, in: output).withUnsafeBytes({ write($0) }) else { return }
      } else {
        guard write(output) else { return }
      }
    }
  }

  /// A SETTINGS frame with `limit` as SETTINGS_MAX_CONCURRENT_STREAMS (RFC 9113, section 6.5.1).
  private static func announcing(_ limit: UInt32, in frame: UnsafeRawBufferPointer) -> [UInt8] {
    var bytes = Array(frame)
    var entry = 9
    while entry + 6 <= bytes.count {
      let number = UInt32(bytes[entry]) << 8 | UInt32(bytes[entry + 1])
      if number == NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue {
        withUnsafeBytes(of: limit.bigEndian) { bytes.replaceSubrange(entry + 2..<entry + 6, with: $0) }
      }
      entry += 6
    }
    return bytes
  }

  /// Whether both sides have finished, so that the connection can be closed.
  package var isFinished: Bool { nghttp2_session_want_read(session) == 0 && !hasOutput }

  /// Whether there is output to send.
  package var hasOutput: Bool { nghttp2_session_want_write(session) != 0 }

  /// The maximum size of header fields that the peer accepts, if it announced one (RFC 9113, section 6.5.2), and that
  /// nghttp2 sends: larger ones would be lost, and their stream would never end.
  package var maxHeaderBytes: Int {
    let announced = nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE)
    return min(Int(announced), Self.maxSentHeaderBytes)
  }

  /// Less than `NGHTTP2_MAX_HEADERSLEN`, because encoding adds up to twelve bytes for each field.
  private static let maxSentHeaderBytes = 48 * 1_024

  /// Ends one stream with RST_STREAM; the others continue. Queued output of the stream is discarded.
  package func reset(_ id: StreamID, _ code: ErrorCode) {
    _ = nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), id.rawValue, code.rawValue)
  }

  /// Sends a ping; ``SessionEvent/pong(_:)`` reports its acknowledgement with the same purpose.
  package func ping(_ purpose: UInt64) {
    withUnsafeBytes(of: purpose.bigEndian) { bytes in
      let data = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
      _ = nghttp2_submit_ping(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), data)
    }
  }

  /// Ends the connection with GOAWAY.
  package func terminate(_ code: ErrorCode) { _ = nghttp2_session_terminate_session(session, code.rawValue) }
}
