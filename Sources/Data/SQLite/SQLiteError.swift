internal import CSQLite3

/// An error of SQLite.
///
/// The message names tables, columns and statements but no stored values, so it may be logged.
package struct SQLiteError: Error, Hashable, Sendable {
  /// The causes that a caller may treat differently.
  package enum Kind: Hashable, Sendable {
    /// No space is left on the device (`SQLITE_FULL`). Writes succeed again as soon as there is.
    case diskFull
    /// The file is damaged or no database (`SQLITE_CORRUPT`, `SQLITE_NOTADB`).
    case corrupt
    /// The file cannot be opened (`SQLITE_CANTOPEN`).
    case cannotOpen
    /// Any other error, such as a locked database or a failed constraint.
    case other
  }

  /// SQLite's extended result code (https://sqlite.org/rescode.html).
  package let code: Int32
  /// SQLite's text, or this wrapper's for a wrong use.
  package let message: String
  /// The path of the database file.
  package let path: String

  /// The cause by which a caller decides; computed from ``code``.
  package var kind: Kind {
    // The low byte is the primary result code; the upper bytes extend it.
    switch code & 0xFF {
    case SQLITE_FULL: .diskFull
    case SQLITE_CORRUPT, SQLITE_NOTADB: .corrupt
    case SQLITE_CANTOPEN: .cannotOpen
    default: .other
    }
  }
}

/// The error type of a ``SQLiteConnection`` and its statements. A client converts SQLite's errors to its own in one
/// place, by the initializer.
package protocol SQLiteErrorConvertible: Error {
  init(_ error: SQLiteError)
}
