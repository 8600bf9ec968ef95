internal import Glibc
internal import Platform
package import SQLStore
internal import SQLite
package import Store

/// A new store in a directory, filled from another store. The file gets its name only in ``finish()``, so an interrupted
/// copy leaves no store.
package final class SQLiteCopyTarget: StoreCopyTarget {
  private let directory: PrivateDirectory
  private let database: Connection
  private let path: String
  private let partial: String

  package var connection: any SQLConnection { database }

  /// Locks the directory, and creates it if it is missing.
  ///
  /// - Throws: ``StoreError/cannotOpen(path:reason:)`` if it has a store.
  package init(directory: String) throws(StoreError) {
    do throws(PrivateDirectoryError) {
      self.directory = try PrivateDirectory(directory, createsParents: true)
    } catch {
      throw StoreError(error)
    }
    path = directory + "/entitled.sqlite"
    partial = path + ".partial"
    guard FileIdentity(path: path).map(\.size) ?? 0 == 0 else {
      throw .cannotOpen(path: path, reason: "it exists already; choose another directory")
    }
    unlink(partial)
    makePrivateFile(partial)
    database = try Connection(path: partial)
    // A copy that does not end is thrown away, so nothing protects it meanwhile.
    try database.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536")
    try Schema.create(database)
    try database.execute("BEGIN")
  }

  package func append(
    to table: TableDefinition, _ next: () throws(StoreError) -> [SQLValue]?
  ) throws(StoreError) {
    let values = table.columns.map { _ in "?" }.joined(separator: ", ")
    let insert: any SQLStatement = try database.prepare(
      "INSERT INTO \(table.name) (\(table.columnList)) VALUES (\(values))")
    while let row = try next() {
      for (index, value) in row.enumerated() { try insert.bind(CInt(index + 1), value) }
      try insert.run()
    }
  }

  /// Checks the whole file, and renames it to its final name only after it is on disk.
  package func finish() throws(StoreError) {
    try database.execute("COMMIT")
    let faults = try database.faults()
    guard faults.isEmpty else { throw .corrupt("the copy: \(faults.prefix(3).joined(separator: "; "))") }
    let file = open(partial, O_RDWR | O_CLOEXEC)
    defer { close(file) }
    guard file >= 0, fsync(file) == 0, rename(partial, path) == 0 else {
      throw .cannotOpen(path: path, reason: SystemError.last)
    }
    try StoreDirectory.mark(directory)
  }

  deinit { unlink(partial) }
}

extension SQLStatement {
  fileprivate func bind(_ position: CInt, _ value: SQLValue) throws(StoreError) {
    switch value {
    case .null: try bind(position, String?.none)
    case .number(let number): try bind(position, number)
    case .text(let text): try bind(position, text)
    case .bytes(let bytes): try bind(position, bytes)
    }
  }
}
