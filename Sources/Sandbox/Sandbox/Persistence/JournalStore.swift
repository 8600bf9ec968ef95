package import AppStore
internal import Synchronization

/// One line of the journal.
package struct JournalLine: Hashable, Sendable {
  /// Simulated time.
  package let at: Instant
  /// A JSON object.
  package let entry: String

  /// Creates a line; the entry is not parsed.
  package init(at: Instant, entry: String) {
    self.at = at
    self.entry = entry
  }
}

/// The persistent storage of the journal and of the tables beside it.
///
/// Each call is atomic and durable against a crash of the process when it returns.
package protocol JournalStore: Sendable {
  /// The path, for error texts.
  var path: String { get }

  /// Returns all lines, oldest first.
  ///
  /// - Throws: ``SandboxError/corrupt(path:detail:)``, ``SandboxError/unusable(path:detail:)``.
  func lines() throws(SandboxError) -> [JournalLine]

  /// Appends the first lines of a process and replaces all tables. The result also survives a power loss.
  func begin(_ lines: [JournalLine], _ tables: [WorldTable], _ rows: () -> [RowChange]) throws(SandboxError)

  /// Appends lines and updates the changed rows. If it throws, nothing is stored, and the caller passes the lines
  /// again.
  func append(_ lines: [JournalLine], _ rows: () -> [RowChange]) throws(SandboxError)

  /// Replaces all lines and all tables.
  func replace(
    with lines: [JournalLine], _ tables: [WorldTable], _ rows: () -> [RowChange]
  ) throws(SandboxError)
}

/// A journal that is discarded with the process. It keeps its lines for snapshots, and no tables.
package final class InMemoryJournal: JournalStore {
  package let path = "memory"
  private let stored = Mutex<[JournalLine]>([])

  /// An empty journal.
  package init() {}

  package func lines() -> [JournalLine] { stored.withLock { $0 } }

  package func begin(_ lines: [JournalLine], _ tables: [WorldTable], _ rows: () -> [RowChange]) {
    stored.withLock { $0 += lines }
  }

  package func append(_ lines: [JournalLine], _ rows: () -> [RowChange]) { stored.withLock { $0 += lines } }

  package func replace(with lines: [JournalLine], _ tables: [WorldTable], _ rows: () -> [RowChange]) {
    stored.withLock { $0 = lines }
  }
}
