internal import Bytes
internal import JSON

/// Reads a job's input line by line. It holds no more than one line, so an input may have any size.
struct InputReader {
  private let source: any InputSource
  private var file: InputFile
  private let format: InputFormat
  private let syntax: InputFormat.Syntax
  private let header: [String]
  private let separator: UInt8
  /// The offset and the number of the line that is being skipped, because it is too long.
  private var skipped: (position: Int64, number: Int64)?

  /// The outcome of a step.
  enum Step {
    /// A line, which may be one that cannot be parsed.
    case line(InputLine)
    /// No line was complete. The caller lets other work run before the next step.
    case more
    /// The input has no further line.
    case end
  }

  /// The number of columns of a header. Exports have a few dozen; millions of empty ones would take many times the memory
  /// of their bytes.
  static let maxColumns = 16_384
  /// The same for the values in a line of JSON, which may have all purchases of a customer.
  static let maxValues = 100_000
  /// The number of columns that an error about a header names.
  private static let maxNamedColumns = 20

  /// The bytes that one step skips at most.
  private static let stepLength: Int64 = 1 << 20

  /// Opens the input after `line` lines of it, at the byte offset `position` of the next one; 0 and 0 for the start. The
  /// beginning is read in any case, because it decides the syntax and has the header.
  ///
  /// - Throws: ``InputError`` of the whole input.
  init(
    _ source: any InputSource, _ format: InputFormat, after line: Int64, at position: Int64
  ) throws(InputError) {
    self.source = source
    let start = try InputFile(source)
    if let form = try start.unsupportedForm() { throw .unsupported(form) }
    try start.skipByteOrderMark()
    guard try !start.isEmpty() else { throw .emptyInput }
    let first = try start.peek()
    syntax = format.syntax ?? InputFormat.Syntax(beginningWith: first)
    self.format = format
    separator = format.delimiter.utf8.first ?? UInt8(ascii: ",")
    var header: [String] = []
    if syntax == .csv {
      header = try Self.header(of: start, separator)
      let wanted = [format.receiptColumn, format.numberColumn]
      guard header.contains(where: wanted.contains) || header.isEmpty else {
        throw .noColumns(wanted: wanted, found: Array(header.prefix(Self.maxNamedColumns)))
      }
      if !header.isEmpty, !header.contains(format.customerColumn) {
        let misnamed = format.misnamedCustomer(in: header).map { [$0] }
        guard misnamed == nil, !format.requiresCustomerColumn else {
          throw .noColumns(
            wanted: [format.customerColumn], found: misnamed ?? Array(header.prefix(Self.maxNamedColumns)))
        }
      }
    }
    self.header = header
    file = position == 0 ? start : try InputFile(source, from: position, after: line)
  }

  /// Returns a reader of the same input after `line` lines of it, at the byte offset `position`. The beginning, which may
  /// be long, is not read again.
  func moved(after line: Int64, at position: Int64) throws(InputError) -> InputReader {
    var reader = self
    reader.file = try InputFile(source, from: position, after: line)
    reader.skipped = nil
    return reader
  }

  /// Reads the first line that is not empty; returns its columns, none at the end. It must begin within the length of
  /// a line.
  private static func header(of file: InputFile, _ separator: UInt8) throws(InputError) -> [String] {
    while let line = try file.line(CSVScanner(separator: separator)) {
      if line.contains(where: { $0 > 0x20 }) {
        let header = fields(line, separator, keeping: maxColumns)
        guard header.count <= maxColumns else { throw .tooManyColumns(header.count, limit: maxColumns) }
        return header.values.map { String(decoding: $0, as: UTF8.self) }
      }
      guard file.position <= InputFile.maxLineLength else {
        throw .lineTooLong(limit: InputFile.maxLineLength)
      }
    }
    return []
  }

  /// Returns the next line that is not empty; `nil` at the end. See ``step()``.
  mutating func next() throws(InputError) -> InputLine? {
    while true {
      switch try step() {
      case .line(let line): return line
      case .more: continue
      case .end: return nil
      }
    }
  }

