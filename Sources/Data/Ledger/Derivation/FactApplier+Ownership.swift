internal import AppStore
internal import Entitlements
internal import Store

// Links between lines and customers.
extension FactApplier {
  /// Links a line to a customer. A new customer also gets the unclaimed lines whose token equals its id.
  mutating func link(
    _ line: LineKey, to customer: CustomerKey, by origin: ChangeOrigin
  ) throws(StoreError) {
    let isNew = try store.customer(customer) == nil
    try recordLink(line, to: customer, by: origin)
    if isNew { try linkUnclaimed(withToken: customer.customerID.lowercased(), to: customer, by: origin) }
  }

  /// Records that a line belongs to a customer. If its token names another one, that is noted as a
  /// conflict. Lines that it replaced, and that wait for an owner, follow it.
  private mutating func recordLink(
    _ line: LineKey, to customer: CustomerKey, by origin: ChangeOrigin
  ) throws(StoreError) {
    guard let evidence = origin.evidence else { return }
    try store.dequeue(line)
    try lines.record(
      OwnershipChange(
        line: line, customerID: customer.customerID, gained: true,
        at: try store.knownAt(now, of: line.appID, in: line.environment),
        evidenceID: evidence))
    try store.index(evidence, under: customer)
    let tokenOwner = try self.tokenOwner(of: line, besides: customer)
    changes.markAffected(customer, linked: line, tokenOwner: tokenOwner, by: origin)
    if let tokenOwner {
      changes.effects.append(
        .tokenConflict(
          TokenConflict(
            line: line, claimant: customer.customerID, tokenOwner: tokenOwner, actor: origin.actor)))
    }
    guard line.isPurchase else { return }
    try store.setDue(consumptionRequestsAbout: line, at: now)
    try linkUnclaimed(try store.unclaimedLines(replacing: line), to: customer, by: origin)
    try linkRescindedInstalls(of: line, to: customer, by: origin)
  }

  /// The customer with whose `appAccountToken` a purchase was bought, if it is another one than `customer`.
  private func tokenOwner(of line: LineKey, besides customer: CustomerKey) throws(StoreError) -> String? {
    guard line.isPurchase else { return nil }
    for transaction in try store.facts(of: line).transactions.reversed() where !transaction.isShared {
      guard let token = transaction.details.appAccountToken?.lowercased(), !token.isEmpty else { continue }
      let owner = try tokenOwner(token, of: line)
      return owner?.customerID.lowercased() == customer.customerID.lowercased() ? nil : owner?.customerID
    }
    return nil
  }

  /// The customer of an `appAccountToken`, which need not be known yet if the app is configured so.
  private func tokenOwner(_ token: String, of line: LineKey) throws(StoreError) -> CustomerKey? {
    if let owner = try store.buyer(withToken: token, of: line) { return owner }
    guard catalog.definition(of: line.appID).customerFromAppAccountToken else { return nil }
    return try store.finalMergeTarget(of: line.customer(token))
  }

  /// Ends the link between a line and a customer.
  mutating func unlink(
    _ line: LineKey, from customer: CustomerKey, by origin: ChangeOrigin
  ) throws(StoreError) {
    guard let evidence = origin.evidence else { return }
    try lines.record(
      OwnershipChange(
        line: line, customerID: customer.customerID, gained: false,
        at: try store.knownAt(now, of: line.appID, in: line.environment),
        evidenceID: evidence))
    try store.index(evidence, under: customer)
    changes.markAffected(customer, needsRebuild: true, by: origin)
    // The other owners may have consented.
    if line.isPurchase { try store.setDue(consumptionRequestsAbout: line, at: now) }
  }

  /// Links the purchases that entered the claim queue to the customers whose ids are their tokens, if the app
  /// is configured so.
  ///
  /// Each link is stored as a command, so that replay, which does not call this, has the same result under
  /// another configuration. A purchase that an erased customer had owned stays in the queue, since it is
  /// there without its token.
  mutating func linkTokenCustomers() throws(StoreError) {
    for queued in changes.queuedTokens {
      let line = queued.line
      guard catalog.definition(of: line.appID).customerFromAppAccountToken,
        try lines.owners(of: line).isEmpty,
        try store.unclaimedLines(withToken: queued.token, of: line.appID, in: line.environment).contains(line)
      else { continue }
      let customer = try store.finalMergeTarget(of: line.customer(queued.token))
      let command = OperatorCommand(.move(line: line.lineID, from: [], to: customer.customerID), actor: "")
      let evidence = try store.appendCommand(
        command, of: line.appID, in: line.environment, onBehalfOf: customer.customerID, at: now)
      // The document is the origin: the customer bought the product.
      changes.markAffected(customer, linked: line, by: .document(queued.evidence))
      try run(command, as: evidence, of: line.appID, in: line.environment)
    }
  }

