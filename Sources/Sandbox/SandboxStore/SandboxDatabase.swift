package import Sandbox
internal import Store
internal import Synchronization

/// The sandbox's journal in a SQLite file, with tables that testers can query.
///
/// The journal is the source of truth. The tables are created when a process starts and updated in the
/// transaction of each journal line.
package final class SandboxDatabase: JournalStore {
  /// The file name in the directory.
  package static let fileName = "sandbox.sqlite"

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
    do throws(StoreError) {
      file = Mutex(try JournalFile(path: path, timeout: timeout))
    } catch {
      throw SandboxError(error, at: path)
    }
  }

  package func lines() throws(SandboxError) -> [JournalLine] {
    try use { file throws(StoreError) in try file.lines() }
  }

  package func begin(_ lines: [JournalLine], _ tables: [WorldTable], _ rows: () -> [RowChange])
    throws(SandboxError)
  {
    let rows = rows()
    try use { file throws(StoreError) in try file.begin(lines, tables, rows) }
  }

  package func append(_ lines: [JournalLine], _ rows: () -> [RowChange]) throws(SandboxError) {
    let rows = rows()
    try use { file throws(StoreError) in try file.append(lines, rows) }
  }

  private func use<Result: Sendable>(_ body: (JournalFile) throws(StoreError) -> Result)
    throws(SandboxError) -> Result
  {
    do throws(StoreError) {
      return try file.withLock { file throws(StoreError) in try body(file) }
    } catch {
      throw SandboxError(error, at: path)
    }
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

extension SandboxError {
  /// Converts an error of the store.
  fileprivate init(_ error: StoreError, at path: String) {
    switch error {
    case .corrupt(let what): self = .corrupt(path: path, detail: what)
    case .newerSchema(let found, let supported):
      self = .newerSchema(path: path, found: found, supported: supported)
    case .inUse: self = .inUse(path: path)
    case .cannotOpen(_, let reason), .failed(let reason): self = .unusable(path: path, detail: reason)
    case .diskFull: self = .unusable(path: path, detail: "no space left on device")
    case .overloaded, .deadlineExceeded, .cancelled, .closed:
      self = .unusable(path: path, detail: error.description)
    }
  }
}
