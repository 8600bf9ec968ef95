internal import CSQLite3
package import Store

/// One open connection to a database file.
///
/// Without a mutex of its own: whoever has it must see to it that no two threads use it at a time.
package final class Connection {
  /// Valid from `init` to `deinit`; no file outside this folder has it.
  let handle: OpaquePointer
  /// Where SQLite leaves the length of the log.
  private let framesOfLog: UnsafeMutablePointer<CInt>
  private let interruptCheck = InterruptCheck()

  /// Opens the file, and makes it if there is none.
  package init(path: String) throws(StoreError) {
    // The library refuses this once it is in use. Then it works as well, only slower.
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
    framesOfLog = .allocate(capacity: 1)
    framesOfLog.initialize(to: 0)
  }

  /// Set once in the life of the process, before the first connection.
  private static let libraryIsConfigured = sqlite_configure_for_one_thread_per_connection() == SQLITE_OK

  // The "v2" close waits for statements that are let go of later than the connection.
  deinit {
    sqlite3_close_v2(handle)
    framesOfLog.deallocate()
  }

  /// Runs statements that have neither parameters nor rows.
  package func execute(_ sql: String) throws(StoreError) {
    try check(sqlite3_exec(handle, sql, nil, nil, nil), handle)
  }

  /// The one number that `sql` asks for.
  package func number(_ sql: String) throws(StoreError) -> Int64 {
    let statement = try Statement(sql, on: self)
    defer { statement.reset() }
    guard try statement.step() else { throw .failed("no row for: \(sql)") }
    return statement.number(0)
  }

  /// Interrupts statements when `shouldStop` returns `true`; it is called every few thousand steps of SQLite's
  /// virtual machine, on the thread that runs the statement. `nil` removes the check.
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

  /// From now on whoever has this connection calls ``checkpoint()``: a commit no longer does it by itself.
  package func leaveCheckpointsToOwner() {
    sqlite3_wal_hook(
      handle,
      { frames, _, _, count in
        frames?.assumingMemoryBound(to: CInt.self).pointee = count
        return SQLITE_OK
      }, framesOfLog)
  }

  /// How many pages the write-ahead log had behind the last commit, if checkpoints are left to the owner.
  package var logLength: Int { Int(framesOfLog.pointee) }

  /// Copies pages from the write-ahead log to their place, as far as nobody reads what is there; it waits for
  /// nobody. Once all are copied the next write begins the log anew.
  package func checkpoint() throws(StoreError) {
    try check(sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil), handle)
  }

  /// Copies all of the write-ahead log to its place and leaves it empty, unless somebody goes on reading what is in it.
  package func truncateWAL() throws(StoreError) {
    try execute("PRAGMA busy_timeout = 500; PRAGMA wal_checkpoint(TRUNCATE)")
  }

  /// Returns when the disk has all that checkpoints copied.
  package func syncCopied() throws(StoreError) { try check(sqlite_sync_database_file(handle), handle) }

  /// Whether a transaction is open. SQLite closes one by itself when it cannot go on with it.
  package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  /// The number of the row that was inserted last.
  package var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(handle) }

  /// How many rows the statement before inserted, changed or deleted.
  package var changedRows: Int64 { sqlite3_changes64(handle) }
}

/// Holds the closure of ``Connection/interrupt(if:)`` where C code finds it.
private final class InterruptCheck {
  var shouldStop: (() -> Bool)?
}

/// Turns a result of SQLite's that is no success into the store's word for it, in one place.
///
/// SQLite's messages name tables and columns, never values, so they may be logged.
package func check(_ result: CInt, _ handle: OpaquePointer?) throws(StoreError) {
  guard result != SQLITE_OK else { return }
  throw failure(result, handle)
}

/// The store's word for a `result` that is no success.
package func failure(_ result: CInt, _ handle: OpaquePointer?) -> StoreError {
  let message = String(cString: handle.map { sqlite3_errmsg($0) } ?? sqlite3_errstr(result))
  // The low byte is the kind of failure; what is above it says where it happened.
  switch result & 0xFF {
  case SQLITE_FULL: return .diskFull
  case SQLITE_CORRUPT, SQLITE_NOTADB: return .corrupt(message)
  default: return .failed("\(message) (SQLite \(result))")
  }
}

extension Connection {
  /// Copies the whole database to a new file, as it is at this moment, while others go on writing to it
  /// (https://sqlite.org/backup.html).
  package func copy(to path: String) throws(StoreError) {
    let target = try Connection(path: path)
    guard let backup = sqlite3_backup_init(target.handle, "main", handle, "main") else {
      throw failure(sqlite3_errcode(target.handle), target.handle)
    }
    // All pages in one step: a copy in many would begin again whenever somebody writes.
    let copied = sqlite3_backup_step(backup, -1)
    let finished = sqlite3_backup_finish(backup)
    guard copied == SQLITE_DONE else { throw failure(copied, target.handle) }
    try check(finished, target.handle)
    // The copy is one file: without a log of its own until somebody opens it as a store.
    try target.execute("PRAGMA journal_mode = DELETE")
  }

  /// What SQLite finds wrong with the file, in its words; none if it is sound.
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
      found.append("row \(row) of \(table) refers to a row of \(other) that is not there")
    }
    references.reset()
    return found
  }
}
