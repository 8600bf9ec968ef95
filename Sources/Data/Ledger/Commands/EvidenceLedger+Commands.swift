package import AppStore
package import Entitlements
internal import FamilySharing
internal import Store

/// The context of a command: the app, the operator's user, and whether it is a dry run.
package struct CommandScope: Sendable {
  /// The operator's name for the app.
  package var appID: String
  /// Where the purchases were made.
  package var environment: Environment
  /// The operator's user, for the audit trail.
  package var actor: String
  /// The operator's reason.
  package var note: String
  /// Whether to return the result without committing it.
  package var isDryRun: Bool

  package init(
    appID: String, environment: Environment, actor: String = "", note: String = "", isDryRun: Bool = false
  ) {
    self.appID = appID
    self.environment = environment
    self.actor = actor
    self.note = note
    self.isDryRun = isDryRun
  }
}

// Operator commands. Each becomes evidence, and all affected customers change in one commit.
extension EvidenceLedger {
  /// Moves a purchase to a customer. `policy` decides if it has an owner; `from`, if given, must be an owner.
  package func move(
    _ originalTransactionID: String, from: String? = nil, to customerID: String, policy: OwnershipPolicy,
    _ scope: CommandScope
  ) async throws(LedgerError) -> CommandResult {
    try check(customerID, "customer_id")
    return try await run(scope) { handler throws(LedgerError) in
      try handler.move(originalTransactionID, from: from, to: customerID, policy: policy)
    }
  }

  /// Merges one customer, often an anonymous one, into another, which gets all later evidence of the first.
  package func merge(
    _ from: String, into: String, _ scope: CommandScope
  ) async throws(LedgerError) -> CommandResult {
    try check(from, "from_customer_id")
    try check(into, "into_customer_id")
    return try await run(scope) { handler throws(LedgerError) in try handler.merge(from, into: into) }
  }

  /// Reverses a move or a merge, if no line that it moved was moved again. The transfer's environment
  /// replaces the scope's.
  package func undo(_ transferID: String, _ scope: CommandScope) async throws(LedgerError) -> CommandResult {
    try await run(scope) { handler throws(LedgerError) in try handler.undo(transferID) }
  }

  /// Grants an entitlement without a purchase; from now on if `since` is `nil`. The same idempotency key
  /// again returns the existing grant.
  package func grant(
    _ entitlement: String, _ level: AccessLevel = .full, since: Instant? = nil, until: Instant? = nil,
    to customerID: String, key: String = "", _ scope: CommandScope
  ) async throws(LedgerError) -> CommandResult {
    try check(customerID, "customer_id")
    return try await run(scope) { handler throws(LedgerError) in
      try handler.grant(
        entitlement, level, since: since ?? handler.now, until: until, to: customerID, key: key)
    }
  }

  /// Revokes a grant; a second call changes nothing. The grant's environment replaces the scope's.
  package func revokeGrant(
    _ grantID: String, _ scope: CommandScope
  ) async throws(LedgerError) -> CommandResult {
    try await run(scope) { handler throws(LedgerError) in try handler.revokeGrant(grantID) }
  }

  /// Erases a customer: id, notes and links. Apple's facts stay, and the purchases enter the claim queue.
  package func erase(_ customerID: String, _ scope: CommandScope) async throws(LedgerError) -> CommandResult {
    try check(customerID, "customer_id")
    return try await run(scope) { handler throws(LedgerError) in try handler.erase(customerID) }
  }

  /// Runs a command in one write, or as a dry run.
  func run(
    _ scope: CommandScope,
    _ command: @escaping @Sendable (CommandHandler) throws(LedgerError) -> CommandResult
  ) async throws(LedgerError) -> CommandResult {
    try app(scope.appID)
    let (catalog, now) = (catalog.value, now())
    let result = try await commit(isDryRun: scope.isDryRun) {
      store throws(StoreError) -> (Result<CommandResult, LedgerError>, [LedgerEffect]) in
      let handler = CommandHandler(
        store: store, catalog: catalog, now: now, appID: scope.appID, environment: scope.environment,
        actor: scope.actor, note: scope.note)
      do throws(LedgerError) {
        let result = try command(handler)
        return (.success(result), result.effects)
      } catch {
        if case .store(let error) = error { throw error }
        // Validation failed before anything was written.
        return (.failure(error), [])
      }
    }
    return try result.get()
  }
}

// Seats of purchases whose invitations the developer sends: the ledger is the record of their holders.
extension EvidenceLedger {
  /// Claims a seat of a purchase, and links it to a customer if one is given. The same request identifier
  /// again returns the same seat. `seatClaimID` is Apple's id of the claim, if Apple assigned one.
  ///
  /// - Throws: ``LedgerError/noSeatLeft(originalTransactionID:bought:held:)`` if all seats are claimed,
  ///   ``LedgerError/noSeats(_:originalTransactionID:)`` for purchases without seats.
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

  /// Links a claimed seat without a holder to a customer.
  package func associateSeat(
    _ seatID: String, of originalTransactionID: String, with customerID: String, _ scope: CommandScope
  ) async throws(LedgerError) -> CommandResult {
    try check(customerID, "customer_id")
    return try await run(scope) { handler throws(LedgerError) in
      try handler.associateSeat(seatID, of: originalTransactionID, with: customerID)
    }
  }

  /// Releases a seat: its holder loses its entitlements, and it can be claimed again.
  package func releaseSeat(
    _ seatID: String, of originalTransactionID: String, _ scope: CommandScope
  ) async throws(LedgerError) -> CommandResult {
    try await run(scope) { handler throws(LedgerError) in
      try handler.releaseSeat(seatID, of: originalTransactionID)
    }
  }
}

// Calls of the operator to Apple.
extension EvidenceLedger {
  /// Stores a call to Apple with its response, and records it in the timelines of the purchase's owners.
  @discardableResult
  package func record(
    _ call: AppleCall, _ scope: CommandScope
  ) async throws(LedgerError) -> CommandResult {
    try await run(scope) { handler throws(LedgerError) in
      try handler.execute(.appleCall(call), onBehalfOf: nil)
    }
  }
}
