/// What a peer may make one connection hold.
package struct Limits: Hashable, Sendable {
  /// Streams open at once.
  package var concurrentStreams: UInt32 = 1_000
  /// Bytes of header fields of one request, counted as RFC 9113, section 6.5.2 does.
  package var headerBytes: Int = 16 * 1_024
  /// Bytes that a peer may send on one stream before the reader has taken any.
  package var streamWindow: UInt32 = 256 * 1_024
  /// Bytes that a peer may send on all streams together before they were received.
  package var connectionWindow: UInt32 = 4 * 1_024 * 1_024

  package init() {}
}
