internal import Glibc
internal import Platform
package import SQLStore
internal import SQLite
package import Store

/// The file of a store or of a backup, opened read-only, whether a service has it open or not.
package struct StoreFile {
  private let file: Connection

  /// Opens the store in `directory` read-only.
  ///
  /// - Throws: ``StoreError/cannotOpen(path:reason:)``; ``StoreError/newerSchema(found:supported:)``;
  ///   ``StoreError/corrupt(_:)`` if the file has no tables.
  package init(directory: String) throws(StoreError) { try self.init(path: directory + "/entitled.sqlite") }

  /// Opens a backup or the file of a store read-only.
  ///
  /// - Throws: as ``init(directory:)``.
  package init(path: String) throws(StoreError) {
    guard access(path, R_OK) == 0 else {
      throw .cannotOpen(path: path, reason: SystemError.last)
    }
    // A scan of the whole file should not map it.
    file = try Connection.reader(path: path, isMapped: false)
    try Schema.requireCurrent(file)
  }

  /// Copies the store to a new file with access for this user only, and verifies the copy. The file is
  /// renamed to `target` only after it is synced to disk and verified.
  ///
  /// Calls `report` with the part that is copied, from 0 to 1.
  ///
  /// - Returns: the size of the copy in bytes.
  /// - Throws: ``StoreError/cannotOpen(path:reason:)`` if `target` exists.
  package func backUp(
    to target: String, report: (Double) -> Void = { _ in }
  ) throws(StoreError) -> Int64 {
    guard access(target, F_OK) != 0 else {
      throw .cannotOpen(path: target, reason: "it exists already; choose the path of a new file")
    }
    try copyDatabase(file, to: target, report)
    return try Connection.reader(path: target).databaseSize()
  }
}

extension StoreFile: InspectedStore {
  package var connection: any SQLConnection { file }

  package func schemaVersion() throws(StoreError) -> Int { Int(try file.number("PRAGMA user_version")) }

  package func unusedBytes() throws(StoreError) -> Int64? {
    try file.number("SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size")
  }

  /// Returns damaged pages and broken foreign keys.
  package func structuralFaults() throws(StoreError) -> [String] { try file.faults() }
}

/// Copies a database to a temporary file, verifies it, and renames it to `target`.
func copyDatabase(
  _ connection: Connection, to target: String, _ report: (Double) -> Void
) throws(StoreError) {
  let partial = target + ".partial"
  unlink(partial)
  let file = open(partial, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
  guard file >= 0 else { throw .cannotOpen(path: target, reason: SystemError.last) }
  defer { close(file) }
  do throws(StoreError) {
    try connection.copy(to: partial, report: report)
    let faults = try Connection.reader(path: partial).faults()
    guard faults.isEmpty else { throw .corrupt("the copy: \(faults.prefix(3).joined(separator: "; "))") }
  } catch {
    unlink(partial)
    throw error
  }
  guard fsync(file) == 0, rename(partial, target) == 0 else {
    let reason = SystemError.last
    unlink(partial)
    throw .cannotOpen(path: target, reason: reason)
  }
}
