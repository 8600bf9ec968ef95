/// Rewrites the parameters `?` and `?2` of statements that SQLite shares to PostgreSQL's `$1` and `$2`. A question mark
/// in a literal, a quoted name or a comment stays.
func withNumberedParameters(_ sql: String) -> String {
  guard sql.utf8.contains(UInt8(ascii: "?")) else { return sql }
  var output: [UInt8] = []
  var last = 0
  var scanner = sql.utf8[...]
  while let byte = scanner.popFirst() {
    switch byte {
    case UInt8(ascii: "'"), UInt8(ascii: "\""):
      let end = scanner.firstIndex(of: byte).map { scanner.index(after: $0) } ?? scanner.endIndex
      output.append(byte)
      output += scanner[..<end]
      scanner = scanner[end...]
    case UInt8(ascii: "-") where scanner.first == UInt8(ascii: "-"):
      // A comment is dropped up to its line's end.
      scanner = scanner[(scanner.firstIndex(of: UInt8(ascii: "\n")) ?? scanner.endIndex)...]
    case UInt8(ascii: "?"):
      let digits = scanner.prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
      scanner = scanner[digits.endIndex...]
      let number = Int(String(decoding: digits, as: UTF8.self)) ?? last + 1
      // As in SQLite, a parameter without a number follows the greatest one before it.
      last = max(last, number)
      output += "$\(number)".utf8
    default: output.append(byte)
    }
  }
  return String(decoding: output, as: UTF8.self)
}

/// Returns `name` as a quoted identifier.
func quotedIdentifier(_ name: String) -> String {
  "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
}
