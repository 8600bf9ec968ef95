internal import AppStore
internal import Entitlements
internal import Store

/// Where a command is checked against what is, becomes evidence, and is carried out: all inside one write.
///
/// A check that fails throws before anything was written.
struct CommandHandler {
  let store: any StoreTransaction
  let catalog: Catalog
  let now: Instant
  let appID: String
  let environment: Environment
  let actor: String
  var note = ""

  /// Gives a purchase to a customer, as `policy` says if it is somebody else's; `from` is who must have it.
  func move(
    _ number: String, from: String?, to: String, policy: OwnershipPolicy
  ) throws(LedgerError) -> CommandResult {
    let line = LineKey(appID: appID, environment: environment, originalTransactionID: number)
    let (owners, to) = try inStore { () throws(StoreError) in
      (try store.owners(of: line), try derivation().mergeTarget(of: line.customer(to)).customerID)
    }
    let isKnown = try inStore { () throws(StoreError) in try store.facts(of: line) } != CustomerFacts()
    guard line.isPurchase, isKnown else { throw .unknownPurchase(originalTransactionID: number) }
    if let from, !owners.contains(from) { throw .notTheOwner(originalTransactionID: number) }
    let previous = from.map { [$0] } ?? owners
    guard !owners.contains(to) else { return CommandResult(previousCustomerIDs: previous) }
    guard owners.isEmpty || policy != .keep else {
      throw .ownedByAnotherCustomer(originalTransactionID: number)
    }
    var outcome = try execute(
      .move(line: number, from: policy == .share ? [] : previous, to: to), onBehalfOf: to)
    outcome.previousCustomerIDs = previous
    outcome.lines = [number]
    return outcome
  }

  /// Joins one customer into another.
  func merge(_ from: String, into: String) throws(LedgerError) -> CommandResult {
    let (from, into) = (customer(from), customer(into))
    let (lines, mergeTarget, alreadyInto) = try inStore { () throws(StoreError) in
      (
        try store.lines(of: from), try derivation().mergeTarget(of: into),
        try derivation().mergeTarget(of: from)
      )
    }
    guard alreadyInto != mergeTarget || from == into || mergeTarget == from else { return CommandResult() }
    guard from != into else {
      throw .invalid(field: "into_customer_id", problem: "is the customer that ends")
    }
    let target = mergeTarget == from ? into : mergeTarget
    var outcome = try execute(
      .merge(from: from.customerID, into: target.customerID), onBehalfOf: target.customerID)
    outcome.lines = lines.filter(\.isPurchase).map(\.originalTransactionID).sorted()
    return outcome
  }

  /// Takes back a move or a merge, if all that it moved is still where it put it.
  func undo(_ id: EvidenceID) throws(LedgerError) -> CommandResult {
    let transferID = CommandResult.transferID(of: id)
    let evidence = try inStore { () throws(StoreError) in try store.evidence(id) }
    guard let evidence = evidence?.evidence, evidence.appID == appID,
      evidence.environment == environment, case .command(let command) = DecodedEvidence(evidence),
      command.isTransfer
    else { throw .unknownTransfer(transferID) }
    let changes = try inStore { () throws(StoreError) in try self.changes(by: id, command) }
    let isInForce = try inStore { () throws(StoreError) in try self.isInForce(changes, command) }
    guard isInForce else { throw .transferConflict(transfer: transferID) }
    return try execute(.undo(id), onBehalfOf: nil)
  }

  private func changes(
    by id: EvidenceID, _ command: OperatorCommand
  ) throws(StoreError) -> [OwnershipChange] {
    var changes: [OwnershipChange] = []
    for customerID in command.customerIDs {
      changes += try store.ownershipChanges(of: customer(customerID), by: id)
    }
    return changes
  }

  /// Whether all is still as the command left it.
  private func isInForce(
    _ changes: [OwnershipChange], _ command: OperatorCommand
  ) throws(StoreError) -> Bool {
    for change in changes {
      let owners = try store.owners(of: change.line)
      guard owners.contains(change.customerID) == change.gained else { return false }
    }
    guard case .merge(let from, let into) = command.action else { return true }
    return try store.mergeTarget(of: customer(from)) == into
  }
}

extension CommandHandler {
  func customer(_ id: String) -> CustomerKey {
    CustomerKey(appID: appID, environment: environment, customerID: id)
  }

  func derivation() -> Derivation { Derivation(store, catalog: catalog, now: now) }

  /// Keeps a command and carries it out.
  func execute(
    _ action: OperatorCommand.Action, onBehalfOf customerID: String?
  ) throws(LedgerError) -> CommandResult {
    let command = OperatorCommand(action, actor: actor, note: note)
    return try inStore { () throws(StoreError) in
      let kept = try append(command, onBehalfOf: customerID)
      let derivation = derivation()
      try derivation.apply(command, by: kept, of: appID, in: environment)
      try derivation.finish()
      return CommandResult(evidenceID: kept, events: derivation.events)
    }
  }

  /// Makes a command evidence.
  func append(_ command: OperatorCommand, onBehalfOf customerID: String?) throws(StoreError) -> EvidenceID {
    let number = try store.nextEvidenceID()
    return try store.append(
      Evidence(
        appID: appID, environment: environment, customerID: customerID, kind: .operatorCommand,
        source: .operatorCall, receivedAt: now,
        content: EvidenceContent(hashing: command.encoded(number: number)), verdict: .accepted)
    ).id
  }

  /// The store's errors as the ledger's.
  func inStore<Value>(_ body: () throws(StoreError) -> Value) throws(LedgerError) -> Value {
    do { return try body() } catch { throw .store(error) }
  }
}

extension OperatorCommand {
  /// Whether it can be taken back as a transfer.
  fileprivate var isTransfer: Bool {
    switch action {
    case .move, .merge: true
    case .undo, .grant, .revokeGrant, .claimSeat, .associateSeat, .releaseSeats, .erase, .appleCall,
      .consent:
      false
    }
  }
}
