/// A point in the history of an app: everything up to this event, and everything up to this mark.
package struct StorePosition: Hashable, Sendable {
  /// The name of the ``StoreTerm`` in which it was reached; 0: the current one of the process.
  package let term: UInt64
  /// ``hash(ofApp:)`` of the app.
  package let appHash: UInt32
  /// The sequence of the last event of the app; 0: none.
  package let sequence: Int64
  /// The number of commits of the store; in a store that one process has for itself, the id of the last evidence. 0: none.
  package let mark: Int64

  /// Creates a position from its parts.
  package init(term: UInt64 = 0, appHash: UInt32, sequence: Int64, mark: Int64) {
    self.term = term
    self.appHash = appHash
    self.sequence = sequence
    self.mark = mark
  }

  /// Creates the position of an app.
  package init(of appID: String, sequence: Int64, mark: Int64, term: UInt64 = 0) {
    self.init(term: term, appHash: Self.hash(ofApp: appID), sequence: sequence, mark: mark)
  }

  /// Whether a reader at this position sees everything of `other`, a position of the same term.
  package func includes(_ other: StorePosition) -> Bool {
    sequence >= other.sequence && mark >= other.mark
  }

  /// FNV-1a of the app's name. Part of tokens, so it never changes.
  package static func hash(ofApp appID: String) -> UInt32 {
    appID.utf8.reduce(2_166_136_261) { ($0 ^ UInt32($1)) &* 16_777_619 }
  }
}

/// The number of commits that a snapshot sees, and the term of the last one.
package struct CommitMark: Hashable, Sendable {
  /// The term of the writer; it identifies a history of commits.
  package let term: UInt64
  /// The number of commits since the store was created.
  package let commits: Int64

  package init(term: UInt64, commits: Int64) {
    self.term = term
    self.commits = commits
  }
}
