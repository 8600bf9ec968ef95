internal import Bytes
internal import Platform
internal import SignedData
internal import Store

/// Stores byte sequences that many documents share once each, in `shared_segment`.
final class SharedSegments {
  /// The capacity of the cache; more than the number of certificate chains in use at one time.
  private static let cacheCapacity = 64

  private let selectID: any SQLStatement
  private let insert: any SQLStatement
  private let select: any SQLStatement
  /// Cached segments, most recently used last. Comparing with the last one is cheaper than hashing.
  private var numbers: [(segment: [UInt8], number: Int64)] = []
  /// Cached segments by id, for reads.
  private var contents: [Int64: [UInt8]] = [:]

  init(_ connection: any SQLConnection) throws(StoreError) {
    selectID = try connection.prepare("SELECT segment_id FROM shared_segment WHERE content_hash = ?")
    insert = try connection.prepare(
      "INSERT INTO shared_segment (content_hash, content) VALUES (?, ?) RETURNING segment_id")
    select = try connection.prepare("SELECT content FROM shared_segment WHERE segment_id = ?")
  }

  /// Returns the id of a segment. Inserts a missing segment if `mayBeNew`; otherwise returns `nil` for it.
  func number(of segment: ArraySlice<UInt8>, mayBeNew: Bool) throws(StoreError) -> Int64? {
    if let index = numbers.lastIndex(where: { $0.segment[...].hasSameBytes(as: segment) }) {
      numbers.swapAt(index, numbers.count - 1)
      return numbers.last?.number
    }
    let hash = SHA256.hash(segment)
    let known = try find(hash)
    guard known != nil || mayBeNew else { return nil }
    let number = if let known { known } else { try add(Array(segment), hash) }
    if numbers.count >= Self.cacheCapacity { numbers.removeFirst() }
    numbers.append((Array(segment), number))
    return number
  }

  /// Returns the segment with an id.
  func segment(_ number: Int64) throws(StoreError) -> [UInt8] {
    if let known = contents[number] { return known }
    try select.bind(1, number)
    defer { select.reset() }
    guard try select.step() else { throw .corrupt("missing shared segment of evidence") }
    let segment = select.bytes(0)
    if contents.count >= Self.cacheCapacity { contents = [:] }
    contents[number] = segment
    return segment
  }

  /// Clears the cache, because a rollback may have removed inserted rows, and others may get their ids.
  func clearCache() {
    numbers = []
    contents = [:]
  }

  /// Returns the id of the segment with this SHA-256; `nil` if there is none.
  private func find(_ hash: [UInt8]) throws(StoreError) -> Int64? {
    try selectID.bind(1, hash)
    defer { selectID.reset() }
    return try selectID.step() ? selectID.number(0) : nil
  }

  /// Inserts a segment and returns its id.
  private func add(_ segment: [UInt8], _ hash: [UInt8]) throws(StoreError) -> Int64 {
    try insert.bind(1, hash)
    try insert.bind(2, segment)
    defer { insert.reset() }
    guard try insert.step() else { throw .failed("a shared segment was not inserted") }
    return insert.number(0)
  }
}

/// Returns the range of the certificates in a signed receipt (PKCS#7, RFC 2315 section 9.1); `nil` if the
/// bytes are not one.
///
/// Checks only tags and lengths: a wrong result costs space but not correctness.
func receiptCertificates(in bytes: ArraySlice<UInt8>) -> Range<Int>? {
  var reader = DERReader(bytes: bytes, position: bytes.startIndex)
  // ContentInfo: its type, then [0] SignedData: version, digest algorithms, content, [0] certificates.
  guard reader.enter(0x30), reader.skip(0x06), reader.enter(0xA0), reader.enter(0x30), reader.skip(0x02),
    reader.skip(0x31), reader.skip(0x30)
  else { return nil }
  let start = reader.position
  return reader.skip(0xA0) ? start..<reader.position : nil
}

/// Walks over DER elements.
private struct DERReader {
  let bytes: ArraySlice<UInt8>
  var position: Int

  /// Enters an element with this tag.
  mutating func enter(_ tag: UInt8) -> Bool {
    guard let contents = element(tag) else { return false }
    position = contents.lowerBound
    return true
  }

  /// Skips an element with this tag.
  mutating func skip(_ tag: UInt8) -> Bool {
    guard let contents = element(tag) else { return false }
    position = contents.upperBound
    return true
  }

  /// Returns the contents of the current element, if it has this tag and a definite length within the bytes.
  private func element(_ tag: UInt8) -> Range<Int>? {
    guard position + 1 < bytes.endIndex, bytes[position] == tag else { return nil }
    var (start, length) = (position + 2, Int(bytes[position + 1]))
    if length >= 0x80 {
      let count = length - 0x80
      guard (1...3).contains(count), start + count <= bytes.endIndex else { return nil }
      length = bytes[start..<start + count].reduce(0) { $0 << 8 | Int($1) }
      start += count
    }
    return length <= bytes.endIndex - start ? start..<start + length : nil
  }
}
