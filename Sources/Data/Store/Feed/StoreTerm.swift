/// A part of a store's history: what was committed while one process had the right to write.
///
/// A store that is restored from a backup begins a new term after the backup's last commit. A position that was reached
/// after the backup is then beyond the end of its term, and a term that began after it is missing.
package struct StoreTerm: Hashable, Sendable {
  /// Random, so that two terms never have the same name.
  package let name: UInt64
  /// The position at which it began; everything up to there belongs to terms before.
  package let start: Start

  /// Creates a term from its parts.
  package init(name: UInt64, start: Start) {
    self.name = name
    self.start = start
  }

  /// A point in the history of all apps.
  package struct Start: Hashable, Sendable {
    /// The number of commits, or the id of the last evidence; see ``StorePosition/mark``.
    package let mark: Int64
    /// The sequence of the last event of each app with events, by ``StorePosition/hash(ofApp:)``; `nil` if ``mark``
    /// counts commits, because it then covers events too.
    package let sequences: [UInt32: Int64]?

    package init(mark: Int64, sequences: [UInt32: Int64]? = nil) {
      self.mark = mark
      self.sequences = sequences
    }

    /// Whether the history up to here has `position`.
    func includes(_ position: StorePosition) -> Bool {
      position.mark <= mark
        && position.sequence <= (sequences.map { $0[position.appHash, default: 0] } ?? .max)
    }
  }
}
