internal import CNghttp2
package import HTTP

/// One HTTP/2 connection without a socket.
///
/// Bytes go in through ``receive(_:)`` and come out of ``withOutput(_:)``; ``takeEvents(into:)`` returns the actions of
/// the peer. A session does not wait, read a clock or call its owner, so tests can replay a whole connection from an
/// array of bytes. `Session+Roles.swift` has the operations of clients and servers.
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

  /// Reads bytes of the peer. After an error, or with ``hasExcessiveHeaders``, only the remaining output can be sent.
  ///
  /// - Throws: ``HTTP2Error`` for bytes after which the connection cannot go on; a stream error is no error here.
  package func receive(_ bytes: UnsafeRawBufferPointer) throws(HTTP2Error) {
    var rest = bytes
    while !rest.isEmpty {
      let part = try receive(rest, maxControlFrames: .max / 2)
      rest = UnsafeRawBufferPointer(rebasing: rest[part.count...])
    }
  }

  /// Reads bytes as ``receive(_:)`` does. A server stops after a few requests or parts of bodies, so that its owner can answer
  /// them before it passes the rest, and once they have raised ``controlFrames`` by `maxControlFrames`.
  package func receive(
    _ bytes: UnsafeRawBufferPointer, maxControlFrames: Int
  ) throws(HTTP2Error) -> ReceivedPart {
    guard state.pointee.isServer else {
      try feed(bytes)
      return ReceivedPart(count: bytes.count, isCostly: false)
    }
    var position = 0
    var fed = 0
    var (requests, dataFrames) = (0, 0)
    let queued = nghttp2_session_get_outbound_queue_size(session)
    let limit = state.pointee.controlFrames + maxControlFrames
    let costLimit = state.pointee.headCosts + Self.headCostAtOnce
    while state.pointee.controlFrames < limit, requests < Self.requestsAtOnce,
      dataFrames < Self.dataFramesAtOnce
    {
      guard let frame = state.pointee.scanner.next(in: bytes, from: &position) else { break }
      switch UInt32(frame.header.type) {
      case NGHTTP2_HEADERS.rawValue: requests += 1
      case NGHTTP2_DATA.rawValue: dataFrames += 1
      default: break
      }
      state.pointee.controlFrames += Self.cost(of: frame.header)
      guard let violation = state.pointee.closedStreams.record(frame.header) else { continue }
      try feed(UnsafeRawBufferPointer(rebasing: bytes[fed..<max(fed, frame.start)]))
      fed = max(fed, frame.start)
      // nghttp2 has the stream if the response is not complete, and then refuses the frame.
      guard openStream(session, frame.header.stream) == nil else { continue }
      guard refuse(frame.header, violation) else { return ReceivedPart(count: bytes.count, isCostly: false) }
    }
    try feed(UnsafeRawBufferPointer(rebasing: bytes[fed..<position]))
    let resets =
      requests == Self.requestsAtOnce ? nghttp2_session_get_outbound_queue_size(session) - queued : 0
    return ReceivedPart(
      count: position,
      isCostly: state.pointee.controlFrames + Self.costOfReset * resets >= limit
        || state.pointee.headCosts >= costLimit)
  }

  private func feed(_ bytes: UnsafeRawBufferPointer) throws(HTTP2Error) {
    guard !state.pointee.isServer || !state.pointee.hasExcessiveHeaders else { return }
    let start = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
    let read = nghttp2_session_mem_recv(session, start, bytes.count)
    try check(CInt(clamping: read))
  }

  /// Answers a frame on a closed stream; returns whether the connection continues.
  private func refuse(_ frame: FrameHeader, _ violation: ClosedStreams.Violation) -> Bool {
    switch violation {
    case .afterReset:
      reset(StreamID(rawValue: frame.stream), .streamClosed)
      state.pointee.controlFrames += 1
      return true
    case .afterEnd: terminate(.streamClosed)
    case .skipped: terminate(.protocolError)
    }
    return false
  }

  /// The HEADERS frames after which a server stops: 64 KiB may have a thousand requests that each end in a reset, or that
  /// each decompress to many times their size.
  private static let requestsAtOnce = 16

  /// The DATA frames after which a server stops: 64 KiB may have six thousand of a byte.
  private static let dataFramesAtOnce = 64

  /// The bytes of header fields of requests without an end that are costly: 20 KB of references to large fields become
  /// 12 MB of fields, which take the loop 30 ms.
  private static let headCostAtOnce = 128 * 1_024

  /// The cost in ``controlFrames`` of a stream that ends because its peer is to blame.
  static let costOfReset = 10

  /// The cost of a frame in ``controlFrames``.
  private static func cost(of frame: FrameHeader) -> Int {
    switch UInt32(frame.type) {
    case NGHTTP2_HEADERS.rawValue: 0
    case NGHTTP2_DATA.rawValue:
      // Padding alone is as empty as nothing; a client that ends its request is done.
      UInt32(frame.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0
        || (frame.length > 0 && UInt32(frame.flags) & NGHTTP2_FLAG_PADDED.rawValue == 0) ? 0 : 10
    // Priorities are deprecated (RFC 9113, section 5.3.2) and cost more than they are worth.
    case NGHTTP2_PRIORITY.rawValue: 10
    default: 1
    }
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

  // MARK: Input

  /// The fields that opened a stream; `nil` once it is closed.
  package func head(of id: StreamID) -> HeaderFields? { stream(id)?.pointee.head }

  /// The fields after the body; `nil` once the stream is closed.
  package func trailers(of id: StreamID) -> HeaderFields? {
    stream(id)?.pointee.trailers
  }

  /// Lends the received bytes that were not removed yet; does nothing once the stream is closed.
  package func withInbound(of id: StreamID, _ body: (UnsafeRawBufferPointer) -> Void) {
    guard let stream = self.stream(id) else { return }
    stream.pointee.inbound.withUnsafeBufferPointer { body(UnsafeRawBufferPointer($0)) }
  }

  /// A copy of the received bytes that were not removed yet; `nil` once the stream is closed.
  package func inbound(of id: StreamID) -> [UInt8]? { stream(id)?.pointee.inbound }

  /// Whether the peer has ended its side of a stream, or the stream is closed.
  package func hasInboundEnded(of id: StreamID) -> Bool {
    stream(id)?.pointee.inboundHasEnded ?? true
  }

  /// The number of received bytes that were not removed yet.
  package func inboundCount(of id: StreamID) -> Int {
    stream(id)?.pointee.inbound.count ?? 0
  }

  /// Removes the first `count` received bytes. This does not open the window: see
  /// ``allowMore(_:on:)``.
  package func removeInbound(_ count: Int, of id: StreamID) {
    guard count > 0, let stream = self.stream(id) else { return }
    let removed = min(count, stream.pointee.inbound.count)
    stream.pointee.inbound.removeFirst(removed)
    state.pointee.inboundBytes -= removed
    if stream.pointee.inboundHasEnded { state.pointee.completeBytes -= removed }
  }

  /// Frees the received bytes of a stream whose request nothing reads again. They still count in ``inboundBytes`` until
  /// the stream closes, because the owner works on what they said. A small buffer is kept for the next stream.
  package func discardInbound(of id: StreamID) {
    guard let stream = self.stream(id) else { return }
    stream.pointee.discardInbound()
  }

  /// Frees the fields that opened a stream, which nothing reads again.
  package func discardHead(of id: StreamID) { stream(id)?.pointee.head = HeaderFields() }

  /// Counts `bytes` in ``incompleteBytes`` until the stream closes, for a call that lasts although its request is complete.
  package func hold(_ bytes: Int, for id: StreamID) {
    guard let stream = self.stream(id) else { return }
    stream.pointee.heldCost += bytes
    state.pointee.headCosts += bytes
  }

  /// Opens the window of a stream by `count` bytes.
  package func allowMore(_ count: Int, on id: StreamID) {
    guard count > 0 else { return }
    nghttp2_session_consume_stream(session, id.rawValue, count)
  }

  // MARK: Output

  /// The number of unsent bytes of a stream.
  package func unsentCount(of id: StreamID) -> Int {
    stream(id)?.pointee.unsent ?? 0
  }

  /// Appends bytes to the outgoing body of a stream; does nothing if the stream is closed.
  package func send(on id: StreamID, _ append: (inout [UInt8]) -> Void) {
    guard let stream = self.stream(id) else { return }
    let before = stream.pointee.outbound.count
    append(&stream.pointee.outbound)
    state.pointee.unsentBytes += stream.pointee.outbound.count - before
    resumeSending(stream, id)
  }

  /// Ends the outgoing body of a stream, with trailers if there are any. Trailers over ``maxHeaderBytes`` reset the
  /// stream instead.
  package func finish(_ id: StreamID, trailers: HeaderFields = HeaderFields()) {
    guard trailers.sizeInBytes <= maxHeaderBytes else { return reset(id, .internalError) }
    finish(id, trailers.isEmpty ? .none : .fields(trailers))
  }

  /// Ends the outgoing body of a stream as ``finish(_:trailers:)`` does.
  package func finish(_ id: StreamID, trailers: ConstantFields) {
    guard trailers.sizeInBytes <= maxHeaderBytes else { return reset(id, .internalError) }
    finish(id, .constant(trailers))
  }

  private func finish(_ id: StreamID, _ trailers: Trailers) {
    guard let stream = self.stream(id) else { return }
    stream.pointee.outboundHasEnded = true
    stream.pointee.outboundTrailers = trailers
    resumeSending(stream, id)
  }

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

  /// A stream's state; `nil` once it is closed (for a client: and its events were taken).
  private func stream(_ id: StreamID) -> UnsafeMutablePointer<StreamState>? {
    if let open = openStream(session, id.rawValue) { return open }
    return state.pointee.isServer ? nil : state.pointee.requested[id.rawValue]
  }

  private func resumeSending(_ stream: UnsafeMutablePointer<StreamState>, _ id: StreamID) {
    guard stream.pointee.isDeferred else { return }
    stream.pointee.isDeferred = false
    _ = nghttp2_session_resume_data(session, id.rawValue)
  }
}

// Resource use of the peer, for owners that limit it.
extension Session {
  /// The number of open streams.
  package var openStreams: Int { state.pointee.openStreams }

  /// The received bytes of all open streams that were not removed yet.
  package var inboundBytes: Int { state.pointee.inboundBytes }

  /// Those of ``inboundBytes`` on streams that the peer has not ended, and what these streams cost besides: one byte can
  /// refer to a field of 4 KiB. See also ``hold(_:for:)``.
  package var incompleteBytes: Int {
    state.pointee.inboundBytes - state.pointee.completeBytes + state.pointee.headCosts
  }

  /// The unsent bytes of all open streams.
  package var unsentBytes: Int { state.pointee.unsentBytes }

  /// The bytes of bodies sent since the start of the session.
  package var bodyBytesSent: Int64 { state.pointee.bodyBytesSent }

  /// The stream with an incomplete header block.
  package var openHeaderBlock: StreamID? { state.pointee.openHeaderBlock.map(StreamID.init(rawValue:)) }

  /// The frames received since the last reset of the count that carry no part of a request: pings, settings,
  /// resets, window updates, empty or padded data, unknown ones. A priority counts as ten, like empty or padded data,
  /// like a stream that ends because of an invalid frame, and header fields that were dropped as one for each 64 bytes.
  /// See also ``countInflation(from:to:)``.
  package var controlFrames: Int { state.pointee.controlFrames }

  /// Whether a header block exceeded ``Limits/headerBytes`` so far that only an attack explains it. A server then reads
  /// no further.
  package var hasExcessiveHeaders: Bool { state.pointee.hasExcessiveHeaders }

  /// Adds the cost of a message that was much smaller before it was decompressed to ``controlFrames``.
  package func countInflation(from size: Int, to inflated: Int) {
    state.pointee.controlFrames += max(0, inflated - 64 * size) / 4_096
  }

  /// Adds the cost of a message that exceeds its limit once it is decompressed to ``controlFrames``.
  package func countBomb() { state.pointee.controlFrames += Self.costOfBomb }

  /// A connection that sends a hundred of them in a second is closed: no client does.
  private static let costOfBomb = 100

  /// The work that the peer has caused since ``resetWork()``, in bytes of large bodies: those that it sent after the first
  /// ones of each request, and what the owner adds.
  package var work: Int { state.pointee.work }

  /// Adds work that the owner does for the peer.
  package func addWork(_ bytes: Int) { state.pointee.work += bytes }

  /// Sets ``work`` to zero.
  package func resetWork() { state.pointee.work = 0 }

  /// Frees what all streams have received and have yet to send. Nothing may be read or sent afterwards.
  package func discardStreams() { state.pointee.discardStreams() }

  /// Sets ``controlFrames`` to zero.
  package func resetControlFrameCount() { state.pointee.controlFrames = 0 }
}
