/// The header of a frame (RFC 9113, section 4.1).
struct FrameHeader {
  /// The size of the payload in bytes, at most 2^24 - 1.
  let length: Int
  /// RFC 9113, section 6; unknown types are ignored.
  let type: UInt8
  /// Their meaning depends on the type.
  let flags: UInt8
  /// The stream; 0: the connection.
  let stream: Int32

  /// In bytes.
  static let size = 9

  init(_ bytes: UnsafeRawBufferPointer) {
    length = Int(bytes[0]) << 16 | Int(bytes[1]) << 8 | Int(bytes[2])
    type = bytes[3]
    flags = bytes[4]
    let number = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 5, as: UInt32.self))
    stream = Int32(truncatingIfNeeded: number & 0x7fff_ffff)
  }
}

/// Finds the frame headers in the bytes of a client.
///
/// nghttp2 does not report the frames that it ignores: those on closed streams, and those of unknown types.
struct FrameScanner {
  /// The bytes that precede the next frame header: first the connection preface, then payloads.
  private var skipped = 24
  /// The start of a header whose rest is still to come.
  private var partial: [UInt8] = []

  /// A frame, and where its header starts in the scanned bytes; 0 if it started before them.
  struct Found {
    let header: FrameHeader
    let start: Int
  }

  /// Returns the next frame whose header ends in `bytes`, and moves `position` after this header.
  mutating func next(in bytes: UnsafeRawBufferPointer, from position: inout Int) -> Found? {
    let payload = min(skipped, bytes.count - position)
    position += payload
    skipped -= payload
    guard skipped == 0, position < bytes.count else { return nil }
    let start = position
    let count = min(FrameHeader.size - partial.count, bytes.count - position)
    let part = UnsafeRawBufferPointer(rebasing: bytes[position..<position + count])
    position += count
    if count == FrameHeader.size { return found(FrameHeader(part), start) }
    partial.append(contentsOf: part)
    guard partial.count == FrameHeader.size else { return nil }
    let header = partial.withUnsafeBytes(FrameHeader.init)
    partial.removeAll(keepingCapacity: true)
    return found(header, 0)
  }

  private mutating func found(_ header: FrameHeader, _ start: Int) -> Found {
    skipped = header.length
    return Found(header: header, start: start)
  }
}
