internal import AppStore
package import Entitlements
package import FamilySharing
package import Store

/// Validates a command against the state, appends it as evidence and runs it, inside one write.
///
/// Validation throws before anything is written. A value of one write; its functions must not be called after
/// it.
struct CommandHandler {
  let store: any StoreTransaction
  let catalog: Catalog
  let times: EnvironmentTimes
  let appID: String
  var environment: Environment
  let actor: String
  var note = ""

  /// The time in the environment of the command.
  var now: Instant { times[environment] }

  /// Moves a purchase to a customer; `policy` decides if it has an owner. `from`, if given, must be an owner, and loses a
  /// purchase that both own unless it stays shared.
  func move(
    _ purchaseID: String, from: String?, to: String, policy: OwnershipPolicy
  ) throws(LedgerError) -> CommandResult {
    let line = lineKey(purchaseID)
    let (owners, to) = try inStore { () throws(StoreError) in
      (try store.owners(of: line), try store.finalMergeTarget(of: line.customer(to)).customerID)
    }
    let exists = try inStore { () throws(StoreError) in try store.facts(of: line) } != CustomerFacts()
    guard line.isPurchase, exists else { throw .unknownPurchase(originalTransactionID: purchaseID) }
    if let from, !customer(from).isAmong(owners) { throw .notTheOwner(originalTransactionID: purchaseID) }
    let previous = from.map { [$0] } ?? owners
    // Without `from`, the policy `keep` asks for nothing that an owner does not have.
    let keepsOwners = policy == .share || (policy == .keep && from == nil)
    let leaving = keepsOwners ? [] : previous.filter { customer($0) != customer(to) }
    guard !customer(to).isAmong(owners) || !leaving.isEmpty else {
      return CommandResult(previousCustomerIDs: previous)
    }
    guard owners.isEmpty || policy != .keep else {
      throw .ownedByAnotherCustomer(originalTransactionID: purchaseID)
    }
    var outcome = try execute(
      .move(line: purchaseID, from: leaving, to: to), onBehalfOf: to)
    outcome.previousCustomerIDs = leaving.isEmpty ? previous : leaving
    outcome.lines = [purchaseID]
    return outcome
  }

  /// Binds an `appAccountToken` to a customer, unless its purchases go to another one; a second call changes nothing.
  func registerToken(_ token: String, of customerID: String) throws(LedgerError) -> CommandResult {
    let customer = try inStore { () throws(StoreError) in
      try store.finalMergeTarget(of: self.customer(customerID))
    }
    let (buyer, isBound, lines) = try inStore { () throws(StoreError) in
      (
        try store.buyer(withToken: token, of: customer.line("")),
        try store.customerID(ofToken: token, of: appID, in: environment) != nil,
        try store.unclaimedLines(withToken: token, of: appID, in: environment)
      )
    }
    guard buyer == nil || buyer == customer else { throw .tokenOfAnotherCustomer }
    guard !isBound else { return CommandResult() }
    var outcome = try execute(
      .registerToken(token, customerID: customer.customerID), onBehalfOf: customer.customerID)
    outcome.lines = lines.map(\.lineID).sorted()
    return outcome
  }

  /// Merges one customer into another.
  func merge(_ from: String, into: String) throws(LedgerError) -> CommandResult {
    let (from, into) = (customer(from), customer(into))
    let (lines, target, currentTarget) = try inStore { () throws(StoreError) in
      (
        try store.lines(of: from), try store.finalMergeTarget(of: into),
        try store.finalMergeTarget(of: from)
      )
    }
    guard currentTarget != target || from == into || target == from else { return CommandResult() }
    guard from != into else {
      throw .invalid(field: "into_customer_id", problem: "is the customer to merge")
    }
    let final = target == from ? into : target
    var outcome = try execute(
      .merge(from: from.customerID, into: final.customerID), onBehalfOf: final.customerID)
    outcome.lines = lines.filter(\.isPurchase).map(\.lineID).sorted()
    return outcome
  }

  /// Reverses a move or a merge, if no line that it moved was moved again. Its environment replaces the
  /// handler's.
  ///
  /// Reads the command and its links in the write, because a transfer between a read and the write would
  /// change them.
  func undo(_ transferID: String) throws(LedgerError) -> CommandResult {
    guard let id = CommandResult.evidenceID(ofTransfer: transferID) else {
      throw .unknownTransfer(transferID)
    }
    let evidence = try inStore { () throws(StoreError) in try store.evidence(id)?.evidence }
    guard let evidence, evidence.appID == appID, let environment = evidence.environment,
      let command = EvidenceDecoder.command(in: evidence), command.isTransfer
    else { throw .unknownTransfer(transferID) }
    let handler = self.handler(in: environment)
    let isInForce = try inStore { () throws(StoreError) in
      try handler.isInForce(try handler.changes(by: id, command), command)
    }
    guard isInForce else { throw .transferConflict(transfer: transferID) }
    return try handler.execute(.undo(id), onBehalfOf: nil)
  }

  /// Returns a handler of the same command in another environment.
  func handler(in environment: Environment) -> CommandHandler {
    var handler = self
    handler.environment = environment
    return handler
  }

  /// The links that the command made and ended.
  private func changes(
    by id: EvidenceID, _ command: OperatorCommand
  ) throws(StoreError) -> [OwnershipChange] {
    var changes: [OwnershipChange] = []
    for customerID in command.customerIDs {
      changes += try store.ownershipChanges(of: customer(customerID), by: id)
    }
    return changes
  }

