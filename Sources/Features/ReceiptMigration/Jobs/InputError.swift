package import Bytes
package import Store

/// The reason why the input of a job, or a line of it, cannot be read. An error of the input fails the job; one of a
/// line rejects that line only.
package enum InputError: Error, Hashable, Sendable {
  /// Opening or reading the file failed.
  case unreadable(path: String, problem: String)
  /// The store, which has the upload, cannot be read.
  case store(StoreError)
  /// The input has no lines that can be read.
  case unsupported(Form)
  /// The input has nothing but line ends.
  case emptyInput
  /// The CSV header has none of the columns of which it needs one.
  case noColumns(wanted: [String], found: [String])
  /// The CSV header has more columns than any export.
  case tooManyColumns(Int, limit: Int)
  /// A line is no JSON object, or has another number of columns than the header.
  case malformedLine(String)
  /// A line is longer than any receipt.
  case lineTooLong(limit: Int)
  /// A line has neither a receipt nor an original transaction id.
  case nothingToMigrate

  /// A form of input that the operator must convert.
  package enum Form: Hashable, Sendable {
    /// By the first two bytes of a gzip member.
    case gzip
    /// UTF-16 or UTF-32.
    case wide(WideEncoding)
    /// The lines end with CR alone.
    case carriageReturns

    /// The form that the first bytes show; `nil` for bytes that may be text in UTF-8.
    init?(beginningWith bytes: ArraySlice<UInt8>) {
      if bytes.starts(with: [0x1F, 0x8B]) {
        self = .gzip
      } else if let encoding = WideEncoding(beginningWith: bytes) {
        self = .wide(encoding)
      } else {
        return nil
      }
    }
  }

  /// The reason code.
  package var reason: String {
    switch self {
    case .unreadable, .store, .unsupported, .emptyInput, .tooManyColumns: "INPUT_UNREADABLE"
    case .noColumns: "NO_COLUMNS"
    case .malformedLine: "MALFORMED_LINE"
    case .lineTooLong: "LINE_TOO_LONG"
    case .nothingToMigrate: "EMPTY_DOCUMENT"
    }
  }
}

extension InputError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .unreadable(let path, let problem): "input '\(path)' cannot be read: \(problem)"
    case .store(let error): "the upload cannot be read: \(error)"
    case .unsupported(.gzip):
      "the input is compressed with gzip; decompress it first, for example with gunzip"
    case .unsupported(.wide(let encoding)): "the input is \(encoding.rawValue); \(encoding.remedy)"
    case .unsupported(.carriageReturns):
      "the lines of the input end with CR; convert them to LF, for example with tr '\\r' '\\n'"
    case .emptyInput: "the input is empty; expected a line of JSON for each customer, or CSV with a header"
    case .noColumns(let wanted, let found):
      "the header has \(wanted.count > 1 ? "neither" : "no column") \(wanted.joined(separator: " nor ")), "
        + "but \(found.joined(separator: ", "))"
    case .tooManyColumns(let count, let limit):
      "the first line, which is the header, has \(count) columns; at most \(limit) are read"
    case .malformedLine(let problem): "malformed line: \(problem)"
    case .lineTooLong(let limit): "the line exceeds \(limit) bytes"
    case .nothingToMigrate: "the line has neither a receipt nor an original transaction id"
    }
  }
}
