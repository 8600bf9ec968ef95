internal import Synchronization

/// Who is let in.
package enum CallerPolicy: Sendable {
  /// Everybody, with all roles.
  case open
  /// Those of the directory.
  case listed(CallerDirectory)
}

/// The admission that is in force now, shared by everything that lets callers in.
package final class CurrentCallers: Sendable {
  private let admission: Mutex<CallerPolicy>
  private let replacements = Atomic<UInt64>(0)

  /// Starts with `admission`.
  package init(_ admission: CallerPolicy) { self.admission = Mutex(admission) }

  /// The admission in force.
  package var value: CallerPolicy { admission.withLock { $0 } }

  /// Puts another admission in force, for the next call of every caller.
  package func replace(with admission: CallerPolicy) {
    self.admission.withLock { $0 = admission }
    replacements.add(1, ordering: .releasing)
  }

  /// How often it was replaced: what was worked out from ``value`` holds while this stays what it was before
  /// the value was read.
  package var generation: UInt64 { replacements.load(ordering: .acquiring) }
}
