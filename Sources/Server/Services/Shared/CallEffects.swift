internal import RPC
internal import Store

// Whether a call that the store failed may have had an effect.
extension Status {
  /// Ends the message of each failure of a write that changed nothing.
  static let noEffect = "nothing was accepted"

  /// Whether the store states that the write changed nothing.
  var isWithoutEffect: Bool { message.hasSuffix(Self.noEffect) }

  /// The same failure of a call that had an effect before, or may have had one: if the store failed, its outcome is
  /// unknown then.
  var afterPossibleEffect: Status {
    guard isTemporary, reason != "OUTCOME_UNKNOWN" else { return self }
    return Status(.outcomeUnknown(cause.isEmpty ? message : cause))
  }
}
