// What the operator asked Apple.
extension EvidenceLedger {
  /// Keeps what Apple was asked and what it answered, and lets the customers' events tell of it.
  @discardableResult
  package func record(
    _ call: AppleCall, _ scope: CommandScope
  ) async throws(LedgerError) -> CommandResult {
    try await run(scope) { handler throws(LedgerError) in
      try handler.execute(.appleCall(call), onBehalfOf: nil)
    }
  }
}
