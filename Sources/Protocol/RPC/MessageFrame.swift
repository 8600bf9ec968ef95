internal import Platform

/// The compression of a message (gRPC over HTTP/2, "Message-Encoding").
package enum MessageEncoding: Hashable, Sendable {
  /// The message is as it is.
  case identity
  /// The message is compressed with gzip (RFC 1952).
  case gzip

  /// The value of `grpc-accept-encoding`.
  package static let accepted = "identity,gzip"
}

/// The reason why a message frame is invalid.
package enum FramingError: Error, Hashable, Sendable {
  /// The compression flag is neither 0 nor 1.
  case badFlag(UInt8)
  /// The message exceeds the limit, compressed or not.
  case tooLarge(limit: Int)
  /// The stream ended in the middle of a message.
  case truncated
  /// The message is compressed, but there is no `grpc-encoding`.
  case compressedWithoutEncoding
  /// The compressed data is corrupt.
  case badCompression
}

extension Status {
  /// The status of a call whose message frame is invalid (gRPC, "Status codes and their use in gRPC").
  package init(_ error: FramingError) {
    switch error {
    case .badFlag(let flag):
      self.init(.internalError, "a message has the compression flag \(flag), which must be 0 or 1")
    case .tooLarge(let limit):
      self.init(.resourceExhausted, "the message is larger than the limit of \(limit) bytes")
    case .truncated:
      self.init(.invalidArgument, "the stream ended inside a message frame")
    case .compressedWithoutEncoding:
      self.init(.internalError, "a message is marked compressed but there is no grpc-encoding")
    case .badCompression:
      // gRPC's documentation, "Compression": the peer announced an encoding that the message does not have.
      self.init(.internalError, "a message has corrupt gzip data")
    }
  }
}

/// The prefix of every message (gRPC over HTTP/2, "Length-Prefixed-Message"): one byte for the compression
/// flag and four for the length, big-endian.
package struct MessageFrame: Hashable, Sendable {
  /// In bytes.
  package static let prefixLength = 5

  /// Whether the first byte of the frame says that the message is compressed.
  package let isCompressed: Bool
  /// The size of the message in bytes, compressed if ``isCompressed``; without the prefix.
  package let length: Int

  /// Decodes the prefix at the start of `bytes`; `nil` while it is incomplete.
  ///
  /// - Throws: ``FramingError/badFlag(_:)`` or ``FramingError/tooLarge(limit:)``.
  package init?(prefixOf bytes: UnsafeRawBufferPointer, limit: Int) throws(FramingError) {
    guard bytes.count >= Self.prefixLength else { return nil }
    guard bytes[0] <= 1 else { throw .badFlag(bytes[0]) }
    isCompressed = bytes[0] == 1
    length = Int(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 1, as: UInt32.self)))
    guard length <= limit else { throw .tooLarge(limit: limit) }
  }

  /// The size of the prefix and its message.
  package var totalLength: Int { Self.prefixLength + length }

  /// Appends `message` with its prefix to `output`, compressed if `encoding` says so.
  package static func append(_ message: [UInt8], to output: inout [UInt8], encoding: MessageEncoding) {
    let packed = encoding == .gzip ? gzip(message) : nil
    let body = packed ?? message
    output.append(packed == nil ? 0 : 1)
    withUnsafeBytes(of: UInt32(truncatingIfNeeded: body.count).bigEndian) { output.append(contentsOf: $0) }
    output.append(contentsOf: body)
  }

  /// The message as it was sent, compressed if ``isCompressed``. `bytes` starts with the prefix and contains the whole
  /// message.
  package func body(in bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: bytes[Self.prefixLength..<totalLength])
  }

  /// The size that the compressed message claims to have decompressed, at most; 0 for a message that is too short to be one.
  /// `bytes` starts with the prefix and contains the whole message.
  package func claimedSize(in bytes: UnsafeRawBufferPointer) -> Int { gunzippedSize(body(in: bytes)) ?? 0 }

  /// A copy of the message, decompressed. `bytes` starts with the prefix and contains the whole message.
  ///
  /// - Throws: ``FramingError/compressedWithoutEncoding``, ``FramingError/badCompression``, or
  ///   ``FramingError/tooLarge(limit:)`` if the decompressed message has more than `limit` bytes.
  package func message(
    in bytes: UnsafeRawBufferPointer, encoding: MessageEncoding, limit: Int
  ) throws(FramingError) -> [UInt8] {
    let body = body(in: bytes)
    guard isCompressed else { return Array(body) }
    guard encoding == .gzip else { throw .compressedWithoutEncoding }
    return try Self.inflated(body, limit: limit)
  }

  /// A compressed message, decompressed. A small one may take milliseconds.
  ///
  /// - Throws: ``FramingError`` for a body that is not gzip, or that expands to more than `limit` bytes.
  package static func inflated(_ body: UnsafeRawBufferPointer, limit: Int) throws(FramingError) -> [UInt8] {
    do throws(CompressionError) { return try gunzip(body, limit: limit) } catch { throw FramingError(error) }
  }
}

extension FramingError {
  fileprivate init(_ error: CompressionError) {
    switch error {
    case .damaged, .outOfMemory: self = .badCompression
    case .tooLarge(let limit): self = .tooLarge(limit: limit)
    }
  }
}