  /// Stores that the customer buys with a token, unless it is the token of another customer.
  mutating func bindToken(
    _ token: String, to customer: CustomerKey, by origin: ChangeOrigin
  ) throws(StoreError) {
    guard !token.isEmpty, try store.buyer(withToken: token, of: customer.line("")) == nil else { return }
    try registerToken(token, of: customer, by: origin)
  }

  /// Binds a token that is bound to no customer, and links the unclaimed lines with that token.
  mutating func registerToken(
    _ token: String, of customer: CustomerKey, by origin: ChangeOrigin
  ) throws(StoreError) {
    guard !token.isEmpty,
      try store.customerID(ofToken: token, of: customer.appID, in: customer.environment) == nil
    else { return }
    try store.register(token: token, for: customer)
    try linkUnclaimed(withToken: token, to: customer, by: origin)
  }

  private mutating func linkUnclaimed(
    withToken token: String, to customer: CustomerKey, by origin: ChangeOrigin
  ) throws(StoreError) {
    let unclaimed = try store.unclaimedLines(
      withToken: token, of: customer.appID, in: customer.environment)
    try linkUnclaimed(unclaimed, to: customer, by: origin)
  }

  private mutating func linkUnclaimed(
    _ unclaimed: [LineKey], to customer: CustomerKey, by origin: ChangeOrigin
  ) throws(StoreError) {
    for line in unclaimed where try lines.owners(of: line).isEmpty {
      try recordLink(line, to: customer, by: origin)
    }
  }

  /// Puts a purchase that lost its last owner into the claim queue: with its token, unless the owner `isErased`, or an
  /// owner was erased before `evidence`.
  mutating func enqueueUnclaimed(
    _ line: LineKey, isErased: Bool = false, by evidence: EvidenceID
  ) throws(StoreError) {
    guard line.isPurchase, try lines.owners(of: line).isEmpty else { return }
    let facts = try store.facts(of: line)
    // In a replay the pseudonyms exist before the erasures.
    let wasErased = try store.formerOwners(of: line).contains {
      Pseudonym.erasure(in: $0).map { $0 < evidence } ?? false
    }
    try enqueue(
      line, token: isErased || wasErased ? erasedToken : facts.lastSignedToken,
      replacing: facts.transactions.compactMap(\.details.previousOriginalTransactionID).last)
  }

  /// Puts a line into the claim queue, where it waits for a customer with its token, and for the owner of the
  /// line that it replaced.
  func enqueue(_ line: LineKey, token: String?, replacing previous: String?) throws(StoreError) {
    try store.enqueue(line, token: token, replacing: line.predecessor(previous))
  }
}

extension CustomerFacts {
  /// The `appAccountToken` of the transaction that Apple signed last among those that have one, in lower case.
  var lastSignedToken: String? {
    transactions.filter { $0.details.appAccountToken?.isEmpty == false }
      .max { ($0.signedDate, $0.transactionID) < ($1.signedDate, $1.transactionID) }?
      .details.appAccountToken?.lowercased()
  }
}

extension LineKey {
  /// The line with Apple's `previousOriginalTransactionId`; `nil` without one.
  func predecessor(_ previousOriginalTransactionID: String?) -> LineKey? {
    guard let id = previousOriginalTransactionID, !id.isEmpty, id != lineID else { return nil }
    return other(id)
  }
}

/// A customer's claim to own a line, made by submitting evidence of it.
struct OwnershipClaim {
  /// The customer who claims, after following merges.
  let customer: CustomerKey
  let policy: OwnershipPolicy
  /// The operator's user who vouches for the claim, for the audit trail; empty if a document of Apple's does.
  var actor = ""
  /// The last document of the submission that was not stored before; `nil` if all were. A dispute is recorded
  /// once, with new evidence only.
  let newEvidence: EvidenceID?
}

extension FactApplier {
  /// Links a line to the claimant, if the policy permits.
  ///
  /// - Returns: whether the line stays with other customers.
  mutating func apply(_ claim: OwnershipClaim, to line: LineKey) throws(StoreError) -> Bool {
    let customerID = claim.customer.customerID
    let owners = try lines.owners(of: line)
    guard !claim.customer.isAmong(owners) else { return false }
    guard owners.isEmpty || claim.policy != .keep else {
      if let evidence = claim.newEvidence {
        changes.disputes.append(
          .init(line: line, owners: owners, claimant: claim.customer, evidence: evidence))
      }
      return true
    }
    // A document of this write is an event of the owners before the transfer is one.
    if claim.policy == .transfer, !owners.isEmpty, changes.hasDocuments(about: owners.map(line.customer)) {
      try derive()
    }
    // The claim is stored as a command, because documents that were stored before are no evidence of it.
    let command = OperatorCommand(
      .move(
        line: line.lineID, from: claim.policy == .transfer ? owners : [], to: customerID),
      actor: claim.actor)
    let evidence = try store.appendCommand(
      command, of: line.appID, in: line.environment, onBehalfOf: customerID, at: now)
    try run(command, as: evidence, of: line.appID, in: line.environment)
    return false
  }
}
