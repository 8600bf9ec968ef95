/// The meaning of a colour. Each one has a sign or a pattern too, so that no meaning rests on colour alone.
package enum Tone: String, Hashable, Sendable, CaseIterable {
  /// Access, or a paid period.
  case full
  /// A free trial.
  case trial
  /// A payment failed, access continues.
  case grace
  /// A payment failed, and there is no access.
  case retry
  /// Withdrawn.
  case none
  /// Granted by the operator.
  case grant
  /// Shared by the family, or a seat.
  case shared
  /// Over, or neutral.
  case ended

  /// The sign before a verdict.
  package var sign: String {
    switch self {
    case .full, .trial, .grace, .grant, .shared: "✓"
    case .retry, .none, .ended: "✕"
    }
  }
}
