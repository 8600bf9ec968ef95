/// How urgent a call is. What is less urgent leaves a part of the budget to what may come.
package enum CallPriority: Int, Hashable, Sendable, CaseIterable, Comparable {
  /// A job over years of data; has as long as it takes.
  case backfill
  /// Mends what was missed.
  case repair
  /// Somebody waits.
  case interactive

  package static func < (left: CallPriority, right: CallPriority) -> Bool { left.rawValue < right.rawValue }

  /// The part of a bucket that such a call leaves untouched.
  var reserve: Double {
    switch self {
    case .interactive: 0
    case .repair: 0.2
    case .backfill: 0.5
    }
  }
}
