internal import Bytes
internal import SignedData

/// A digest of rows that does not depend on their order: the sum of their SHA-256 digests, in four numbers without
/// carry.
package struct RowSum: Hashable, Sendable, CustomStringConvertible {
  private var sum: [UInt64] = [0, 0, 0, 0]

  /// The sum of no rows.
  package init() {}

  /// Adds an encoded row.
  mutating func add(_ row: [UInt8]) {
    let digest = SHA256.hash(row[...])
    for index in sum.indices {
      sum[index] &+= digest[(8 * index)..<(8 * index + 8)].reduce(0) { $0 << 8 | UInt64($1) }
    }
  }

  /// 64 hexadecimal digits.
  package var description: String {
    Hex.encode(sum.flatMap { number in (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) } })
  }
}

extension [UInt8] {
  /// Appends a part of a row with its size, so that parts cannot run into each other.
  mutating func append(part: [UInt8]) {
    Varint.append(UInt64(part.count), to: &self)
    self += part
  }
}
