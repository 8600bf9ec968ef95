package import AppStore
package import Entitlements
internal import Store

/// Who decides, about which app, and whether it is only asked what would happen.
package struct CommandScope: Sendable {
  /// The operator's name for the app.
  package var appID: String
  /// Where the purchases were made.
  package var environment: Environment
  /// Who decides, for the audit trail.
  package var actor: String
  /// Why, in the operator's words.
  package var note: String
  /// Nothing is to change.
  package var isDryRun: Bool

  /// A scope by its parts.
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

// What the operator decides. Each becomes evidence, and both sides change in one commit.
extension EvidenceLedger {
  /// Gives a purchase to a customer. What happens if it is somebody's already, `policy` says; if `from` is
  /// given, it must be that one's.
  package func move(
    _ originalTransactionID: String, from: String? = nil, to customerID: String, policy: OwnershipPolicy,
    _ scope: CommandScope
  ) async throws(LedgerError) -> CommandResult {
    try check(customerID, "customer_id")
    return try await run(scope) { handler throws(LedgerError) in
      try handler.move(originalTransactionID, from: from, to: customerID, policy: policy)
    }
  }

  /// Joins one customer, often an anonymous one, into another. What comes for the first one later is the
  /// other one's too.
  package func merge(
    _ from: String, into: String, _ scope: CommandScope
  ) async throws(LedgerError) -> CommandResult {
    try check(from, "from_customer_id")
    try check(into, "into_customer_id")
    return try await run(scope) { handler throws(LedgerError) in try handler.merge(from, into: into) }
  }

  /// Takes back a move or a merge, if nothing that it moved was moved again. The environment is the
  /// transfer's.
  package func undo(_ transferID: String, _ scope: CommandScope) async throws(LedgerError) -> CommandResult {
    let id = CommandResult.evidenceID(ofTransfer: transferID)
    let environment = try await write { transaction throws(StoreError) in
      try id.flatMap { id throws(StoreError) in try transaction.evidence(id)?.evidence.environment }
    }
    guard let id, let environment else { throw .unknownTransfer(transferID) }
    var scope = scope
    scope.environment = environment
    return try await run(scope) { handler throws(LedgerError) in try handler.undo(id) }
  }

  /// Gives an entitlement without a purchase; from now on if `since` is `nil`. The same idempotency key
  /// again gives the grant that there is, not a second one.
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

  /// Takes a grant back. Again, it stays as it was taken back first. The environment is the grant's.
  package func revokeGrant(_ grantID: String, _ scope: CommandScope) async throws(LedgerError)
    -> CommandResult
  {
    let (app, id) = (scope.appID, grantID)
    let line = try await write { transaction throws(StoreError) in try transaction.grant(id, of: app) }
    guard let line else { throw .unknownGrant(grantID) }
    var scope = scope
    scope.environment = line.environment
    return try await run(scope) { handler throws(LedgerError) in try handler.revokeGrant(line) }
  }

  /// Removes the person: the name, what was said about the person, what only leads there. Apple's facts
  /// stay, and the purchases wait for whoever claims them.
  package func erase(_ customerID: String, _ scope: CommandScope) async throws(LedgerError) -> CommandResult {
    try check(customerID, "customer_id")
    return try await run(scope) { handler throws(LedgerError) in try handler.erase(customerID) }
  }

  /// Runs a command in one write, or only rehearses it.
  func run(
    _ scope: CommandScope,
    _ command: @escaping @Sendable (CommandHandler) throws(LedgerError) -> CommandResult
  ) async throws(LedgerError) -> CommandResult {
    try app(scope.appID)
    let (catalog, now) = (catalog.value, now())
    let body = {
      @Sendable (store: any StoreTransaction) throws(StoreError) -> Result<CommandResult, LedgerError> in
      let handler = CommandHandler(
        store: store, catalog: catalog, now: now, appID: scope.appID, environment: scope.environment,
        actor: scope.actor, note: scope.note)
      do throws(LedgerError) {
        return .success(try command(handler))
      } catch {
        if case .store(let error) = error { throw error }
        // Refused before anything was written.
        return .failure(error)
      }
    }
    let outcome: Result<CommandResult, LedgerError>
    do throws(StoreError) {
      outcome = scope.isDryRun ? try await store.dryRun(body) : try await store.write(body)
    } catch {
      throw .store(error)
    }
    return try outcome.get()
  }
}
