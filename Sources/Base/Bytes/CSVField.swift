/// Fields of comma-separated values (RFC 4180).
///
/// They are written byte by byte: as a `Character`, a quote or an end of a line with a combining mark, or the two bytes of
/// CR LF, is not the character that it begins with.
package enum CSVField {
  private static let quote = UInt8(ascii: "\"")

  /// The field with `text`, in quotes if it contains a separator, a quote or an end of a line.
  package static func quoted(_ text: String) -> String {
    // An export has millions of fields, and bytes that follow each other are looked at faster.
    let mustQuote =
      text.utf8.withContiguousStorageIfAvailable { $0.contains(where: isSpecial) }
      ?? text.utf8.contains(where: isSpecial)
    return mustQuote ? enclosed(text) : text
  }

  private static func isSpecial(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: ",") || byte == quote || byte == UInt8(ascii: "\r") || byte == UInt8(ascii: "\n")
  }

  /// The field with `text` for a spreadsheet: a text that it would take for a formula begins with an apostrophe. One that
  /// begins with apostrophes already gets another one, so that ``fromSpreadsheet(_:)`` returns it.
  package static func forSpreadsheet(_ text: String) -> String {
    quoted(isFormula(text.utf8.drop { $0 == apostrophe }) ? "'" + text : text)
  }

  /// The text of a field that ``forSpreadsheet(_:)`` wrote, and whose quotes are removed.
  package static func fromSpreadsheet(_ field: String) -> String {
    guard field.utf8.first == apostrophe, isFormula(field.utf8.drop { $0 == apostrophe }) else {
      return field
    }
    return String(decoding: Array(field.utf8.dropFirst()), as: UTF8.self)
  }

  private static func isFormula(_ text: Substring.UTF8View) -> Bool {
    guard let first = text.first, formulaStarts.contains(first) else { return false }
    return Double(Substring(text)) == nil
  }

  private static let apostrophe = UInt8(ascii: "'")
  private static let formulaStarts = Array("=+-@\t\r\n".utf8)

  private static func enclosed(_ text: String) -> String {
    var bytes = [quote]
    for byte in text.utf8 {
      if byte == quote { bytes.append(quote) }
      bytes.append(byte)
    }
    bytes.append(quote)
    return String(decoding: bytes, as: UTF8.self)
  }
}
