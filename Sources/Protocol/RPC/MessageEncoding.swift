/// How the bytes of a message are packed (gRPC over HTTP/2, "Message-Encoding").
package enum MessageEncoding: Hashable, Sendable {
  case identity
  case gzip

  /// What we tell a peer that we read.
  package static let accepted = "identity,gzip"
}

/// Why a message could not be taken out of its frame.
package enum FramingError: Error, Hashable, Sendable {
  /// The flag in front is neither 0 nor 1.
  case badFlag(UInt8)
  /// The message, or what it unpacks to, is larger than allowed.
  case tooLarge(limit: Int)
  /// The stream ended in the middle of a message.
  case truncated
  /// The flag says compressed and no `grpc-encoding` says how.
  case compressedWithoutEncoding
  /// The packed bytes are damaged.
  case badCompression
}

extension Status {
  package init(_ error: FramingError) {
    switch error {
    case .badFlag(let flag):
      self.init(.internalError, "a message's compression flag is \(flag); it must be 0 or 1")
    case .tooLarge(let limit):
      self.init(.resourceExhausted, "the message is larger than the limit of \(limit) bytes")
    case .truncated:
      self.init(.invalidArgument, "the stream ended inside a message: its frame is truncated")
    case .compressedWithoutEncoding:
      self.init(.internalError, "a message is marked compressed but there is no grpc-encoding")
    case .badCompression:
      self.init(.invalidArgument, "a message's gzip data is damaged")
    }
  }
}
