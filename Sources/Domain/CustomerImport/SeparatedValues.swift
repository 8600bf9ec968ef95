/// A table in the form of separated values with a header (RFC 4180, with any one-byte separator).
package struct SeparatedValues: Sendable {
  /// The names of the columns, without a byte order mark.
  package let header: [String]
  /// The lines below the header, without empty ones.
  package let lines: [Line]

  /// A line of the table.
  package struct Line: Sendable {
    /// The number of the first line in the file, counted from 1 with the header.
    package let number: Int
    package let fields: [String]
  }

  /// Parses `text`. Without a separator, it is the first of semicolon, tab and comma that the header contains, because
  /// RevenueCat separates by semicolons and most other programs by commas.
  package init(_ text: [UInt8], separator: UInt8? = nil) {
    let headerEnd = text.firstIndex { $0 == 0x0A } ?? text.endIndex
    let separator =
      separator ?? Self.candidates.first { text[..<headerEnd].contains($0) } ?? UInt8(ascii: ",")
    var parser = Parser(text: text, separator: separator)
    let names = parser.next()?.fields ?? []
    header = names.map { String($0.drop { $0 == "\u{FEFF}" }) }
    var lines: [Line] = []
    while let line = parser.next() { lines.append(line) }
    self.lines = lines
  }

  private static let candidates = [UInt8(ascii: ";"), UInt8(ascii: "\t"), UInt8(ascii: ",")]
}

extension SeparatedValues {
  private struct Parser {
    let text: [UInt8]
    let separator: UInt8
    var position = 0
    var number = 1

    /// Returns the next line that is not empty; `nil` at the end.
    mutating func next() -> Line? {
      while position < text.count {
        let start = number
        let fields = self.fields()
        if fields != [""] { return Line(number: start, fields: fields) }
      }
      return nil
    }

    private mutating func fields() -> [String] {
      var (fields, field, isQuoted) = ([String](), [UInt8](), false)
      while position < text.count {
        let byte = text[position]
        position += 1
        if byte == 0x0A { number += 1 }
        switch byte {
        case UInt8(ascii: "\"") where isQuoted && position < text.count && text[position] == byte:
          // Two quotes within quotes stand for one.
          field.append(byte)
          position += 1
        case UInt8(ascii: "\"") where isQuoted || field.isEmpty: isQuoted.toggle()
        case separator where !isQuoted:
          fields.append(String(decoding: field, as: UTF8.self))
          field = []
        case 0x0A where !isQuoted: return fields + [Self.withoutReturn(field)]
        default: field.append(byte)
        }
      }
      return fields + [Self.withoutReturn(field)]
    }

    private static func withoutReturn(_ field: [UInt8]) -> String {
      String(decoding: field.last == 0x0D ? field.dropLast() : field[...], as: UTF8.self)
    }
  }
}
