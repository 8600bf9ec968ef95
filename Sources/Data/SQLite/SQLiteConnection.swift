internal import CSQLite3

/// An open connection to a database file, which throws SQLite's errors as `Failure`.
///
/// SQLite's mutex is off, so only one thread at a time may use a connection and its statements.
package final class SQLiteConnection<Failure: SQLiteErrorConvertible> {
  /// Valid from `init` to `deinit`, and used only in this folder.
  let handle: OpaquePointer
  private let path: String
  /// The number of frames in the WAL after the last commit; the WAL hook writes it.
  private let walFrameCount: UnsafeMutablePointer<CInt>
  private let interruptCheck = InterruptCheck()

  /// Opens the file, and creates it if it is missing. SQLite reads it only when the first statement runs, so
  /// a damaged file opens.
  ///
  /// - Throws: an error of the kind ``SQLiteError/Kind/cannotOpen``, for instance if the directory is missing.
  package init(path: String) throws(Failure) {
    // Fails if SQLite was initialized before. Connections then still work, but lock mutexes.
    _ = libraryIsConfigured
    var handle: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    let result = sqlite3_open_v2(path, &handle, flags, nil)
    guard result == SQLITE_OK, let handle else {
      defer { sqlite3_close_v2(handle) }
      throw Failure(SQLiteError(result, handle, path: path))
    }
    self.handle = handle
    self.path = path
    walFrameCount = .allocate(capacity: 1)
    walFrameCount.initialize(to: 0)
  }

  // `sqlite3_close_v2` defers the close until statements that outlive the connection are finalized.
  deinit {
    sqlite3_close_v2(handle)
    walFrameCount.deallocate()
  }

  /// Runs statements without parameters and result rows. The first error ends it; statements before stay
  /// executed.
  package func execute(_ sql: String) throws(Failure) {
    try check(sqlite3_exec(handle, sql, nil, nil, nil))
  }

  /// Returns the first column of the first row of `sql`; throws if there is no row.
  package func number(_ sql: String) throws(Failure) -> Int64 {
    let statement = try SQLiteStatement(sql, on: self)
    defer { statement.reset() }
    guard try statement.step() else { throw misuse("no row for: \(sql)") }
    return statement.number(0)
  }

  /// Throws the error of a result code other than success.
  func check(_ result: Int32) throws(Failure) {
    guard result != SQLITE_OK else { return }
    throw failure(result)
  }

  /// Returns the error of the last call, which returned `result`.
  func failure(_ result: Int32) -> Failure { Failure(SQLiteError(result, handle, path: path)) }

  /// Returns the error of a wrong use of this type.
  func misuse(_ message: String) -> Failure {
    Failure(SQLiteError(code: SQLITE_MISUSE, message: message, path: path))
  }

  /// Interrupts statements when `shouldStop` returns `true`; it is called every few thousand steps of
  /// SQLite's virtual machine, on the thread that runs the statement. `nil` removes the check.
  ///
  /// Unlike `sqlite3_interrupt` from another thread, it cannot fall between two statements and be lost.
  package func interrupt(if shouldStop: (() -> Bool)?) {
    interruptCheck.shouldStop = shouldStop
    guard shouldStop != nil else { return sqlite3_progress_handler(handle, 0, nil, nil) }
    sqlite3_progress_handler(
      handle, 4000, progressHandler, Unmanaged.passUnretained(interruptCheck).toOpaque())
  }

  /// Turns off automatic checkpoints: a commit no longer runs one, so the owner must call ``checkpoint()``.
  package func disableAutomaticCheckpoints() {
    sqlite3_wal_hook(handle, walHook, walFrameCount)
  }

  /// The number of pages in the write-ahead log after the last commit, once ``leaveCheckpointsToOwner()`` was
  /// called.
  package var walPageCount: Int { Int(walFrameCount.pointee) }

  /// Runs a passive checkpoint: copies the pages that no reader still needs from the write-ahead log into the
  /// database file, without waiting for readers. After a complete checkpoint the next write restarts the log.
  package func checkpoint() throws(Failure) {
    try check(sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil))
  }

  /// Copies the whole write-ahead log into the database file and truncates it, waiting at most `timeout` milliseconds
  /// for readers.
  ///
  /// - Returns: whether it is empty now; a reader of an older snapshot prevents that.
  @discardableResult
  package func truncateWAL(timeout: Int = 500) throws(Failure) -> Bool {
    let usualTimeout = try number("PRAGMA busy_timeout")
    sqlite3_busy_timeout(handle, CInt(timeout))
    defer { sqlite3_busy_timeout(handle, CInt(clamping: usualTimeout)) }
    let result = sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
    if result & 0xFF == SQLITE_BUSY { return false }
    try check(result)
    walFrameCount.pointee = 0
    return true
  }

  /// Syncs the checkpointed pages of the database file to disk.
  package func syncDatabaseFile() throws(Failure) { try check(sqlite_sync_database_file(handle)) }

  /// Whether a transaction is open. Some errors, such as a full disk, make SQLite roll it back.
  package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  /// The number of rows that the last statement inserted, updated or deleted.
  var changedRows: Int64 { sqlite3_changes64(handle) }
}

