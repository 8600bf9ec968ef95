/// Why bytes could not be unpacked.
package enum CompressionError: Error, Hashable, Sendable {
  /// They are not what a packer wrote, or not all of it.
  case damaged
  /// More than this many bytes would come out.
  case tooLarge(limit: Int)
  /// zlib had no memory.
  case outOfMemory
}

extension CompressionError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .damaged: "the packed bytes are damaged"
    case .tooLarge(let limit): "unpacked it would have more than \(limit) bytes"
    case .outOfMemory: "there is no memory for packing"
    }
  }
}
