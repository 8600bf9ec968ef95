/// What the peer did, in a value without references: a call makes three of them.
package enum SessionEvent: Equatable, Sendable {
  /// A request's (or a final response's) header fields are complete.
  case headers(StreamID, endOfStream: Bool)
  /// More of the body is there to be taken.
  case data(StreamID, endOfStream: Bool)
  /// The fields behind the body are complete; the stream has ended in this direction.
  case trailers(StreamID)
  /// The peer sent more header bytes than ``Limits/headerBytes``; they were dropped.
  case headersTooLarge(StreamID)
  /// All that was given to send has been taken by the transport.
  case drained(StreamID)
  /// The stream is gone, by its end in both directions or by a reset.
  case closed(StreamID, ErrorCode)
  /// The peer will open or accept no more streams.
  case goAway(ErrorCode)
  /// The answer to a ping of ours, with what that carried.
  case pong(UInt64)
}
