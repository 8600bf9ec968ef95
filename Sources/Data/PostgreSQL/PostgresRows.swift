internal import CPostgreSQL

/// The complete result of one statement. Rows and columns are counted from 0.
// Unchecked: the result is never changed, and libpq's functions only read it.
package final class PostgresRows: @unchecked Sendable {
  private let handle: OpaquePointer
  /// The number of rows.
  package let count: Int
  /// The number of columns.
  package var columnCount: Int { Int(PQnfields(handle)) }
  /// The number of rows that an `INSERT`, `UPDATE`, `DELETE` or `COPY` changed; 0 for other statements.
  package let changedRows: Int64
  /// Whether the statement rolled a transaction back.
  let isRollback: Bool

  /// Owns the result `handle` from now on.
  init(_ handle: OpaquePointer) {
    self.handle = handle
    count = Int(PQntuples(handle))
    // The tag of a `SELECT` has a number of rows too.
    let tag = String(cString: PQcmdStatus(handle))
    isRollback = tag == "ROLLBACK"
    changedRows = tag.hasPrefix("SELECT") ? 0 : Int64(String(cString: PQcmdTuples(handle))) ?? 0
  }

  deinit { PQclear(handle) }

  /// Returns an integer, a truth value as 0 or 1, or the integral part of another number; 0 for NULL.
  ///
  /// - Precondition: the column has one of these types.
  package func number(_ row: Int, _ column: CInt) -> Int64 {
    let value = bytes(at: row, column)
    guard !value.isEmpty else { return 0 }
    switch PQftype(handle, column) {
    case PostgresType.float8.rawValue:
      return Int64(Double(bitPattern: UInt64(bitPattern: value.integer(0, 8))))
    case ResultType.numeric: return integralPart(ofNumeric: value)
    case PostgresType.bool.rawValue, PostgresType.int8.rawValue, ResultType.int2, ResultType.int4,
      ResultType.oid:
      return value.integer(0, value.count)
    case let type: preconditionFailure("column \(column) has the type \(type), which is no number")
    }
  }

  /// Returns a text; `nil` for NULL.
  package func text(_ row: Int, _ column: CInt) -> String? {
    isNull(row, column) ? nil : String(decoding: bytes(at: row, column), as: UTF8.self)
  }

  /// Returns the bytes of a `bytea`; empty for NULL.
  package func bytes(_ row: Int, _ column: CInt) -> [UInt8] { Array(bytes(at: row, column)) }

  /// Returns the result's own memory, valid as long as this object; empty for NULL.
  package func borrowedBytes(_ row: Int, _ column: CInt) -> UnsafeBufferPointer<UInt8> {
    bytes(at: row, column).assumingMemoryBound(to: UInt8.self)
  }

  /// Whether the value is NULL.
  package func isNull(_ row: Int, _ column: CInt) -> Bool { PQgetisnull(handle, CInt(row), column) != 0 }

  /// Whether the value is an integer or a truth value.
  package func isNumber(_ row: Int, _ column: CInt) -> Bool {
    guard !isNull(row, column) else { return false }
    return switch PQftype(handle, column) {
    case PostgresType.bool.rawValue, PostgresType.int8.rawValue, ResultType.int2, ResultType.int4: true
    default: false
    }
  }

  /// The value's memory, which is valid as long as this object.
  private func bytes(at row: Int, _ column: CInt) -> UnsafeRawBufferPointer {
    precondition(
      row >= 0 && row < count && column >= 0 && column < PQnfields(handle), "no such row or column")
    let count = Int(PQgetlength(handle, CInt(row), column))
    return UnsafeRawBufferPointer(start: PQgetvalue(handle, CInt(row), column), count: count)
  }

  /// Returns the elements of a one-dimensional `bigint[]`, whose format ``PostgresArray`` describes; NULLs are `nil`, and
  /// a NULL array is empty.
  package func numbers(_ row: Int, _ column: CInt) -> [Int64?] {
    let array = bytes(at: row, column)
    guard array.count >= 20 else { return [] }
    var values: [Int64?] = []
    var position = 20
    for _ in 0..<array.integer(12, 4) {
      let length = Int(array.integer(position, 4))
      position += 4
      guard length >= 0 else {
        values.append(nil)
        continue
      }
      values.append(array.integer(position, length))
      position += length
    }
    return values
  }
}

/// Types in `pg_type` that results have besides ``PostgresType``, the types of parameters.
private enum ResultType {
  /// `smallint`.
  static let int2: UInt32 = 21
  /// `integer`.
  static let int4: UInt32 = 23
  /// An object id.
  static let oid: UInt32 = 26
  /// The type of a sum of `bigint`.
  static let numeric: UInt32 = 1700
}

/// Returns the integral part of a `numeric`: the number of digits to the base 10,000, the exponent of the first, the
/// sign, the scale, then the digits. Numbers beyond `Int64` are wrapped.
private func integralPart(ofNumeric value: UnsafeRawBufferPointer) -> Int64 {
  let (digits, exponent, sign) = (value.integer(0, 2), value.integer(2, 2), value.integer(4, 2))
  guard exponent >= 0 else { return 0 }
  var number: Int64 = 0
  for index in 0...exponent {
    number = number &* 10_000 &+ (index < digits ? value.integer(8 + 2 * Int(index), 2) : 0)
  }
  return sign == 0x4000 ? -number : number
}

extension UnsafeRawBufferPointer {
  /// Returns the signed integer of `count` bytes at `offset`, most significant byte first.
  fileprivate func integer(_ offset: Int, _ count: Int) -> Int64 {
    var value = Int64(Int8(bitPattern: self[offset]))
    for index in 1..<Swift.max(count, 1) { value = value << 8 | Int64(self[offset + index]) }
    return value
  }
}
