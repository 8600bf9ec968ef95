internal import CZlib

/// Packs many short texts that are much alike (RFC 1951, with a dictionary known to both sides).
///
/// Its memory is allocated once. Used by one thread at a time.
package final class Deflater {
  // On the heap, because zlib remembers the stream's address.
  private let stream: UnsafeMutablePointer<z_stream>
  private let dictionary: [UInt8]

  /// A packer that refers to what is in `dictionary`; what it needs most often should come last there.
  package init(dictionary: [UInt8]) throws(CompressionError) {
    self.dictionary = dictionary
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    guard entitled_deflate_init_raw(stream) == Z_OK else { throw .outOfMemory }
  }

  deinit {
    deflateEnd(stream)
    stream.deinitialize(count: 1)
    stream.deallocate()
  }

  /// `bytes`, packed; ``inflated(_:count:dictionary:)`` with the same dictionary gives them back.
  package func deflated(_ bytes: [UInt8]) throws(CompressionError) -> [UInt8] {
    guard deflateReset(stream) == Z_OK,
      deflateSetDictionary(stream, dictionary, UInt32(dictionary.count)) == Z_OK
    else { throw .outOfMemory }
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

/// Unpacks what a ``Deflater`` with the same dictionary packed. Exactly `count` bytes come out, or it throws.
package func inflated(
  _ bytes: ArraySlice<UInt8>, count: Int, dictionary: [UInt8]
) throws(CompressionError) -> [UInt8] {
  var stream = z_stream()
  guard entitled_inflate_init_raw(&stream) == Z_OK else { throw .outOfMemory }
  defer { inflateEnd(&stream) }
  guard inflateSetDictionary(&stream, dictionary, UInt32(dictionary.count)) == Z_OK else { throw .damaged }
  var isComplete = false
  // Room for one byte more than none: zlib wants an address also where nothing comes out.
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
