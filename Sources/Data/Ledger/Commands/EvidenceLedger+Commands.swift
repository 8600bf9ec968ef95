package import AppStore
internal import Bytes
package import Entitlements
internal import FamilySharing
internal import Store

/// The context of a command: the app, the operator's user, and whether it is a dry run.
package struct CommandScope: Sendable {
  /// The operator's name for the app.
  package var appID: String
  /// The environment of the purchases.
  package var environment: Environment
  /// The operator's user, for the audit trail.
  package var actor: String
  /// The operator's reason.
  package var note: String
  /// Whether to return the result without committing it.
  package var isDryRun: Bool
  /// The idempotency key and the response; `nil` without a key.
  package var idempotency: IdempotentCommand?

  /// Creates a scope. `actor` and `note` are stored with the command, in evidence and timeline.
  package init(
    appID: String, environment: Environment, actor: String = "", note: String = "", isDryRun: Bool = false
  ) {
    self.appID = appID
    self.environment = environment
    self.actor = actor
    self.note = note
    self.isDryRun = isDryRun
  }

  /// The rows about customers, lines and `appAccountToken`s that a command reads, and that of its idempotency key.
  func reads(customers: [String?] = [], lines: [String] = [], tokens: [String] = []) -> ExpectedReads {
    let scope = CustomerKey(appID: appID, environment: environment, customerID: "")
    var reads = ExpectedReads()
    reads.customers = Set(customers.compactMap { $0.map(scope.other) })
    reads.lines = Set(lines.map(scope.line))
    reads.tokens = Set(tokens.map { ScopedID($0, of: appID, in: environment) })
    if let idempotency { reads.idempotencyKeys = [idempotency.request.keyHash] }
    return reads
  }
}

// Operator commands. Each becomes evidence, and all affected customers change in one commit.
extension EvidenceLedger {
  /// Moves a purchase to a customer. `policy` decides if it has an owner; `from`, if given, must be an owner.
  /// Moving it to its only owner changes nothing. Durable on return.
  ///
  /// - Throws: ``LedgerError/unknownPurchase(originalTransactionID:)``;
  ///   ``LedgerError/notTheOwner(originalTransactionID:)``;
  ///   ``LedgerError/ownedByAnotherCustomer(originalTransactionID:)`` under ``OwnershipPolicy/keep``;
  ///   ``LedgerError/invalid(field:problem:)`` for an empty or too long customer id;
  ///   ``LedgerError/unknownApp(_:configured:)``; ``LedgerError/store(_:)``. All other commands throw the
  ///   last three, too.
  package func move(
    _ originalTransactionID: String, from: String? = nil, to customerID: String, policy: OwnershipPolicy,
    _ scope: CommandScope
  ) async throws(LedgerError) -> CommandResult {
    try check(customerID, "customer_id")
    let reads = scope.reads(customers: [customerID, from], lines: [originalTransactionID])
    return try await run(scope, reading: reads) { handler throws(LedgerError) in
      try handler.move(originalTransactionID, from: from, to: customerID, policy: policy)
    }
  }

  /// Binds an `appAccountToken`, a UUID in any case, to a customer. The purchases with that token in the claim
  /// queue, and those that arrive later, belong to the customer. A second call changes nothing.
  ///
  /// - Throws: ``LedgerError/tokenOfAnotherCustomer`` if the token is bound to another customer, or is its id.
  package func registerToken(
    _ token: String, of customerID: String, _ scope: CommandScope
  ) async throws(LedgerError) -> CommandResult {
    try check(customerID, "customer_id")
    let token = token.lowercased()
    guard token.isUUID else { throw .invalid(field: "app_account_token", problem: "is not a UUID") }
    let reads = scope.reads(customers: [customerID], tokens: [token])
    return try await run(scope, reading: reads) { handler throws(LedgerError) in
      try handler.registerToken(token, of: customerID)
    }
  }

  /// Merges one customer, often an anonymous one, into another, which gets all later evidence of the first.
  /// Repeating it changes nothing. Durable on return.
  ///
  /// - Throws: ``LedgerError/invalid(field:problem:)`` also if both are the same customer.
  package func merge(
    _ from: String, into: String, _ scope: CommandScope
  ) async throws(LedgerError) -> CommandResult {
    try check(from, "from_customer_id")
    try check(into, "into_customer_id")
    return try await run(scope, reading: scope.reads(customers: [from, into])) {
      handler throws(LedgerError) in
      try handler.merge(from, into: into)
    }
  }

  /// Reverses a move or a merge, if no line that it moved was moved again. The transfer's environment
  /// replaces the scope's. Durable on return.
  ///
  /// - Throws: ``LedgerError/unknownTransfer(_:)``; ``LedgerError/transferConflict(transfer:)``.
  package func undo(_ transferID: String, _ scope: CommandScope) async throws(LedgerError) -> CommandResult {
    try await run(scope) { handler throws(LedgerError) in try handler.undo(transferID) }
  }

  /// Grants an entitlement without a purchase, from `since` (now if `nil`) until `until` (exclusive; no
  /// expiry if `nil`). Durable on return.
  ///
  /// - Throws: ``LedgerError/invalid(field:problem:)`` for a customer id that is empty or too long. The caller checks the
  ///   entitlement and the times.
  package func grant(
    _ entitlement: String, _ level: AccessLevel = .full, since: Instant? = nil, until: Instant? = nil,
    to customerID: String, _ scope: CommandScope
  ) async throws(LedgerError) -> CommandResult {
    try check(customerID, "customer_id")
    return try await run(scope, reading: scope.reads(customers: [customerID])) {
      handler throws(LedgerError) in
      try handler.grant(entitlement, level, since: since ?? handler.now, until: until, to: customerID)
    }
  }

