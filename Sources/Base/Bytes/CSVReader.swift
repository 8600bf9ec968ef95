/// Splits separated values into records (RFC 4180, with any one-byte separator).
///
/// A byte order mark at the beginning is skipped. Records end with LF or CR LF; the last one may have no end.
package struct CSVReader {
  /// U+FEFF in UTF-8, which some programs write at the beginning of a file.
  package static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
  private static let carriageReturn: UInt8 = 0x0D
  private static let backslash = UInt8(ascii: "\\")

  private let bytes: ArraySlice<UInt8>
  private let acceptsEscapedJSON: Bool
  private var scanner: CSVScanner
  private var position: Int
  /// Whether fields of the current record follow.
  private var isInRecord = false
  /// The number of the line in which the next record begins, counted from 1. Line ends in quotes count.
  package private(set) var line = 1
  /// Whether the last record ended with the text inside a quoted field.
  package var endsInQuotes: Bool { scanner.isInQuotes }

  /// Creates a reader of `bytes`. With `acceptsEscapedJSON`, a quoted field may have JSON whose quotes have backslashes
  /// instead of being doubled; the backslashes are content.
  package init(
    _ bytes: ArraySlice<UInt8>, separator: UInt8 = UInt8(ascii: ","), acceptsEscapedJSON: Bool = false
  ) {
    self.acceptsEscapedJSON = acceptsEscapedJSON
    self.bytes = bytes.starts(with: Self.byteOrderMark) ? bytes.dropFirst(Self.byteOrderMark.count) : bytes
    scanner = CSVScanner(separator: separator)
    position = self.bytes.startIndex
  }

  /// Returns `text` with LF for each CR if it has no LF: some spreadsheets end lines with CR alone.
  package static func withLineFeeds(_ text: [UInt8]) -> [UInt8] {
    text.contains(CSVScanner.lineFeed) ? text : text.map { $0 == carriageReturn ? CSVScanner.lineFeed : $0 }
  }

  /// Returns the fields of the next record without their quotes; `nil` at the end. An empty line is a record with one
  /// empty field.
  package mutating func next() -> [[UInt8]]? {
    var fields: [[UInt8]] = []
    while let field = nextField() {
      fields.append(field.value)
      if field.endsRecord { return fields }
    }
    return nil
  }

  /// Returns the next field without its quotes, and whether it is the last one of its record; `nil` at the end. A record
  /// may have millions of fields, which a caller need not keep.
  package mutating func nextField() -> (value: [UInt8], endsRecord: Bool)? {
    guard isInRecord || position < bytes.endIndex else { return nil }
    isInRecord = true
    var field: [UInt8] = []
    let hasEscapes = acceptsEscapedJSON && beginsEscapedJSON
    var isEscaped = false
    while position < bytes.endIndex {
      let byte = bytes[position]
      position += 1
      if byte == CSVScanner.lineFeed { line += 1 }
      // An escaped quote does not close the field.
      let role = isEscaped ? .content : scanner.role(of: byte)
      isEscaped = hasEscapes && !isEscaped && byte == Self.backslash
      switch role {
      case .content: field.append(byte)
      case .quote: break
      case .separator: return (field, false)
      case .recordEnd: return (lastField(field), true)
      }
    }
    return (lastField(field), true)
  }

  /// Whether a field such as `"{\"a\": 1}"` begins here. In JSON with doubled quotes, no backslash follows the first bracket.
  private var beginsEscapedJSON: Bool {
    var rest = bytes[position...]
    guard rest.popFirst() == CSVScanner.quote, let bracket = rest.popFirst(),
      bracket == UInt8(ascii: "{") || bracket == UInt8(ascii: "[")
    else { return false }
    rest = rest.drop { $0 == UInt8(ascii: " ") }
    // A doubled quote after the backslash is JSON that another program escaped and quoted again.
    return rest.starts(with: [Self.backslash, CSVScanner.quote])
      && rest.dropFirst(2).first != CSVScanner.quote
  }

  /// Ends the record with a field, whose carriage return belongs to the end of the record.
  private mutating func lastField(_ field: [UInt8]) -> [UInt8] {
    isInRecord = false
    return field.last == Self.carriageReturn ? field.dropLast() : field
  }
}

/// Finds the role of each byte of separated values, from the first byte of a record.
///
/// Quotes enclose a field only if it begins with one: in others they are content, so that a single quote does not
/// join the lines below it.
package struct CSVScanner: Sendable {
  /// The role of a byte.
  package enum Role: Sendable {
    case content
    /// An opening or closing quote, or the first of two that stand for one.
    case quote
    case separator
    /// A line feed outside quotes.
    case recordEnd
  }

  private enum State {
    case fieldStart
    case unquoted
    case quoted
    /// After a quote in a quoted field, which closes it unless another quote follows.
    case afterQuote
  }

  static let lineFeed: UInt8 = 0x0A
  static let quote = UInt8(ascii: "\"")

  private let separator: UInt8
  private var state = State.fieldStart

  package init(separator: UInt8) { self.separator = separator }

  /// Whether the next byte is inside a quoted field.
  var isInQuotes: Bool { state == .quoted }

  /// Returns the role of the next byte.
  package mutating func role(of byte: UInt8) -> Role {
    switch (state, byte) {
    case (.quoted, Self.quote):
      state = .afterQuote
      return .quote
    case (.quoted, _): return .content
    case (.afterQuote, Self.quote):
      state = .quoted
      return .content
    case (.fieldStart, Self.quote):
      state = .quoted
      return .quote
    case (_, separator):
      state = .fieldStart
      return .separator
    case (_, Self.lineFeed):
      state = .fieldStart
      return .recordEnd
    default:
      state = .unquoted
      return .content
    }
  }
}
