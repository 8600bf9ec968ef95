internal import AppStore
internal import Platform
internal import SQLite
internal import Sandbox

/// The open SQLite database. Not thread-safe: ``SandboxDatabase`` holds it in a lock.
///
/// A commit survives a crash of the process at once, and a power loss after the next checkpoint. A flush per action
/// would dominate the run time, and the state of a simulator can be lost.
final class JournalFile {
  private let path: String
  private let connection: Connection
  private let appending: Statement
  private let rows: RowWriter

  /// Opens the file, or creates it for this user alone, and migrates its schema. `timeout` limits the wait for another
  /// process's lock.
  init(path: String, timeout: Duration) throws(SandboxError) {
    self.path = path
    makePrivateFile(path)
    connection = try Connection(path: path)
    try connection.execute("PRAGMA busy_timeout = \(Int(timeout / .milliseconds(1)))")
    try JournalSchema.migrate(connection, at: path)
    try connection.execute(
      """
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = NORMAL;
      PRAGMA wal_autocheckpoint = 4000;
      PRAGMA journal_size_limit = 67108864;
      """)
    appending = try Statement("INSERT INTO journal (at, entry) VALUES (?1, ?2)", on: connection)
    rows = RowWriter(connection)
  }

  /// All lines, oldest first, in memory.
  func lines() throws(SandboxError) -> [JournalLine] {
    let reading = try Statement("SELECT at, entry FROM journal ORDER BY line", on: connection)
    defer { reading.reset() }
    var lines: [JournalLine] = []
    while try reading.step() {
      guard let entry = reading.text(1) else { throw .corrupt(path: path, detail: "a journal line is empty") }
      lines.append(JournalLine(at: Instant(millisecondsSince1970: reading.number(0)), entry: entry))
    }
    return lines
  }

  /// Appends the first lines of a process and creates the tables again.
  func begin(_ lines: [JournalLine], _ tables: [WorldTable], _ changes: [RowChange]) throws(SandboxError) {
    // Flushed, so that ids are not issued twice even after a power loss.
    try connection.execute("PRAGMA synchronous = FULL")
    try inTransaction { () throws(SandboxError) in
      try rows.make(tables)
      try write(lines, changes)
    }
    try connection.execute("PRAGMA synchronous = NORMAL")
  }

  /// Appends lines and writes the rows that they changed, in one transaction.
  func append(_ lines: [JournalLine], _ changes: [RowChange]) throws(SandboxError) {
    try inTransaction { () throws(SandboxError) in try write(lines, changes) }
  }

  /// Replaces all lines and creates the tables again.
  func replace(
    with lines: [JournalLine], _ tables: [WorldTable], _ changes: [RowChange]
  ) throws(SandboxError) {
    try inTransaction { () throws(SandboxError) in
      try connection.execute("DELETE FROM journal")
      try rows.make(tables)
      try write(lines, changes)
    }
  }

  /// Writes inside a transaction.
  private func write(_ lines: [JournalLine], _ changes: [RowChange]) throws(SandboxError) {
    for line in lines {
      try appending.bind(1, line.at.millisecondsSince1970)
      try appending.bind(2, line.entry)
      try appending.run()
    }
    for change in changes { try rows.write(change) }
  }

  /// Runs a body in a transaction, which is rolled back if it throws.
  private func inTransaction(_ body: () throws(SandboxError) -> Void) throws(SandboxError) {
    try connection.execute("BEGIN IMMEDIATE")
    do throws(SandboxError) {
      try body()
      try connection.execute("COMMIT")
    } catch {
      // SQLite may have rolled back already. If the rollback fails, the next transaction reports it.
      if connection.isInTransaction { try? connection.execute("ROLLBACK") }
      throw error
    }
  }
}

/// The schema of the journal, which has a version. The other tables are created again by each process and
/// have none.
enum JournalSchema {
  /// The version that this program reads and writes.
  static let version = 1

  /// Creates the schema in a new file.
  ///
  /// - Throws: ``SandboxError/newerSchema(path:found:supported:)``; ``SandboxError/corrupt(path:detail:)`` for
  ///   another program's database.
  static func migrate(_ connection: Connection, at path: String) throws(SandboxError) {
    let found = try connection.number("PRAGMA user_version")
    guard found <= version else {
      throw .newerSchema(path: path, found: Int(found), supported: version)
    }
    guard found == 0 else { return }
    guard try connection.number("SELECT count(*) FROM sqlite_schema") == 0 else {
      throw .corrupt(path: path, detail: "not a sandbox database")
    }
    try connection.execute("BEGIN IMMEDIATE; \(firstVersion) PRAGMA user_version = 1; COMMIT")
  }

  private static let firstVersion = """
    CREATE TABLE journal (
      -- What was done and when: all that the sandbox remembers. Every other table is made of it.
      line INTEGER PRIMARY KEY,
      at INTEGER NOT NULL,  -- by the sandbox's clock, in milliseconds since 1970
      entry TEXT NOT NULL   -- JSON
    ) STRICT;
    """
}
