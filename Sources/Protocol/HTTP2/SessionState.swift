internal import CNghttp2
internal import HTTP

/// The state that callbacks of one session write, behind the user-data pointer of nghttp2.
struct SessionState {
  /// The events since the owner last took them, in order.
  var events: [SessionEvent] = []
  var streams = StreamPool()
  /// The stream whose header block is being received: a block is never interleaved (RFC 9113,
  /// section 4.3), so its fields need no lookup.
  var receivingHeaders: UnsafeMutablePointer<StreamState>?
  /// The streams of a client, because nghttp2 has no stream before the request is sent and closes it with the last
  /// byte of the response, which the owner still has to read.
  var requested: [Int32: UnsafeMutablePointer<StreamState>] = [:]
  /// The closed streams of a client whose events the owner has not received.
  private var closing: [Int32] = []
  /// The closed streams whose events the owner is handling.
  private var closed: [Int32] = []
  /// The stream of ``receivingHeaders``.
  var openHeaderBlock: Int32?
  /// The received bytes of open streams that were not removed yet.
  var inboundBytes = 0
  /// Those of ``inboundBytes`` whose requests are complete.
  var completeBytes = 0
  /// The sum of ``StreamState/headCost``.
  var headCosts = 0
  /// The sum of ``StreamState/heldCost``.
  var heldCosts = 0
  /// The unsent bytes of open streams, and all bytes sent.
  var unsentBytes = 0
  /// All bytes of bodies that nghttp2 took, of closed streams too.
  var bodyBytesSent: Int64 = 0
  /// The streams that are not closed.
  var openStreams = 0
  /// The frames of a client, whether nghttp2 reports them or not.
  var scanner = FrameScanner()
  var closedStreams = ClosedStreams()
  var controlFrames = ControlFrames()
  /// See ``Session/work``.
  var work = 0
  /// The bytes of the current header block that were dropped.
  var droppedHeaderBytes = 0
  /// Whether the peer's fields exceed the limit so far that the connection ends.
  var hasExcessiveHeaders = false
  /// The maximum size of the fields of a header block, in bytes as ``HTTP/HeaderFields/sizeInBytes`` counts.
  let headerBytes: Int
  /// The maximum number of open streams of a server; further ones are refused.
  let maxStreams: Int
  /// Whether it is the server's end of the connection.
  let isServer: Bool

  init(limits: Limits, isServer: Bool) {
    headerBytes = limits.headerBytes
    maxStreams = Int(limits.concurrentStreams)
    self.isServer = isServer
    events.reserveCapacity(64)
  }

  /// The peer has sent a part of a body.
  mutating func bodyReceived(_ bytes: UnsafeBufferPointer<UInt8>, _ stream: UnsafeMutablePointer<StreamState>)
  {
    stream.pointee.inbound.append(contentsOf: bytes)
    inboundBytes += bytes.count
    let large = stream.pointee.inbound.count - Self.smallBytes
    if large > 0 { work += min(large, bytes.count) }
  }

  /// The bytes of a body, and of header fields, that are no ``work``: those of nearly all calls.
  private static let smallBytes = 4 * 1_024

  /// The peer has ended its side of a stream.
  mutating func inboundEnded(_ stream: UnsafeMutablePointer<StreamState>) {
    guard !stream.pointee.inboundHasEnded else { return }
    stream.pointee.inboundHasEnded = true
    completeBytes += stream.pointee.received
    headCosts -= stream.pointee.headCost
    stream.pointee.headCost = 0
  }

  /// The peer has sent the header fields of a request, of which many may take a few bytes.
  mutating func headReceived(_ stream: UnsafeMutablePointer<StreamState>, endOfStream: Bool) {
    work += max(0, stream.pointee.head.sizeInBytes - Self.smallBytes)
    guard !endOfStream else { return }
    stream.pointee.headCost = Self.streamCost + stream.pointee.head.sizeInBytes
    headCosts += stream.pointee.headCost
  }

  /// The memory of a stream without its fields and its body, in bytes.
  private static let streamCost = 1_024

  /// Closes a stream. A server releases its memory at once; a client does so when the owner has taken the events.
  mutating func close(_ stream: UnsafeMutablePointer<StreamState>, _ id: Int32, _ code: ErrorCode) {
    if receivingHeaders == stream { headersEnded() }
    if isServer { releaseStream(stream) } else { closing.append(id) }
    events.append(.closed(StreamID(rawValue: id), code))
  }

  /// Counts a dropped field; returns whether the rest of the block is worth reading.
  ///
  /// One byte can refer to a field of 4 KiB, so a block of ordinary size may have hundreds of megabytes, or thousands of
  /// small fields, each of which costs. Clients know the limit and do not exceed it by much.
  mutating func drop(_ bytes: Int) -> Bool {
    droppedHeaderBytes += max(bytes, Self.minDroppedBytes)
    controlFrames.count += 1 + bytes / 64
    if droppedHeaderBytes > 8 * headerBytes { hasExcessiveHeaders = true }
    return !hasExcessiveHeaders
  }

  /// Frees what all streams have received and have yet to send.
  mutating func discardStreams() {
    streams.forEachOpen { $0.pointee.discard() }
    unsentBytes = 0
  }

  /// Counted at least for a dropped field.
  private static let minDroppedBytes = 256

  /// Ends the header block that is being received.
  mutating func headersEnded() {
    droppedHeaderBytes = 0
    receivingHeaders = nil
    openHeaderBlock = nil
  }

  private mutating func releaseStream(_ stream: UnsafeMutablePointer<StreamState>) {
    inboundBytes -= stream.pointee.received
    if stream.pointee.inboundHasEnded { completeBytes -= stream.pointee.received }
    headCosts -= stream.pointee.headCost
    heldCosts -= stream.pointee.heldCost
    unsentBytes -= stream.pointee.unsent
    openStreams -= 1
    streams.release(stream)
  }

  /// Releases the streams of the events that the owner has handled.
  mutating func discardClosed() {
    guard !isServer else { return }
    for id in closed {
      if let stream = requested.removeValue(forKey: id) { releaseStream(stream) }
    }
    swap(&closed, &closing)
    closing.removeAll(keepingCapacity: true)
  }
}

/// The state behind the user-data pointer; a callback without a session is a bug.
func borrowed(_ pointer: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<SessionState> {
  guard let pointer else { preconditionFailure("nghttp2 called back without a session") }
  return pointer.assumingMemoryBound(to: SessionState.self)
}

/// The state of a stream; `nil` if nghttp2 has no such open stream.
func openStream(_ session: OpaquePointer?, _ id: Int32) -> UnsafeMutablePointer<StreamState>? {
  nghttp2_session_get_stream_user_data(session, id)?.assumingMemoryBound(to: StreamState.self)
}
