internal import CZlib

/// Compresses bytes as gzip (RFC 1952). Returns `nil` if zlib could not allocate memory; send them uncompressed then.
package func gzip(_ bytes: [UInt8]) -> [UInt8]? {
  var stream = z_stream()
  guard entitled_deflate_init_gzip(&stream) == Z_OK else { return nil }
  defer { deflateEnd(&stream) }
  let bound = Int(deflateBound(&stream, UInt(bytes.count)))
  return bytes.withUnsafeBufferPointer { input in
    var isComplete = false
    let output = [UInt8](unsafeUninitializedCapacity: bound) { output, count in
      stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
      stream.avail_in = UInt32(input.count)
      stream.next_out = output.baseAddress
      stream.avail_out = UInt32(output.count)
      isComplete = deflate(&stream, Z_FINISH) == Z_STREAM_END
      count = isComplete ? Int(stream.total_out) : 0
    }
    return isComplete ? output : nil
  }
}

/// Decompresses one gzip member (RFC 1952), and stops at the byte after `limit`, so that a small message cannot exhaust memory
/// or time. The bytes are exactly one member: no client sends several, and many empty ones would only cost.
///
/// - Throws: ``CompressionError`` for bytes that are not gzip or are cut off, for more than `limit` bytes of content,
///   or if zlib has no memory.
package func gunzip(_ bytes: UnsafeRawBufferPointer, limit: Int) throws(CompressionError) -> [UInt8] {
  guard let size = gunzippedSize(bytes) else { throw .damaged }
  return try inflating(bytes) { stream throws(CompressionError) in
    // One byte more shows that there is more than the limit or the claim.
    let (content, result) = inflatePiece(&stream, capacity: min(size, limit) + 1, Z_FINISH)
    guard size <= limit || content.count <= limit else { throw .tooLarge(limit: limit) }
    guard result == Z_STREAM_END, stream.avail_in == 0 else { throw .damaged }
    return content
  }
}

/// The size of the content that a gzip member claims at its end (RFC 1952, section 2.3.1); `nil` for fewer bytes than a member
/// has. Nothing else is checked, and the end may be missing.
package func gunzippedSize(_ bytes: UnsafeRawBufferPointer) -> Int? {
  guard bytes.count >= smallestMember else { return nil }
  let claim = bytes.loadUnaligned(fromByteOffset: bytes.count - 4, as: UInt32.self)
  return Int(UInt32(littleEndian: claim))
}

/// The bytes of a member without content: its header, an empty block of DEFLATE, and its end.
private let smallestMember = 20

/// Decompresses a gzip file as ``gunzip(_:limit:)`` does. It can have several members (RFC 1952, section 2.2), because programs
/// join files and compress their parts separately. The limit is for all of them together.
///
/// - Throws: as ``gunzip(_:limit:)``.
package func gunzipFile(_ bytes: UnsafeRawBufferPointer, limit: Int) throws(CompressionError) -> [UInt8] {
  try inflating(bytes) { stream throws(CompressionError) in
    var output: [UInt8] = []
    while true {
      let capacity = min(inflatedPiece - 1, limit - output.count) + 1
      let (piece, result) = inflatePiece(&stream, capacity: capacity, Z_NO_FLUSH)
      output.append(contentsOf: piece)
      guard output.count <= limit else { throw .tooLarge(limit: limit) }
      if result == Z_STREAM_END {
        if stream.avail_in == 0 { return output }
        guard inflateReset(&stream) == Z_OK else { throw .damaged }
      } else {
        guard result == Z_OK, stream.avail_in > 0 || piece.count == capacity else { throw .damaged }
      }
    }
  }
}

private let inflatedPiece = 64 * 1_024

private func inflating(
  _ bytes: UnsafeRawBufferPointer, _ body: (inout z_stream) throws(CompressionError) -> [UInt8]
) throws(CompressionError) -> [UInt8] {
  var stream = z_stream()
  guard entitled_inflate_init_gzip(&stream) == Z_OK else { throw .outOfMemory }
  defer { inflateEnd(&stream) }
  stream.next_in = UnsafeMutablePointer(mutating: bytes.assumingMemoryBound(to: UInt8.self).baseAddress)
  stream.avail_in = UInt32(bytes.count)
  return try body(&stream)
}

private func inflatePiece(
  _ stream: inout z_stream, capacity: Int, _ flush: CInt
) -> (piece: [UInt8], result: CInt) {
  var result: CInt = Z_OK
  let piece = [UInt8](unsafeUninitializedCapacity: capacity) { output, count in
    stream.next_out = output.baseAddress
    stream.avail_out = UInt32(capacity)
    result = inflate(&stream, flush)
    count = capacity - Int(stream.avail_out)
  }
  return (piece, result)
}

