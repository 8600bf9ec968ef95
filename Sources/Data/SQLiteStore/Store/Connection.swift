internal import Bytes
internal import Platform
package import SQLStore
package import SQLite
package import Store

/// A connection whose errors are ``StoreError``s.
typealias Connection = SQLiteConnection<StoreError>

extension SQLDialect {
  static let sqlite = SQLDialect(beginWrite: "BEGIN IMMEDIATE", beginRead: "BEGIN") { column, bytes in
    "instr(\(column), x'\(Hex.encode(bytes))') > 0"
  }
}

extension SQLiteConnection: SQLConnection where Failure == StoreError {
  package var dialect: SQLDialect { .sqlite }

  package var isRemote: Bool { false }

  package func prepare(_ sql: String) throws(StoreError) -> any SQLStatement {
    try SQLiteStatement(sql, on: self)
  }

  /// SQLite reads each row when it is stepped to.
  package func prepareScan(_ sql: String) throws(StoreError) -> any SQLStatement { try prepare(sql) }

  package func fetchEnqueued() {}

  package func discardFetched() {}

  package func databaseSize() throws(StoreError) -> Int64 {
    try number("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
  }
}

extension SQLiteStatement: SQLStatement where Failure == StoreError {
  package func enqueue() {}
}

extension StoreError: SQLiteErrorConvertible {
  /// Converts an error of SQLite. A locked or read-only database is ``StoreError/failed(_:)``.
  package init(_ error: SQLiteError) {
    self =
      switch error.kind {
      case .diskFull: .diskFull
      case .corrupt: .corrupt(error.message)
      case .cannotOpen: .cannotOpen(path: error.path, reason: error.message)
      case .other: .failed("\(error.message) (SQLite \(error.code))")
      }
  }
}

extension StoreError {
  /// Converts an error of the data directory.
  init(_ error: PrivateDirectoryError) {
    self =
      switch error {
      case .inUse(let path): .inUse(path: path)
      case .failed(let path, let reason):
        .cannotOpen(
          path: path, reason: "\(reason); let the service's user write there, or use another directory")
      }
  }
}

extension Connection {
  /// Opens the writer's connection. A commit returns only after the WAL is synced to disk. Deleted and replaced
  /// content is overwritten with zeros, so that an erased customer does not stay in free space.
  static func writer(path: String) throws(StoreError) -> Connection {
    let connection = try Connection(path: path)
    try connection.execute(
      """
      PRAGMA busy_timeout = 5000;
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA foreign_keys = ON;
      PRAGMA secure_delete = ON;
      PRAGMA journal_size_limit = 67108864;
      PRAGMA cache_size = -65536;
      """)
    return connection
  }

  /// Opens a read connection. Readers share one memory mapping of the file; a scan of the whole file should
  /// not map it.
  static func reader(path: String, isMapped: Bool = true) throws(StoreError) -> Connection {
    let connection = try Connection(path: path)
    try connection.execute(
      """
      PRAGMA busy_timeout = 5000;
      PRAGMA query_only = ON;
      PRAGMA mmap_size = \(isMapped ? 2_147_418_112 : 0);
      PRAGMA cache_size = -4096;
      """)
    return connection
  }
}