  /// Reads on to the next line that is not empty, or for a bounded time.
  ///
  /// - Throws: ``InputError/unreadable(path:problem:)``, or ``InputError/store(_:)``, after which it can be called again.
  mutating func step() throws(InputError) -> Step {
    let limit = file.position + Self.stepLength
    if let (position, number) = skipped {
      guard try file.skipLine(upTo: limit) else { return .more }
      skipped = nil
      return .line(
        InputLine(
          number: number, position: position, length: 0,
          record: .failure(.lineTooLong(limit: InputFile.maxLineLength))))
    }
    while file.position < limit {
      let (position, number) = (file.position, file.lineCount + 1)
      do throws(InputError) {
        guard let bytes = try file.line(scanner) else { return .end }
        // Also a line whose customer was erased.
        guard bytes.contains(where: { $0 > 0x20 }) else { continue }
        return .line(
          InputLine(number: number, position: position, length: Int64(bytes.count), record: record(bytes)))
      } catch {
        guard case .lineTooLong = error else { throw error }
        skipped = (position, number)
        return .more
      }
    }
    return .more
  }

  /// A scanner for the next record; `nil` for lines of JSON, which have no line ends in quotes.
  private var scanner: CSVScanner? { syntax == .csv ? CSVScanner(separator: separator) : nil }

  /// The byte offset of the next line.
  var position: Int64 { file.position }
  /// The number of lines before it.
  var lineCount: Int64 { file.lineCount }

  /// Decodes one line. A failure concerns this line only, but for a quoted field of CSV without an end, which takes
  /// all below it.
  private func record(_ bytes: ArraySlice<UInt8>) -> Result<InputRecord, InputError> {
    let read: (String) -> String?
    switch syntax {
    case .ndjson:
      let json: JSONValue
      do {
        json = try JSONValue(parsing: Array(bytes), limits: JSONLimits(maximumValues: Self.maxValues))
      } catch {
        return .failure(.malformedLine(error.description))
      }
      guard let object = json.objectValue else { return .failure(.malformedLine("no JSON object")) }
      guard object.mayBeText(at: format.customerColumn) else {
        return .failure(.malformedLine("\(format.customerColumn) is neither a string nor a number"))
      }
      if object.value(at: format.customerColumn) == nil,
        let name = format.misnamedCustomer(in: object.map { $0.name })
      {
        return .failure(
          .malformedLine("the customer is expected in \(format.customerColumn), not in \(name)"))
      }
      read = { object.text(at: $0) }
    case .csv:
      let (fields, count, isUnclosed) = Self.fields(bytes, separator, keeping: header.count)
      guard !isUnclosed else {
        return .failure(
          .malformedLine("a quoted field has no end, so this line and all below it are left out"))
      }
      guard count == header.count else {
        return .failure(.malformedLine("\(count) columns, but the header has \(header.count)"))
      }
      let values = Dictionary(zip(header, fields), uniquingKeysWith: { first, _ in first })
      // Replacement characters would make one customer of several.
      let used = [format.customerColumn, format.receiptColumn, format.numberColumn].compactMap { values[$0] }
      guard used.allSatisfy({ String(validating: $0, as: UTF8.self) != nil }) else {
        return .failure(.malformedLine("not UTF-8"))
      }
      read = { values[$0].map { String(decoding: $0, as: UTF8.self) } }
    }
    let record = InputRecord(
      customerID: read(format.customerColumn), receipt: read(format.receiptColumn),
      number: read(format.numberColumn))
    return record.map { .success($0) } ?? .failure(.nothingToMigrate)
  }

  /// Splits a record into its columns, of which it returns the first `limit` and the number of all. The record is unclosed
  /// if a quoted field has no end.
  private static func fields(
    _ record: ArraySlice<UInt8>, _ separator: UInt8, keeping limit: Int
  ) -> (values: [[UInt8]], count: Int, isUnclosed: Bool) {
    var reader = CSVReader(record, separator: separator)
    var values: [[UInt8]] = []
    var count = 0
    while let field = reader.nextField() {
      count += 1
      if count <= limit { values.append(field.value) }
      if field.endsRecord { break }
    }
    return (values, count, reader.endsInQuotes)
  }
}

extension JSONObject {
  /// Returns the text or number of a member; a dot separates the names of nested members.
  fileprivate func text(at path: String) -> String? {
    switch value(at: path) {
    case .string(let text)?: text
    case .number(let number)?: number.literal
    default: nil
    }
  }

  /// Whether a member is a text, a number, or without a value.
  fileprivate func mayBeText(at path: String) -> Bool {
    switch value(at: path) {
    case .string, .number, .null, nil: true
    case .bool, .array, .object: false
    }
  }

  fileprivate func value(at path: String) -> JSONValue? {
    if let value = self[path] { return value }
    var value: JSONValue? = .object(self)
    for name in path.split(separator: ".") { value = value?.objectValue?[String(name)] }
    return value
  }
}