/// The reason compression or decompression failed.
package enum CompressionError: Error, Hashable, Sendable {
  /// The compressed data is malformed or truncated.
  case damaged
  /// The decompressed data exceeds `limit` bytes.
  case tooLarge(limit: Int)
  /// zlib could not allocate memory.
  case outOfMemory
}

extension CompressionError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .damaged: "the compressed data is malformed"
    case .tooLarge(let limit): "the decompressed data exceeds \(limit) bytes"
    case .outOfMemory: "zlib could not allocate memory"
    }
  }
}

/// Compresses many short, similar texts with raw DEFLATE (RFC 1951) and a preset dictionary.
///
/// It reads the dictionary once: each text starts with a copy of the state after it, which takes half of the time. Its memory
/// is allocated once. It must not be used by two threads at the same time.
package final class Deflater {
  /// zlib needs 70 KiB for a state.
  private static let arenaSize = 160 << 10

  // On the heap, because zlib stores the addresses.
  /// The state after the dictionary.
  private let primed = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
  /// Its copy for the present text.
  private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
  private let arena: UnsafeMutablePointer<entitled_arena>
  /// The part of the arena that ``primed`` takes.
  private let primedSize: Int

  /// A compressor with a preset dictionary, whose most frequent strings should come last.
  ///
  /// - Throws: ``CompressionError`` if zlib has no memory.
  package init(dictionary: [UInt8]) throws(CompressionError) {
    let memory = UnsafeMutableRawPointer.allocate(byteCount: Self.arenaSize, alignment: 16)
    arena = .allocate(capacity: 1)
    arena.initialize(
      to: entitled_arena(
        memory: memory.assumingMemoryBound(to: CChar.self), size: Self.arenaSize, used: 0))
    primed.initialize(to: z_stream())
    stream.initialize(to: z_stream())
    entitled_use_arena(primed, arena)
    let isPrimed =
      entitled_deflate_init_raw(primed) == Z_OK
      && deflateSetDictionary(primed, dictionary, UInt32(dictionary.count)) == Z_OK
    primedSize = arena.pointee.used
    guard isPrimed else { throw .outOfMemory }
  }

  deinit {
    deflateEnd(primed)
    primed.deallocate()
    stream.deallocate()
    arena.pointee.memory.deallocate()
    arena.deallocate()
  }

  /// Returns the compressed bytes; ``inflated(_:count:dictionary:)`` with the same dictionary restores them.
  ///
  /// - Throws: ``CompressionError`` if zlib has no memory.
  package func deflated(_ bytes: [UInt8]) throws(CompressionError) -> [UInt8] {
    arena.pointee.used = primedSize
    guard deflateCopy(stream, primed) == Z_OK else { throw .outOfMemory }
    defer { deflateEnd(stream) }
    let bound = Int(deflateBound(stream, UInt(bytes.count)))
    var isComplete = false
    let output = [UInt8](unsafeUninitializedCapacity: bound) { output, count in
      bytes.withUnsafeBufferPointer { input in
        stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
        stream.pointee.avail_in = UInt32(input.count)
        stream.pointee.next_out = output.baseAddress
        stream.pointee.avail_out = UInt32(output.count)
        isComplete = deflate(stream, Z_FINISH) == Z_STREAM_END
        count = Int(stream.pointee.total_out)
      }
    }
    guard isComplete else { throw .outOfMemory }
    return output
  }
}

/// Decompresses the output of a ``Deflater`` with the same dictionary.
///
/// - Throws: ``CompressionError/damaged`` if the result does not have exactly `count` bytes.
package func inflated(
  _ bytes: ArraySlice<UInt8>, count: Int, dictionary: [UInt8]
) throws(CompressionError) -> [UInt8] {
  var stream = z_stream()
  guard entitled_inflate_init_raw(&stream) == Z_OK else { throw .outOfMemory }
  defer { inflateEnd(&stream) }
  guard inflateSetDictionary(&stream, dictionary, UInt32(dictionary.count)) == Z_OK else { throw .damaged }
  var isComplete = false
  // At least one byte, because zlib requires an address even for an empty result.
  let output = [UInt8](unsafeUninitializedCapacity: max(count, 1)) { output, written in
    bytes.withUnsafeBufferPointer { input in
      stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
      stream.avail_in = UInt32(input.count)
      stream.next_out = output.baseAddress
      stream.avail_out = UInt32(count)
      isComplete = inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.avail_in == 0
      written = Int(stream.total_out)
    }
  }
  guard isComplete, output.count == count else { throw .damaged }
  return output
}
