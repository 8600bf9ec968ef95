internal import CNghttp2

/// Counts the frames of a client that carry no part of a request.
///
/// Libraries send some with each call: gRPC's C core window updates of the stream and of the connection with the request and
/// after the response, Go's a window update and a ping after the response. They cost less than the calls that they belong
/// to, so some are free for each request that the session has read and each message that it has sent. A client that makes
/// ten thousand calls a second would exceed each useful limit otherwise.
struct ControlFrames {
  /// See ``Session/controlFrames``.
  var count = 0
  /// The pings and window updates that are still free.
  private var free = 0

  /// Counts a received frame; `opensStream` is whether its stream is newer than all before. Other HEADERS are trailers, which
  /// few clients send, or are ignored on a closed stream.
  mutating func record(_ frame: FrameHeader, opensStream: Bool) {
    switch UInt32(frame.type) {
    case NGHTTP2_HEADERS.rawValue where opensStream: allowMore()
    case NGHTTP2_DATA.rawValue:
      // Padding alone is as empty as nothing; a client that ends its request is done.
      let ends = UInt32(frame.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0
      let isPadded = UInt32(frame.flags) & NGHTTP2_FLAG_PADDED.rawValue != 0
      if !ends, frame.length == 0 || isPadded { count += 10 }
    case NGHTTP2_PING.rawValue where free > 0, NGHTTP2_WINDOW_UPDATE.rawValue where free > 0: free -= 1
    // Priorities are deprecated (RFC 9113, section 5.3.2) and cost more than they are worth.
    case NGHTTP2_PRIORITY.rawValue: count += 10
    default: count += 1
    }
  }

  /// A message of a response was appended to what is sent.
  mutating func recordSent() { allowMore() }

  private mutating func allowMore() { free = min(free + 3, Self.maxFree) }

  /// Those of a thousand calls in flight; too few for a flood.
  private static let maxFree = 6_000
}
