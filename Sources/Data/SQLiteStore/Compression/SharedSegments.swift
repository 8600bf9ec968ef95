internal import Bytes
internal import Platform
internal import SQLite
internal import SignedData
internal import Store

/// The rows of `common_part`: what many documents share, once.
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
    find = try Statement("SELECT part_id FROM common_part WHERE content_hash = ?", on: connection)
    insert = try Statement(
      "INSERT INTO common_part (content_hash, content) VALUES (?, ?)", on: connection)
    select = try Statement("SELECT content FROM common_part WHERE part_id = ?", on: connection)
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
