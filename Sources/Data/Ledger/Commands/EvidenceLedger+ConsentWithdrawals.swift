internal import Store

// Withdrawn consents of parents or guardians.
extension EvidenceLedger {
  /// Records that the operator has done what the withdrawn consent of an app install requires. Repeating it changes nothing.
  /// Durable on return.
  ///
  /// - Throws: ``LedgerError/invalid(field:problem:)`` if no consent of the app install was withdrawn.
  package func settleConsentWithdrawal(
    of appTransactionID: String, _ scope: CommandScope
  ) async throws(LedgerError) -> CommandResult {
    try await run(scope) { handler throws(LedgerError) in
      try handler.settleConsentWithdrawal(of: appTransactionID)
    }
  }
}

extension CommandHandler {
  /// Settles a withdrawal; one that is settled already stays as it is, so that a repeated call changes
  /// nothing.
  fileprivate func settleConsentWithdrawal(
    of appTransactionID: String
  ) throws(LedgerError) -> CommandResult {
    let record = try inStore { () throws(StoreError) in
      try store.consentWithdrawal(appTransactionID, of: appID, in: environment)
    }
    guard let record else {
      throw .invalid(field: "app_transaction_id", problem: "names no app install with a withdrawn consent")
    }
    if record.isSettled { return CommandResult() }
    return try execute(.settleConsent(appTransactionID, at: now), onBehalfOf: nil)
  }
}
