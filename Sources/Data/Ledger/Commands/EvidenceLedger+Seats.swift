internal import FamilySharing

// Seats of purchases to which the developer invites: this ledger is the record of who has them.
extension EvidenceLedger {
  /// Claims a seat of a purchase, for a customer if one is known already. The same request identifier again
  /// gives the same seat. `seatClaimID` is Apple's number of the claim, where Apple was told.
  ///
  /// - Throws: ``LedgerError/noSeatLeft(originalTransactionID:bought:held:)`` rather than to claim more than
  ///   were bought, and others for purchases without seats.
  package func claimSeat(
    of originalTransactionID: String, for customerID: String?, request: String, seatClaimID: String? = nil,
    _ scope: CommandScope
  ) async throws(LedgerError) -> CommandResult {
    if let customerID { try check(customerID, "customer_id") }
    return try await run(scope) { handler throws(LedgerError) in
      try handler.claimSeat(
        of: originalTransactionID, for: customerID, request: request, seatClaimID: seatClaimID)
    }
  }

  /// Says for whom a seat was claimed that is nobody's yet.
  package func associateSeat(
    _ seatID: String, of originalTransactionID: String, with customerID: String, _ scope: CommandScope
  ) async throws(LedgerError) -> CommandResult {
    try check(customerID, "customer_id")
    return try await run(scope) { handler throws(LedgerError) in
      try handler.associateSeat(seatID, of: originalTransactionID, with: customerID)
    }
  }

  /// Gives a seat back: its holder loses what it gave, and it can be claimed again.
  package func releaseSeat(
    _ seatID: String, of originalTransactionID: String, _ scope: CommandScope
  ) async throws(LedgerError) -> CommandResult {
    try await run(scope) { handler throws(LedgerError) in
      try handler.releaseSeat(seatID, of: originalTransactionID)
    }
  }
}