  /// Revokes a grant from now on; a second call changes nothing. The grant's environment replaces the
  /// scope's. Durable on return.
  ///
  /// - Throws: ``LedgerError/unknownGrant(_:)``.
  package func revokeGrant(
    _ grantID: String, _ scope: CommandScope
  ) async throws(LedgerError) -> CommandResult {
    try await run(scope, reading: scope.reads(lines: [grantID])) { handler throws(LedgerError) in
      try handler.revokeGrant(grantID)
    }
  }

  /// Runs a command in one write, or as a dry run, which returns the same result and commits nothing. A command whose
  /// idempotency key was used before does not run; the result then contains only the stored response. `reads` are the
  /// rows that it is known to need; by default that of its idempotency key.
  ///
  /// - Throws: the error of `command`, which has written nothing then;
  ///   ``LedgerError/unknownApp(_:configured:)``.
  func run(
    _ scope: CommandScope, requiresApp: Bool = true, reading reads: ExpectedReads? = nil,
    _ command: @escaping @Sendable (CommandHandler) throws(LedgerError) -> CommandResult
  ) async throws(LedgerError) -> CommandResult {
    if requiresApp { try app(scope.appID) }
    let (catalog, clocks, keyTime) = (catalog.value, clocks, keyTime)
    let result = try await commit(isDryRun: scope.isDryRun, expecting: reads ?? scope.reads()) {
      store throws(StoreError) -> (Result<CommandResult, LedgerError>, [LedgerEffect]) in
      let handler = CommandHandler(
        store: store, catalog: catalog, times: clocks.times(), appID: scope.appID,
        environment: scope.environment, actor: scope.actor, note: scope.note)
      do throws(LedgerError) {
        if let repeated = try scope.idempotency?.repeated(in: store, at: keyTime) {
          return (.success(repeated), [])
        }
        var result = try command(handler)
        result.response = try handler.inStore { () throws(StoreError) in
          try scope.idempotency?.finish(result, scope, in: store, at: keyTime)
        }
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
  /// again, and a customer who holds a seat, get the existing seat. `seatClaimID` is Apple's id of the claim,
  /// if Apple assigned one. Check and claim are one write, so there are never more claims than seats.
  ///
  /// - Throws: ``LedgerError/unknownPurchase(originalTransactionID:)``;
  ///   ``LedgerError/noSeats(_:originalTransactionID:)`` for purchases without seats, or if Apple manages
  ///   them; ``LedgerError/noSeatLeft(originalTransactionID:bought:held:)`` if all are claimed;
  ///   ``LedgerError/alreadyPurchaser(originalTransactionID:)``.
  package func claimSeat(
    of originalTransactionID: String, for customerID: String?, request: String, seatClaimID: String? = nil,
    _ scope: CommandScope
  ) async throws(LedgerError) -> CommandResult {
    if let customerID { try check(customerID, "customer_id") }
    let reads = scope.reads(customers: [customerID], lines: [originalTransactionID])
    return try await run(scope, reading: reads) { handler throws(LedgerError) in
      try handler.claimSeat(
        of: originalTransactionID, for: customerID, request: request, seatClaimID: seatClaimID)
    }
  }

  /// Links a claimed seat without a holder to a customer. Repeating it changes nothing.
  ///
  /// - Throws: ``LedgerError/unknownSeat(_:)`` also for a released seat; ``LedgerError/seatTaken(_:)``;
  ///   ``LedgerError/alreadyPurchaser(originalTransactionID:)``.
  package func associateSeat(
    _ seatID: String, of originalTransactionID: String, with customerID: String, _ scope: CommandScope
  ) async throws(LedgerError) -> CommandResult {
    try check(customerID, "customer_id")
    let reads = scope.reads(customers: [customerID], lines: [originalTransactionID, seatID])
    return try await run(scope, reading: reads) { handler throws(LedgerError) in
      try handler.associateSeat(seatID, of: originalTransactionID, with: customerID)
    }
  }

  /// Releases a seat: its holder loses its entitlements, and it can be claimed again. Repeating it changes
  /// nothing.
  ///
  /// - Throws: ``LedgerError/unknownSeat(_:)``.
  package func releaseSeat(
    _ seatID: String, of originalTransactionID: String, _ scope: CommandScope
  ) async throws(LedgerError) -> CommandResult {
    let reads = scope.reads(lines: [originalTransactionID, seatID])
    return try await run(scope, reading: reads) { handler throws(LedgerError) in
      try handler.releaseSeat(seatID, of: originalTransactionID)
    }
  }
}

// Calls of the operator to Apple.
extension EvidenceLedger {
  /// Stores a call to Apple with its response, and records it in the timelines of the purchase's owners.
  ///
  /// - Throws: ``LedgerError/unknownApp(_:configured:)``; ``LedgerError/store(_:)``.
  @discardableResult
  package func record(
    _ call: AppleCall, _ scope: CommandScope
  ) async throws(LedgerError) -> CommandResult {
    try await run(scope) { handler throws(LedgerError) in
      try handler.execute(.appleCall(call), onBehalfOf: nil)
    }
  }
}