/// Holds the closure of ``SQLiteConnection/interrupt(if:)`` for the C callback.
private final class InterruptCheck {
  var shouldStop: (() -> Bool)?
}

/// Configured once for the process, before the first connection.
private let libraryIsConfigured = sqlite_configure_for_one_thread_per_connection() == SQLITE_OK

/// Stops a statement by returning 1.
private func progressHandler(_ context: UnsafeMutableRawPointer?) -> Int32 {
  guard let context else { return 0 }
  return Unmanaged<InterruptCheck>.fromOpaque(context).takeUnretainedValue().shouldStop?() == true ? 1 : 0
}

/// Stores the number of frames in the write-ahead log after a commit.
private func walHook(
  _ frameCount: UnsafeMutableRawPointer?, _: OpaquePointer?, _: UnsafePointer<CChar>?, _ count: Int32
) -> Int32 {
  frameCount?.assumingMemoryBound(to: CInt.self).pointee = count
  return SQLITE_OK
}

extension SQLiteError {
  /// Creates the error of a call on `handle` that returned `code`.
  fileprivate init(_ code: Int32, _ handle: OpaquePointer?, path: String) {
    let message = String(cString: handle.map { sqlite3_errmsg($0) } ?? sqlite3_errstr(code))
    self.init(code: code, message: message, path: path)
  }
}

extension SQLiteConnection {
  /// Copies a snapshot of the whole database to a new file while writes continue
  /// (https://sqlite.org/backup.html). Calls `report` with the part that is copied, from 0 to 1, after every 16 MiB.
  package func copy(to path: String, report: (Double) -> Void = { _ in }) throws(Failure) {
    let target = try SQLiteConnection(path: path)
    // Otherwise a write between two steps would restart the copy.
    try execute("BEGIN")
    defer { try? execute("ROLLBACK") }
    _ = try number("SELECT count(*) FROM sqlite_schema")
    guard let backup = sqlite3_backup_init(target.handle, "main", handle, "main") else {
      throw target.failure(sqlite3_errcode(target.handle))
    }
    var copied = SQLITE_OK
    while copied == SQLITE_OK {
      copied = sqlite3_backup_step(backup, 4096)
      let total = sqlite3_backup_pagecount(backup)
      report(total > 0 ? Double(total - sqlite3_backup_remaining(backup)) / Double(total) : 0)
    }
    let finished = sqlite3_backup_finish(backup)
    guard copied == SQLITE_DONE else { throw target.failure(copied) }
    try target.check(finished)
    // Without WAL mode the copy is a single file until a store opens it.
    try target.execute("PRAGMA journal_mode = DELETE")
  }

  /// Returns at most 40 defects found by `integrity_check` and `foreign_key_check`; empty if the file is
  /// sound.
  package func faults() throws(Failure) -> [String] {
    var found: [String] = []
    let integrity = try SQLiteStatement("PRAGMA integrity_check(20)", on: self)
    while try integrity.step() {
      if let text = integrity.text(0), text != "ok" { found.append(text) }
    }
    integrity.reset()
    let references = try SQLiteStatement("PRAGMA foreign_key_check", on: self)
    while try references.step(), found.count < 40 {
      let (table, row, other) = (references.text(0) ?? "", references.number(1), references.text(2) ?? "")
      found.append("row \(row) of \(table) references a missing row of \(other)")
    }
    references.reset()
    return found
  }
}
