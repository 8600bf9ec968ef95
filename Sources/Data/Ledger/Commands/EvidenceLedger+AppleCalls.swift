// What the operator asked Apple.
extension EvidenceLedger {
  /// Keeps what Apple was asked and what it answered, and lets the customers' events tell of it.
  @discardableResult
  package func record(
    _ call: AppleCall, _ scope: CommandScope
  ) async throws(LedgerError) -> CommandResult {
    try await carryOut(scope) { desk throws(LedgerError) in
      try desk.issue(.appleCall(call), onBehalfOf: nil)
    }
  }
}
