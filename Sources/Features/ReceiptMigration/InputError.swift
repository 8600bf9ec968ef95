/// Why the input of a job, or one line of it, cannot be read.
package enum InputError: Error, Hashable, Sendable {
  /// The file is not there, or may not be read.
  case unreadable(path: String, problem: String)
  /// The first line of CSV has none of the columns that say whose purchases they are.
  case noColumns(wanted: [String], found: [String])
  /// A line is neither JSON nor has as many columns as the first one.
  case malformedLine(String)
  /// A line is longer than any receipt.
  case lineTooLong(limit: Int)
  /// A line has neither a receipt nor an original transaction id.
  case nothingToMigrate

  /// A code for machines.
  package var reason: String {
    switch self {
    case .unreadable: "INPUT_UNREADABLE"
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
    case .unreadable(let path, let problem): "\(path) cannot be read: \(problem)"
    case .noColumns(let wanted, let found):
      "the first line has neither \(wanted.joined(separator: " nor ")); it has \(found.joined(separator: ", "))"
    case .malformedLine(let problem): "the line cannot be read: \(problem)"
    case .lineTooLong(let limit): "the line has more than \(limit) bytes"
    case .nothingToMigrate: "the line has neither a receipt nor an original transaction id"
    }
  }
}
