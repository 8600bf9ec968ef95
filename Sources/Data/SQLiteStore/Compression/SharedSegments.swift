internal import Bytes
internal import Platform
internal import SQLite
internal import SignedData
internal import Store

/// The rows of `shared_segment`: what many documents share, once.
final class SharedSegments {
  /// More certificate chains than are in use at one time.
  private static let remembered = 64

  private let connection: Connection
  private let find: Statement
  private let insert: Statement
  private let select: Statement
  /// The part that was used last is last: mostly it is used again. To compare one is cheaper than to hash it.
  private var numbers: [(part: [UInt8], number: Int64)] = []
  private var contents: [Int64: [UInt8]] = [:]

  init(_ connection: Connection) throws(StoreError) {
    self.connection = connection
    find = try Statement("SELECT segment_id FROM shared_segment WHERE content_hash = ?", on: connection)
    insert = try Statement(
      "INSERT INTO shared_segment (content_hash, content) VALUES (?, ?)", on: connection)
    select = try Statement("SELECT content FROM shared_segment WHERE segment_id = ?", on: connection)
  }

  /// The number of a part. If it has none it gets one, or, unless it `mayBeNew`, `nil` is answered.
  func number(of part: ArraySlice<UInt8>, mayBeNew: Bool) throws(StoreError) -> Int64? {
    if let place = numbers.lastIndex(where: { $0.part[...].hasSameBytes(as: part) }) {
      numbers.swapAt(place, numbers.count - 1)
      return numbers.last?.number
    }
    let hash = SHA256.hash(part)
    let known = try known(hash)
    guard known != nil || mayBeNew else { return nil }
    let number = if let known { known } else { try add(Array(part), hash) }
    if numbers.count >= Self.remembered { numbers.removeFirst() }
    numbers.append((Array(part), number))
    return number
  }

  /// The part that has a number.
  func part(_ number: Int64) throws(StoreError) -> [UInt8] {
    if let known = contents[number] { return known }
    try select.bind(1, number)
    defer { select.reset() }
    guard try select.step() else { throw .corrupt("evidence refers to a common part that is not there") }
    let part = select.bytes(0)
    if contents.count >= Self.remembered { contents = [:] }
    contents[number] = part
    return part
  }

  /// What was added may not have stayed.
  func forget() {
    numbers = []
    contents = [:]
  }

  private func known(_ hash: [UInt8]) throws(StoreError) -> Int64? {
    try find.bind(1, hash)
    defer { find.reset() }
    return try find.step() ? find.number(0) : nil
  }

  private func add(_ part: [UInt8], _ hash: [UInt8]) throws(StoreError) -> Int64 {
    try insert.bind(1, hash)
    try insert.bind(2, part)
    try insert.run()
    return connection.lastInsertedRow
  }
}

/// Where the certificates of a signed receipt are (PKCS#7, RFC 2315 section 9.1); `nil` in what is none.
///
/// Only tags and lengths are looked at: a wrong guess costs space and nothing else.
func receiptCertificates(in bytes: ArraySlice<UInt8>) -> Range<Int>? {
  var walk = Walk(bytes: bytes, position: bytes.startIndex)
  // ContentInfo: its type, then [0] SignedData: version, digest algorithms, content, [0] certificates.
  guard walk.enter(0x30), walk.skip(0x06), walk.enter(0xA0), walk.enter(0x30), walk.skip(0x02),
    walk.skip(0x31), walk.skip(0x30)
  else { return nil }
  let start = walk.position
  return walk.skip(0xA0) ? start..<walk.position : nil
}

/// Goes through DER from one element to the next.
private struct Walk {
  let bytes: ArraySlice<UInt8>
  var position: Int

  /// Goes to the first element inside one of this tag.
  mutating func enter(_ tag: UInt8) -> Bool {
    guard let contents = element(tag) else { return false }
    position = contents.lowerBound
    return true
  }

  /// Goes behind an element of this tag.
  mutating func skip(_ tag: UInt8) -> Bool {
    guard let contents = element(tag) else { return false }
    position = contents.upperBound
    return true
  }

  /// The contents of the element here, if it has this tag and a definite length within the bytes.
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
