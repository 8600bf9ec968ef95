/// Splits CSV into records (RFC 4180): quoted fields may have commas, quotes and line breaks.
enum CSVRecords {
  /// Returns the records in order, without those that are empty lines. `nil` for a record that is not UTF-8.
  ///
  /// The number of a record counts all records from 1, as spreadsheets number rows.
  static func read(_ bytes: [UInt8]) -> [(number: Int, fields: [String]?)] {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    var scanner = Scanner(rest: bytes[(bytes.starts(with: mark) ? mark.count : 0)...])
    var records: [(number: Int, fields: [String]?)] = []
    var number = 0
    while let fields = scanner.next() {
      number += 1
      guard fields != [[]] else { continue }
      let texts = fields.map { String(validating: $0, as: UTF8.self) }
      records.append((number, texts.contains(nil) ? nil : texts.compactMap(\.self)))
    }
    return records
  }

  private struct Scanner {
    var rest: ArraySlice<UInt8>

    /// Returns the fields of the next record; `nil` at the end.
    mutating func next() -> [[UInt8]]? {
      guard !rest.isEmpty else { return nil }
      var fields: [[UInt8]] = [[]]
      var isQuoted = false
      while let byte = rest.popFirst() {
        switch byte {
        case UInt8(ascii: "\"") where isQuoted && rest.first == byte:
          // Two quotes within quotes stand for one.
          rest.removeFirst()
          fields[fields.count - 1].append(byte)
        case UInt8(ascii: "\""): isQuoted.toggle()
        case UInt8(ascii: ",") where !isQuoted: fields.append([])
        case UInt8(ascii: "\r") where !isQuoted && rest.first == UInt8(ascii: "\n"): break
        case UInt8(ascii: "\n") where !isQuoted: return fields
        default: fields[fields.count - 1].append(byte)
        }
      }
      return fields
    }
  }
}
