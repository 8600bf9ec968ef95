package import AppStore

/// One line of the journal.
package struct JournalLine: Hashable, Sendable {
  /// When it was, by the sandbox's clock.
  package let at: Instant
  /// What it was, a JSON object.
  package let entry: String

  package init(at: Instant, entry: String) {
    self.at = at
    self.entry = entry
  }
}

/// Where the journal is kept, and beside it what the world is in tables.
///
/// What a call appends is there whole or not at all, its rows included, and outlasts the process when the call
/// returns.
package protocol JournalStore: Sendable {
  /// What errors call the place.
  var path: String { get }

  /// What was appended so far, the oldest first.
  ///
  /// - Throws: ``SandboxError/corrupt(path:detail:)``, ``SandboxError/unusable(path:detail:)``.
  func lines() throws(SandboxError) -> [JournalLine]

  /// Appends the first lines of a process, and makes the tables anew with these rows. Outlasts a power loss, too.
  func begin(_ lines: [JournalLine], _ tables: [WorldTable], _ rows: () -> [RowChange]) throws(SandboxError)

  /// Appends, and brings the tables up to date.
  func append(_ lines: [JournalLine], _ rows: () -> [RowChange]) throws(SandboxError)
}

/// A journal that nobody reads, since it ends with the process.
package struct InMemoryJournal: JournalStore {
  package let path = "memory"

  package init() {}

  package func lines() -> [JournalLine] { [] }

  package func begin(_ lines: [JournalLine], _ tables: [WorldTable], _ rows: () -> [RowChange]) {}

  package func append(_ lines: [JournalLine], _ rows: () -> [RowChange]) {}
}
