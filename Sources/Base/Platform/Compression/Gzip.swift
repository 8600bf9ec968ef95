internal import CZlib

/// Packs bytes as gzip (RFC 1952); `nil` if zlib has no memory for it, and the caller sends them as they are.
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

/// Unpacks gzip. It stops as soon as more than `limit` bytes come out, whatever the data promises, so
/// that a small message cannot fill the memory.
package func gunzip(_ bytes: UnsafeRawBufferPointer, limit: Int) throws(CompressionError) -> [UInt8] {
  var stream = z_stream()
  guard entitled_inflate_init_gzip(&stream) == Z_OK else { throw .outOfMemory }
  defer { inflateEnd(&stream) }
  stream.next_in = UnsafeMutablePointer(mutating: bytes.assumingMemoryBound(to: UInt8.self).baseAddress)
  stream.avail_in = UInt32(bytes.count)
  var output: [UInt8] = []
  while true {
    let (piece, result) = inflatePiece(&stream)
    output.append(contentsOf: piece)
    guard output.count <= limit else { throw .tooLarge(limit: limit) }
    if result == Z_STREAM_END { return output }
    guard result == Z_OK, stream.avail_in > 0 || piece.count == inflatedPiece else { throw .damaged }
  }
}

private let inflatedPiece = 16 * 1_024

private func inflatePiece(_ stream: inout z_stream) -> (piece: [UInt8], result: CInt) {
  var result: CInt = Z_OK
  let piece = [UInt8](unsafeUninitializedCapacity: inflatedPiece) { output, count in
    stream.next_out = output.baseAddress
    stream.avail_out = UInt32(output.count)
    result = inflate(&stream, Z_NO_FLUSH)
    count = output.count - Int(stream.avail_out)
  }
  return (piece, result)
}
