internal import Platform

/// The five bytes in front of every message (gRPC over HTTP/2, "Length-Prefixed-Message"): a flag that
/// says whether it is packed, and its length, big-endian.
package struct MessageFrame: Hashable, Sendable {
  package static let prefixLength = 5

  package let isCompressed: Bool
  package let length: Int

  /// Reads the prefix at the start of `bytes`; `nil` while it is not all there.
  package init?(prefixOf bytes: UnsafeRawBufferPointer, limit: Int) throws(FramingError) {
    guard bytes.count >= Self.prefixLength else { return nil }
    guard bytes[0] <= 1 else { throw .badFlag(bytes[0]) }
    isCompressed = bytes[0] == 1
    length = Int(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 1, as: UInt32.self)))
    guard length <= limit else { throw .tooLarge(limit: limit) }
  }

  /// How many bytes the prefix and its message take.
  package var totalLength: Int { Self.prefixLength + length }

  /// Adds `message` with its prefix to `output`, packed if asked.
  package static func append(_ message: [UInt8], to output: inout [UInt8], encoding: MessageEncoding) {
    let packed = encoding == .gzip ? gzip(message) : nil
    let body = packed ?? message
    output.append(packed == nil ? 0 : 1)
    withUnsafeBytes(of: UInt32(truncatingIfNeeded: body.count).bigEndian) { output.append(contentsOf: $0) }
    output.append(contentsOf: body)
  }

  /// Gives the message behind the prefix, unpacked if it was packed. `bytes` starts with the prefix and
  /// holds all of the message.
  package func withMessage(
    in bytes: UnsafeRawBufferPointer, encoding: MessageEncoding, limit: Int,
    _ body: (UnsafeRawBufferPointer) -> Void
  ) throws(FramingError) {
    let message = UnsafeRawBufferPointer(rebasing: bytes[Self.prefixLength..<totalLength])
    guard isCompressed else { return body(message) }
    guard encoding == .gzip else { throw .compressedWithoutEncoding }
    let unpacked: [UInt8]
    do {
      unpacked = try gunzip(message, limit: limit)
    } catch {
      throw FramingError(error)
    }
    unpacked.withUnsafeBytes(body)
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
