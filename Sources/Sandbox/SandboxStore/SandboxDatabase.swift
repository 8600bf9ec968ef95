package import SQLite
package import Sandbox
internal import Synchronization

/// The sandbox's journal in a SQLite file, with tables that testers can query.
///
/// The journal is the source of truth. The tables are created when a process starts and updated in the transaction of
/// each journal line, so that a tester's query never sees one without the other.
package final class SandboxDatabase: JournalStore {
  /// The file name in the directory.
  package static let fileName = "sandbox.sqlite"

  /// The path of the file.
  package let path: String
  private let file: Mutex<JournalFile>

  /// Opens the database in `directory`, or creates it, readable by this user alone. `timeout` limits the wait
  /// for another process's lock.
  ///
  /// - Throws: ``SandboxError/newerSchema(path:found:supported:)`` if a newer version of the program wrote
  ///   it, ``SandboxError/corrupt(path:detail:)`` if it is not a sandbox database,
  ///   ``SandboxError/unusable(path:detail:)`` if it cannot be read or written or stays locked.
  package init(directory: String, timeout: Duration) throws(SandboxError) {
    path = "\(directory)/\(Self.fileName)"
    file = Mutex(try JournalFile(path: path, timeout: timeout))
  }

  package func lines() throws(SandboxError) -> [JournalLine] {
    try file.withLock { file throws(SandboxError) in try file.lines() }
  }

  package func begin(_ lines: [JournalLine], _ tables: [WorldTable], _ rows: () -> [RowChange])
    throws(SandboxError)
  {
    let rows = rows()
    try file.withLock { file throws(SandboxError) in try file.begin(lines, tables, rows) }
  }

  package func append(_ lines: [JournalLine], _ rows: () -> [RowChange]) throws(SandboxError) {
    let rows = rows()
    try file.withLock { file throws(SandboxError) in try file.append(lines, rows) }
  }

  package func replace(
    with lines: [JournalLine], _ tables: [WorldTable], _ rows: () -> [RowChange]
  ) throws(SandboxError) {
    let rows = rows()
    try file.withLock { file throws(SandboxError) in try file.replace(with: lines, tables, rows) }
  }
}

extension SandboxStorage {
  /// Storage in a directory with the journal in a ``SandboxDatabase``; its parent must exist.
  ///
  /// - Throws: ``SandboxError/inUse(path:)`` if another process uses it, and the errors of
  ///   ``SandboxDatabase``.
  package static func directory(_ path: String, timeout: Duration = .seconds(5)) throws(SandboxError)
    -> SandboxStorage
  {
    try SandboxStorage(directory: path) { directory throws(SandboxError) in
      try SandboxDatabase(directory: directory, timeout: timeout)
    }
  }
}

/// A connection whose errors are ``SandboxError``s.
typealias Connection = SQLiteConnection<SandboxError>
/// A statement whose errors are ``SandboxError``s.
typealias Statement = SQLiteStatement<SandboxError>

extension SandboxError: SQLiteErrorConvertible {
  package init(_ error: SQLiteError) {
    self =
      switch error.kind {
      case .corrupt: .corrupt(path: error.path, detail: error.message)
      case .diskFull: .unusable(path: error.path, detail: "no space left on device")
      case .cannotOpen: .unusable(path: error.path, detail: error.message)
      case .other: .unusable(path: error.path, detail: "\(error.message) (SQLite \(error.code))")
      }
  }
}
