internal import CNghttp2

// The input of a session, and its cost.
extension Session {
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
  ///
  /// - Throws: as ``receive(_:)``.
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
    let limit = state.pointee.controlFrames.count + maxControlFrames
    let costLimit = state.pointee.headCosts + Self.headCostAtOnce
    while state.pointee.controlFrames.count < limit, requests < Self.requestsAtOnce,
      dataFrames < Self.dataFramesAtOnce
    {
      guard let frame = state.pointee.scanner.next(in: bytes, from: &position) else { break }
      switch UInt32(frame.header.type) {
      case NGHTTP2_HEADERS.rawValue: requests += 1
      case NGHTTP2_DATA.rawValue: dataFrames += 1
      default: break
      }
      let opensStream = frame.header.stream > state.pointee.closedStreams.highest
      state.pointee.controlFrames.record(frame.header, opensStream: opensStream)
      guard let violation = state.pointee.closedStreams.record(frame.header) else {
        let isHeaders = frame.header.type == NGHTTP2_HEADERS.rawValue
        guard isHeaders, requests.isMultiple(of: Self.requestsFedAtOnce) else { continue }
        // Only nghttp2 knows the size of the fields.
        try feed(UnsafeRawBufferPointer(rebasing: bytes[fed..<position]))
        fed = position
        if state.pointee.headCosts >= costLimit { break } else { continue }
      }
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
      isCostly: state.pointee.controlFrames.count + Self.costOfReset * resets >= limit
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
      state.pointee.controlFrames.count += 1
      return true
    case .afterEnd: terminate(.streamClosed)
    case .skipped: terminate(.protocolError)
    }
    return false
  }

  /// The HEADERS frames after which a server stops: 64 KiB may have a thousand requests that each end in a reset, or that
  /// each decompress to many times their size.
  private static let requestsAtOnce = 16

  /// The HEADERS frames after which the size of their fields is looked at.
  private static let requestsFedAtOnce = 4

  /// The DATA frames after which a server stops: 64 KiB may have six thousand of a byte.
  private static let dataFramesAtOnce = 64

  /// The bytes of header fields of requests without an end that are costly: 20 KB of references to large fields become
  /// 12 MB of fields, which take the loop 30 ms.
  private static let headCostAtOnce = 32 * 1_024

  /// The cost in ``controlFrames`` of a stream that ends because its peer is to blame.
  static let costOfReset = 10
}
