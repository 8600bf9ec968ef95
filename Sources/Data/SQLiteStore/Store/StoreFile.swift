internal import Glibc
internal import SQLStore
internal import SQLite
package import Store

/// The file of a store or of a backup, opened read-only, whether a service has it open or not.
package struct StoreFile {
  let connection: Connection
  private let path: String

  /// Opens the store in `directory` read-only.
  ///
  /// - Throws: ``StoreError/cannotOpen(path:reason:)``; ``StoreError/newerSchema(found:supported:)``;
  ///   ``StoreError/corrupt(_:)`` if the file has no tables.
  package init(directory: String) throws(StoreError) { try self.init(path: directory + "/entitled.sqlite") }

  /// Opens a backup or the file of a store read-only.
  package init(path: String) throws(StoreError) {
    guard access(path, R_OK) == 0 else {
      throw .cannotOpen(path: path, reason: String(cString: strerror(errno)))
    }
    self.path = path
    connection = try Connection.reader(path: path)
    try Schema.requireCurrent(connection)
  }

  /// Copies the store to a new file with access for this user only, and verifies the copy. The file is
  /// renamed to `target` only after it is synced to disk and verified.
  ///
  /// - Returns: the size of the copy in bytes.
  /// - Throws: ``StoreError/cannotOpen(path:reason:)`` if `target` exists.
  package func backUp(to target: String) throws(StoreError) -> Int64 {
    guard access(target, F_OK) != 0 else { throw .cannotOpen(path: target, reason: "it exists already") }
    try copyDatabase(connection, to: target)
    return try Connection.reader(path: target).databaseSize()
  }

  /// Returns at most 100 defects of the file: damaged pages, broken foreign keys, and evidence whose body
  /// does not match its hash. Calls `report` with the number of checked pieces of evidence after every
  /// thousand.
  package func faults(_ report: (Int) -> Void = { _ in }) throws(StoreError) -> [String] {
    let faults = try connection.faults()
    return faults + (try evidenceFaults(connection, limit: 100 - faults.count, report))
  }

  /// Counts the rows and measures the space that they occupy.
  package func statistics() throws(StoreError) -> StoreStatistics {
    StoreStatistics(
      counts: try makeReader(Connection.reader(path: path), changes: CustomerVersions()).counts(),
      schemaVersion: Int(try connection.number("PRAGMA user_version")),
      fileBytes: try connection.databaseSize(),
      freeBytes: try connection.number(
        "SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size"),
      originalBytes: try connection.number("SELECT ifnull(sum(size), 0) FROM evidence WHERE body NOT NULL"),
      storedBytes: try connection.number("SELECT ifnull(sum(length(body)), 0) FROM evidence"),
      purgedBodies: try connection.number("SELECT count(*) FROM evidence WHERE body IS NULL"))
  }
}

/// The number of rows of a store, and the space that it occupies.
package struct StoreStatistics: Hashable, Sendable {
  /// The number of rows of each kind.
  package let counts: StoreCounts
  /// The schema version.
  package let schemaVersion: Int
  /// The size of the database file without the WAL, in bytes.
  package let fileBytes: Int64
  /// The size of unused pages in the file, in bytes; `entitled store vacuum` frees them.
  package let freeBytes: Int64
  /// The original size of all evidence whose body is stored, in bytes.
  package let originalBytes: Int64
  /// The compressed size of these bodies, in bytes.
  package let storedBytes: Int64
  /// The number of pieces of evidence without a body: purged, or too large to store.
  package let purgedBodies: Int64
}

/// Copies a database to a temporary file, verifies it, and renames it to `target`.
func copyDatabase(_ connection: Connection, to target: String) throws(StoreError) {
  let partial = target + ".partial"
  unlink(partial)
  let file = open(partial, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
  guard file >= 0 else { throw .cannotOpen(path: target, reason: String(cString: strerror(errno))) }
  defer { close(file) }
  do throws(StoreError) {
    try connection.copy(to: partial)
    let faults = try Connection.reader(path: partial).faults()
    guard faults.isEmpty else { throw .corrupt("the copy: \(faults.prefix(3).joined(separator: "; "))") }
  } catch {
    unlink(partial)
    throw error
  }
  guard fsync(file) == 0, rename(partial, target) == 0 else {
    let reason = String(cString: strerror(errno))
    unlink(partial)
    throw .cannotOpen(path: target, reason: reason)
  }
}
