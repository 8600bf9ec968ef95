internal import CNghttp2

/// The streams that a client has ended, so that its later frames on them are recognized.
///
/// nghttp2 could retain closed streams itself, but as many as may be open, with 200 bytes each and for every
/// connection. Frames on a stream that only the server has reset are not an error, because the client may have sent
/// them before it received the reset (RFC 9113, section 5.1).
struct ClosedStreams {
  /// The way in which a frame breaks the rules of its stream.
  enum Violation {
    /// The stream ended with RST_STREAM: an error of the stream, STREAM_CLOSED.
    case afterReset
    /// The stream ended with END_STREAM: an error of the connection, STREAM_CLOSED.
    case afterEnd
    /// The client skipped this stream: an error of the connection, PROTOCOL_ERROR (RFC 9113, section 5.1.1).
    case skipped
  }

  /// The newest stream, while the client has not ended it; most frames belong to it.
  private var newest: Int32 = 0
  /// The last stream that the client has opened; -1 before the first.
  private(set) var highest: Int32 = -1
  /// The streams that ended last, negative after a reset; the oldest is overwritten first.
  private var ended = [Int32](repeating: 0, count: Self.capacity)
  private var next = 0
  /// The last streams that were skipped, as ranges; clients almost never skip any.
  private var gaps: [ClosedRange<Int32>] = []

  private static let capacity = 64
  private static let maxGaps = 8

  /// Records a frame. Returns a violation unless nghttp2 still has the stream and so recognizes it itself.
  mutating func record(_ frame: FrameHeader) -> Violation? {
    let id = frame.stream
    let ends = UInt32(frame.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0
    switch UInt32(frame.type) {
    case NGHTTP2_DATA.rawValue:
      if id != newest, let violation = violation(id) { return violation }
      if ends { end(id) }
    case NGHTTP2_HEADERS.rawValue:
      if id > highest {
        open(id)
      } else if id != newest, let violation = violation(id) {
        return violation
      }
      if ends { end(id) }
    case NGHTTP2_RST_STREAM.rawValue where id <= highest:
      if id == newest || violation(id) == nil { end(-id) }
    default: break
    }
    return nil
  }

  private mutating func open(_ id: Int32) {
    // The sum `highest + 2` would overflow for the last ids.
    if id - 2 > highest {
      if gaps.count == Self.maxGaps { gaps.removeFirst() }
      gaps.append(highest + 1...id - 1)
    }
    highest = id
    newest = id
  }

  private mutating func end(_ id: Int32) {
    if abs(id) == newest { newest = 0 }
    ended[next] = id
    next = (next + 1) % Self.capacity
  }

  private func violation(_ id: Int32) -> Violation? {
    guard id > 0 else { return nil }
    if ended.contains(id) { return .afterEnd }
    if ended.contains(-id) { return .afterReset }
    return gaps.contains { $0.contains(id) } ? .skipped : nil
  }
}
