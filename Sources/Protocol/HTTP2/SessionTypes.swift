internal import CNghttp2

/// A failed operation of nghttp2. The connection cannot be used any more.
package struct HTTP2Error: Error, Equatable, CustomStringConvertible {
  /// A negative `nghttp2_error`, as a number so that no C type leaves the module.
  package let code: Int32

  package var description: String { "HTTP/2: \(String(cString: nghttp2_strerror(code)))" }
}

/// Throws the negative results of nghttp2.
func check(_ result: CInt) throws(HTTP2Error) {
  guard result >= 0 else { throw HTTP2Error(code: result) }
}

/// The number of a stream on its connection (RFC 9113, section 5.1.1).
package struct StreamID: RawRepresentable, Hashable, Sendable {
  /// Odd for a stream that the client opened; 0 is the connection.
  package let rawValue: Int32
  package init(rawValue: Int32) { self.rawValue = rawValue }
}

/// The codes with which a stream or a connection ends (RFC 9113, section 7).
package struct ErrorCode: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt32
  package init(rawValue: UInt32) { self.rawValue = rawValue }

  /// NO_ERROR: an orderly end.
  package static let noError = ErrorCode(rawValue: 0x0)
  /// PROTOCOL_ERROR: the peer broke a rule for which there is no specific error code.
  package static let protocolError = ErrorCode(rawValue: 0x1)
  /// INTERNAL_ERROR: the sender of the code failed.
  package static let internalError = ErrorCode(rawValue: 0x2)
  /// A frame on a stream that its sender has ended.
  package static let streamClosed = ErrorCode(rawValue: 0x5)
  /// The request was not processed, so the client may retry it (RFC 9113, section 8.7).
  package static let refusedStream = ErrorCode(rawValue: 0x7)
  /// CANCEL: the stream is no longer needed.
  package static let cancel = ErrorCode(rawValue: 0x8)
  /// The peer causes too much load.
  package static let enhanceYourCalm = ErrorCode(rawValue: 0xb)

  /// Whether a stream ends with this code because of an invalid frame: PROTOCOL_ERROR, FLOW_CONTROL_ERROR,
  /// STREAM_CLOSED, FRAME_SIZE_ERROR. A client can provoke such resets as fast as it resets streams itself
  /// (CVE-2025-8671).
  var blamesPeer: Bool {
    switch rawValue {
    case 0x1, 0x3, 0x5, 0x6: true
    default: false
    }
  }
}

/// The part of its input that a session has read. The owner passes the rest: later, if the part was costly.
package struct ReceivedPart: Equatable, Sendable {
  /// In bytes.
  package let count: Int
  /// Whether its frames only cost, or will by the resets that nghttp2 has yet to send, or opened requests without an end
  /// that cost much.
  package let isCostly: Bool
}

/// An action of the peer. A value without references, because a call causes three of them.
package enum SessionEvent: Equatable, Sendable {
  /// A request's (or a final response's) header fields are complete.
  case headers(StreamID, endOfStream: Bool)
  /// More of the body can be removed.
  case data(StreamID, endOfStream: Bool)
  /// The fields after the body are complete; the stream has ended in this direction.
  case trailers(StreamID)
  /// The peer sent more header bytes than ``Limits/headerBytes``; they were dropped.
  case headersTooLarge(StreamID)
  /// All output of the stream has been sent.
  case drained(StreamID)
  /// The stream is closed, by its end in both directions or by a reset.
  case closed(StreamID, ErrorCode)
  /// The peer will open or accept no more streams.
  case goAway(ErrorCode)
  /// The acknowledgement of a ping, with its payload.
  case pong(UInt64)
}

/// The limits of one connection.
package struct Limits: Hashable, Sendable {
  /// The maximum number of open streams.
  package var concurrentStreams: UInt32 = 1_000
  /// The maximum size of the header fields of one request, counted as RFC 9113, section 6.5.2 does.
  package var headerBytes: Int = 16 * 1_024
  /// The flow-control window of one stream, in bytes.
  package var streamWindow: UInt32 = 256 * 1_024
  /// The flow-control window of all streams together, in bytes.
  package var connectionWindow: UInt32 = 4 * 1_024 * 1_024

  package init() {}
}
