internal import CSQLite3
package import Store

/// An open connection to a database file.
///
/// SQLite's mutex is off, so only one thread at a time may use a connection.
package final class Connection {
  /// Valid from `init` to `deinit`, and used only in this folder.
  let handle: OpaquePointer
  /// The number of frames in the WAL after the last commit; the WAL hook writes it.
  private let walFrameCount: UnsafeMutablePointer<CInt>
  private let interruptCheck = InterruptCheck()

  /// Opens the file, and creates it if it is missing.
  package init(path: String) throws(StoreError) {
    // Fails if SQLite was initialized before. Connections then still work, but lock mutexes.
    _ = Self.libraryIsConfigured
    var handle: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    let result = sqlite3_open_v2(path, &handle, flags, nil)
    guard result == SQLITE_OK, let handle else {
      defer { sqlite3_close_v2(handle) }
      let reason = String(cString: handle.map { sqlite3_errmsg($0) } ?? sqlite3_errstr(result))
      throw .cannotOpen(path: path, reason: reason)
    }
    self.handle = handle
    walFrameCount = .allocate(capacity: 1)
    walFrameCount.initialize(to: 0)
  }

  /// Configured once for the process, before the first connection.
  private static let libraryIsConfigured = sqlite_configure_for_one_thread_per_connection() == SQLITE_OK

  // `sqlite3_close_v2` defers the close until statements that outlive the connection are finalized.
  deinit {
    sqlite3_close_v2(handle)
    walFrameCount.deallocate()
  }

  /// Runs statements without parameters and result rows.
  package func execute(_ sql: String) throws(StoreError) {
    try check(sqlite3_exec(handle, sql, nil, nil, nil), handle)
  }

  /// Returns the first column of the first row of `sql`.
  package func number(_ sql: String) throws(StoreError) -> Int64 {
    let statement = try Statement(sql, on: self)
    defer { statement.reset() }
    guard try statement.step() else { throw .failed("no row for: \(sql)") }
    return statement.number(0)
  }

  /// Interrupts statements when `shouldStop` returns `true`; it is called every few thousand steps of
  /// SQLite's virtual machine, on the thread that runs the statement. `nil` removes the check.
  ///
  /// Unlike `sqlite3_interrupt` from another thread, it cannot fall between two statements and be lost.
  package func interrupt(if shouldStop: (() -> Bool)?) {
    interruptCheck.shouldStop = shouldStop
    guard shouldStop != nil else { return sqlite3_progress_handler(handle, 0, nil, nil) }
    sqlite3_progress_handler(
      handle, 4000,
      { context in
        guard let context else { return 0 }
        return Unmanaged<InterruptCheck>.fromOpaque(context).takeUnretainedValue().shouldStop?() == true
          ? 1 : 0
      }, Unmanaged.passUnretained(interruptCheck).toOpaque())
  }

  /// Turns off automatic checkpoints: a commit no longer runs one, so the owner must call ``checkpoint()``.
  package func disableAutomaticCheckpoints() {
    sqlite3_wal_hook(
      handle,
      { frames, _, _, count in
        frames?.assumingMemoryBound(to: CInt.self).pointee = count
        return SQLITE_OK
      }, walFrameCount)
  }

  /// The number of pages in the write-ahead log after the last commit, once ``leaveCheckpointsToOwner()`` was
  /// called.
  package var walPageCount: Int { Int(framesOfLog.pointee) }

  /// Runs a passive checkpoint: copies the pages that no reader still needs from the write-ahead log into the
  /// database file, without waiting for readers. After a complete checkpoint the next write restarts the log.
  package func checkpoint() throws(StoreError) {
    try check(sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil), handle)
  }

  /// Copies the whole write-ahead log into the database file and truncates it, waiting up to 500 ms for
  /// readers.
  package func truncateWAL() throws(StoreError) {
    try execute("PRAGMA busy_timeout = 500; PRAGMA wal_checkpoint(TRUNCATE)")
  }

  /// Syncs the checkpointed pages of the database file to disk.
  package func syncDatabaseFile() throws(StoreError) { try check(sqlite_sync_database_file(handle), handle) }

  /// Whether a transaction is open. Some errors, such as a full disk, make SQLite roll it back.
  package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  /// The row id of the last inserted row.
  package var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(handle) }

  /// The number of rows that the last statement inserted, updated or deleted.
  package var changedRows: Int64 { sqlite3_changes64(handle) }
}

/// Holds the closure of ``Connection/interrupt(if:)`` for the C callback.
private final class InterruptCheck {
  var shouldStop: (() -> Bool)?
}

/// Throws the ``StoreError`` for a result code other than success.
///
/// SQLite's messages name tables and columns but no values, so they may be logged.
package func check(_ result: CInt, _ handle: OpaquePointer?) throws(StoreError) {
  guard result != SQLITE_OK else { return }
  throw failure(result, handle)
}

/// Returns the ``StoreError`` for a result code other than success.
package func failure(_ result: CInt, _ handle: OpaquePointer?) -> StoreError {
  let message = String(cString: handle.map { sqlite3_errmsg($0) } ?? sqlite3_errstr(result))
  // The low byte is the primary result code; the upper bytes extend it.
  switch result & 0xFF {
  case SQLITE_FULL: return .diskFull
  case SQLITE_CORRUPT, SQLITE_NOTADB: return .corrupt(message)
  default: return .failed("\(message) (SQLite \(result))")
  }
}

extension Connection {
  /// Copies a snapshot of the whole database to a new file while writes continue
  /// (https://sqlite.org/backup.html).
  package func copy(to path: String) throws(StoreError) {
    let target = try Connection(path: path)
    guard let backup = sqlite3_backup_init(target.handle, "main", handle, "main") else {
      throw failure(sqlite3_errcode(target.handle), target.handle)
    }
    // A single step copies all pages; between several steps a write would restart the copy.
    let copied = sqlite3_backup_step(backup, -1)
    let finished = sqlite3_backup_finish(backup)
    guard copied == SQLITE_DONE else { throw failure(copied, target.handle) }
    try check(finished, target.handle)
    // Without WAL mode the copy is a single file until a store opens it.
    try target.execute("PRAGMA journal_mode = DELETE")
  }

  /// Returns at most 40 defects found by `integrity_check` and `foreign_key_check`; empty if the file is
  /// sound.
  package func faults() throws(StoreError) -> [String] {
    var found: [String] = []
    let integrity = try Statement("PRAGMA integrity_check(20)", on: self)
    while try integrity.step() {
      if let text = integrity.text(0), text != "ok" { found.append(text) }
    }
    integrity.reset()
    let references = try Statement("PRAGMA foreign_key_check", on: self)
    while try references.step(), found.count < 40 {
      let (table, row, other) = (references.text(0) ?? "", references.number(1), references.text(2) ?? "")
      found.append("row \(row) of \(table) references a missing row of \(other)")
    }
    references.reset()
    return found
  }
}
