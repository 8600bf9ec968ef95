internal import Bytes
package import Store

/// The text of a position: 33 bytes in base64url.
///
/// It names the term of the store's history, so that no other store and no restored one accepts it. It is no secret and
/// proves nothing: a caller that invents one only delays its own call. Replicas need no common key for it.
package enum PositionToken {
  /// The number of characters; no bits are left over in the last one.
  private static let length = 44
  private static let byteCount = 33
  private static let version: UInt8 = 1

  /// Returns the text of a position, whose term must not be 0: ``PositionTokens/token(_:)`` fills it in.
  package static func text(of position: StorePosition) -> String {
    var bytes: [UInt8] = [version]
    bytes.reserveCapacity(byteCount)
    bytes.append(littleEndian: position.term)
    bytes.append(littleEndian: position.appHash)
    bytes.append(littleEndian: position.sequence)
    bytes.append(littleEndian: position.mark)
    bytes.append(littleEndian: checksum(position))
    return Base64.url.encode(bytes)
  }

  /// Returns the position of a token; `nil` for any other text. Allocates nothing: calls with a token are frequent.
  package static func position(in text: UnsafeRawBufferPointer) -> StorePosition? {
    guard text.count == length else { return nil }
    return withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 1) { bytes -> StorePosition? in
      guard Base64.url.decode(text, into: bytes) else { return nil }
      let bytes = UnsafeRawBufferPointer(bytes)
      let position = StorePosition(
        term: bytes.number(at: 1), appHash: bytes.number(at: 9), sequence: bytes.number(at: 13),
        mark: bytes.number(at: 21))
      let isIntact = bytes.number(at: 29) == checksum(position) && bytes[0] == version
      return isIntact && position.sequence >= 0 && position.mark >= 0 ? position : nil
    }
  }

  /// Detects texts that were changed or cut off by mistake.
  private static func checksum(_ position: StorePosition) -> UInt32 {
    var hash = (position.term ^ UInt64(position.appHash)) &* 0x9E37_79B9_7F4A_7C15
    hash = (hash ^ hash >> 32 ^ UInt64(bitPattern: position.sequence)) &* 0x9E37_79B9_7F4A_7C15
    hash = (hash ^ hash >> 32 ^ UInt64(bitPattern: position.mark)) &* 0x9E37_79B9_7F4A_7C15
    return UInt32(truncatingIfNeeded: hash >> 32)
  }
}

extension [UInt8] {
  fileprivate mutating func append(littleEndian value: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
  }
}

extension UnsafeRawBufferPointer {
  fileprivate func number<Value: FixedWidthInteger & BitwiseCopyable>(at offset: Int) -> Value {
    Value(littleEndian: loadUnaligned(fromByteOffset: offset, as: Value.self))
  }
}
