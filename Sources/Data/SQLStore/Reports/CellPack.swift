internal import Bytes
internal import Store

/// A sum of postings: a row of `report_cell`, or a part of a ``CellPack``.
struct StoredCell: Hashable {
  /// ``Posting/Kind``.
  var kind: Int64
  /// The first day whose closing includes it.
  var knownDay: Int64
  /// ``noCohort``: of no cohort.
  var cohortDay: Int64
  /// The day of the postings, as ``ReportDay/number``.
  var day: Int64
  /// The dimensions, reason and currency, by their row in `report_key`.
  var keyID: Int64
  /// The age within a cohort; 0 without one.
  var age: Int64
  /// The sum of ``Posting/count``.
  var units: Int64
  /// The sum of ``Posting/amount``.
  var amount: Int64
  /// The sum of ``Posting/proceeds``.
  var proceeds: Int64

  var isZero: Bool { units == 0 && amount == 0 && proceeds == 0 }

  /// The columns of `report_cell`, in the order of the members.
  static let columns = "kind, known_day, cohort_day, day, key_id, age, units, amount, proceeds"
}

extension StoredCell {
  /// Decodes ``columns``.
  init(_ row: any SQLStatement) {
    self.init(
      kind: row.number(0), knownDay: row.number(1), cohortDay: row.number(2), day: row.number(3),
      keyID: row.number(4), age: row.number(5), units: row.number(6), amount: row.number(7),
      proceeds: row.number(8))
  }
}

/// The sums of one kind that became known with one closing, in one value.
///
/// A report of 400 days reads a million sums, and a row for each of them takes ten times as long.
struct CellPack {
  private(set) var bytes: [UInt8]

  init(_ bytes: [UInt8] = []) { self.bytes = bytes }

  /// The members of a cell that are not the usual ones, and follow its key.
  private enum Mark {
    /// The cohort follows, in days before the closing.
    static let cohort: UInt8 = 1
    /// The day is not that of the closing; the distance follows.
    static let earlier: UInt8 = 2
    /// The age follows.
    static let age: UInt8 = 4
    /// Amount and proceeds follow.
    static let amounts: UInt8 = 8
  }

  /// The bytes of a mark and a key.
  private static let headLength = 9

  /// Adds a cell of the pack's kind and closing.
  mutating func append(_ cell: StoredCell) {
    let hasAmounts = cell.amount != 0 || cell.proceeds != 0
    let marks =
      (cell.cohortDay == noCohort ? 0 : Mark.cohort) | (cell.day == cell.knownDay ? 0 : Mark.earlier)
      | (cell.age == 0 ? 0 : Mark.age) | (hasAmounts ? Mark.amounts : 0)
    bytes.append(marks)
    withUnsafeBytes(of: cell.keyID.littleEndian) { bytes.append(contentsOf: $0) }
    append(cell.units)
    if marks & Mark.cohort != 0 { append(cell.knownDay &- cell.cohortDay) }
    if marks & Mark.earlier != 0 { append(cell.knownDay &- cell.day) }
    if marks & Mark.age != 0 { append(cell.age) }
    if hasAmounts {
      append(cell.amount)
      append(cell.proceeds)
    }
  }

  /// Numbers near 0 of both signs are short.
  private mutating func append(_ number: Int64) {
    Varint.append(UInt64(bitPattern: (number &<< 1) ^ (number &>> 63)), to: &bytes)
  }

  /// Calls `body` with the cells of a stored pack, in their order.
  ///
  /// - Throws: ``StoreError/corrupt(_:)`` if the bytes are not those of a pack.
  static func forEachCell(
    in bytes: UnsafeBufferPointer<UInt8>, of kind: Int64, knownDay: Int64,
    _ body: (StoredCell) throws(StoreError) -> Void
  ) throws(StoreError) {
    let raw = UnsafeRawBufferPointer(bytes)
    var offset = 0
    while offset < raw.count {
      guard offset + headLength <= raw.count else { throw .corrupt("a pack of sums is cut off") }
      let marks = raw[offset]
      var cell = StoredCell(
        kind: kind, knownDay: knownDay, cohortDay: noCohort, day: knownDay,
        keyID: Int64(littleEndian: raw.loadUnaligned(fromByteOffset: offset + 1, as: Int64.self)), age: 0,
        units: 0, amount: 0, proceeds: 0)
      offset += headLength
      cell.units = try number(raw, at: &offset)
      if marks & Mark.cohort != 0 { cell.cohortDay = knownDay &- (try number(raw, at: &offset)) }
      if marks & Mark.earlier != 0 { cell.day = knownDay &- (try number(raw, at: &offset)) }
      if marks & Mark.age != 0 { cell.age = try number(raw, at: &offset) }
      if marks & Mark.amounts != 0 {
        cell.amount = try number(raw, at: &offset)
        cell.proceeds = try number(raw, at: &offset)
      }
      try body(cell)
    }
  }

  private static func number(
    _ bytes: UnsafeRawBufferPointer, at offset: inout Int
  ) throws(StoreError) -> Int64 {
    guard let value = Varint.read(bytes, at: &offset) else { throw .corrupt("a pack of sums is cut off") }
    return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
  }
}