  /// Whether an erasure gave the customer this id, a pseudonym.
  private func isErased(_ customerID: String) throws(StoreError) -> Bool {
    guard let erasure = Pseudonym.erasure(in: customerID),
      let evidence = try store.evidence(erasure)?.evidence,
      case .erase(let pseudonyms)? = EvidenceDecoder.command(in: evidence)?.action
    else { return false }
    return pseudonyms.contains(customerID)
  }

  /// Whether the links and the merge of the command are still in force. The customer who received the purchases has no link
  /// by the command to one that it owned before.
  private func isInForce(
    _ changes: [OwnershipChange], _ command: OperatorCommand
  ) throws(StoreError) -> Bool {
    guard let receiver = command.customerIDs.last.map(customer) else { return false }
    for change in changes {
      let owners = try store.owners(of: change.line)
      guard receiver.isAmong(owners), customer(change.customerID).isAmong(owners) == change.gained else {
        return false
      }
      if !change.gained, try isErased(change.customerID) { return false }
    }
    guard case .merge(let from, let into) = command.action else { return true }
    return try store.mergeTarget(of: customer(from)) == into
  }
}

extension CommandHandler {
  /// A customer in the environment of the command.
  func customer(_ id: String) -> CustomerKey {
    CustomerKey(appID: appID, environment: environment, customerID: id)
  }

  /// A purchase, grant or seat in the environment of the command.
  func lineKey(_ id: String) -> LineKey {
    LineKey(appID: appID, environment: environment, lineID: id)
  }

  /// Appends a command as evidence and runs it.
  func execute(
    _ action: OperatorCommand.Action, onBehalfOf customerID: String?
  ) throws(LedgerError) -> CommandResult {
    let command = OperatorCommand(action, actor: actor, note: note)
    return try inStore { () throws(StoreError) in
      let evidence = try store.appendCommand(
        command, of: appID, in: environment, onBehalfOf: customerID, at: now)
      var applier = FactApplier(store, catalog: catalog, now: now)
      try applier.run(command, as: evidence, of: appID, in: environment)
      let derived = try Derivation.run(applier)
      return CommandResult(evidenceID: evidence, events: derived.events, effects: derived.effects)
    }
  }

  /// Runs `body` and maps the store's error to the ledger's.
  func inStore<Value>(_ body: () throws(StoreError) -> Value) throws(LedgerError) -> Value {
    do { return try body() } catch { throw .store(error) }
  }
}

extension OperatorCommand {
  /// Whether the command can be undone by its transfer id.
  package var isTransfer: Bool {
    switch action {
    case .move, .merge: true
    case .undo, .grant, .revokeGrant, .claimSeat, .associateSeat, .releaseSeats, .erase, .appleCall,
      .consent, .registerToken, .fulfill, .settleConsent, .addNote, .deleteNote, .setAttributes:
      false
    }
  }
}

/// The result of a command, or of its dry run.
package struct CommandResult: Hashable, Sendable {
  /// The evidence id of the command; `nil` if there was nothing to do.
  package var evidenceID: EvidenceID?
  /// The events, in order.
  package var events: [StoredEvent] = []
  /// The owners of the purchase before.
  package var previousCustomerIDs: [String] = []
  /// The ids of the purchases that moved.
  package var lines: [String] = []
  /// The grant; ``customer`` is its owner.
  package var grant: GrantFact?
  /// Whether a newer revision of the purchase in another store is stored.
  package var isSuperseded = false
  /// The seat; ``customer`` is its holder.
  package var seat: Seat?
  /// The note that was added.
  package var note: CustomerNote?
  /// The attributes of the customer afterwards.
  package var attributes: [CustomerAttribute] = []
  /// The delivery of the consumable.
  package var fulfillment: FulfillmentRecord?
  /// The consent to send consumption data to Apple.
  package var consent: ConsumptionConsent?
  /// The saved segment.
  package var segment: SavedSegment?
  /// The customer that the command is about; `nil` if there is none.
  package var customer: CustomerKey?
  /// The number of rows that lost an erased customer's id.
  package var erasedRows: Int64 = 0
  /// The erased customers: the one that the command names first, then those merged into it.
  package var erasures: [ErasedCustomer] = []
  /// The ids and tokens of the erased customers, in lower case.
  package var erasedNames: Set<String> = []
  /// The tokens in ``erasedNames``.
  package var erasedTokens: Set<String> {
    erasedNames.subtracting(erasures.map { $0.customerID.lowercased() })
  }
  /// The facts of ``customer`` after the command, as far as the answers from then on depend on them.
  package var facts = CustomerFacts()
  /// The encoded response; `nil` without an idempotency key.
  package var response: [UInt8]?
  /// Whether ``response`` is that of an earlier request; the result is empty otherwise.
  package var isRepeated = false
  /// The effects that the ledger records after the commit.
  var effects: [LedgerEffect] = []

  /// The id by which the command can be undone; empty if there was nothing to do.
  package var transferID: String { evidenceID.map(Self.transferID) ?? "" }

  private static let prefix = "transfer-"

  /// The transfer id of a move or merge. Clients store it, so its form is fixed.
  static func transferID(of evidence: EvidenceID) -> String { "\(prefix)\(evidence.rawValue)" }

  /// The evidence id in a ``transferID``; `nil` if it is malformed.
  static func evidenceID(ofTransfer id: String) -> EvidenceID? {
    guard id.hasPrefix(prefix) else { return nil }
    return Int64(id.dropFirst(prefix.count)).map(EvidenceID.init(rawValue:))
  }
}
