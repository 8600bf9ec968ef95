internal import Bytes

/// A table in the form of separated values with a header (RFC 4180, with any one-byte separator). Quotes of JSON in a quoted
/// field may have backslashes instead of being doubled, as in the examples of RevenueCat's export.
package struct SeparatedValues: Sendable {
  /// The names of the columns, without a byte order mark.
  package let header: [String]
  /// The lines below the header, without empty ones.
  package let lines: [Line]

  /// A line of the table.
  package struct Line: Sendable {
    /// The number of the first line in the file, counted from 1 with the header.
    package let number: Int
    /// In the order of the columns, without quotes. A malformed line can have more or fewer than ``header``.
    package let fields: [String]
    /// Whether the last field has an opening quote without a closing one, and so contains the rest of the file.
    let isUnclosed: Bool
  }

  /// Parses `text`. Without a separator, it is the first of semicolon, tab and comma that the header contains, because
  /// RevenueCat separates by semicolons and most other programs by commas. In a text without a line feed, lines end with CR,
  /// as some spreadsheets write them.
  package init(_ text: [UInt8], separator: UInt8? = nil) {
    let text = CSVReader.withLineFeeds(text)
    let headerEnd = text.firstIndex { $0 == 0x0A } ?? text.endIndex
    let separator =
      separator ?? Self.candidates.first { text[..<headerEnd].contains($0) } ?? UInt8(ascii: ",")
    var reader = CSVReader(text[...], separator: separator, acceptsEscapedJSON: true)
    var lines: [Line] = []
    var number = reader.line
    while let fields = reader.next() {
      if fields != [[]] {
        lines.append(
          Line(
            number: number, fields: fields.map { String(decoding: $0, as: UTF8.self) },
            isUnclosed: reader.endsInQuotes))
      }
      number = reader.line
    }
    header = lines.first?.fields ?? []
    self.lines = Array(lines.dropFirst())
  }

  private static let candidates = [UInt8(ascii: ";"), UInt8(ascii: "\t"), UInt8(ascii: ",")]
}
