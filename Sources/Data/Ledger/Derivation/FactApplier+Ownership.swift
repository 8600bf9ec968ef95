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

  private mutating func recordLink(
    _ line: LineKey, to customer: CustomerKey, by origin: ChangeOrigin
  ) throws(StoreError) {
    guard let evidence = origin.evidence else { return }
    try store.dequeue(line)
    try lines.record(
      OwnershipChange(
        line: line, customerID: customer.customerID, gained: true, at: try store.knownAt(now),
        evidenceID: evidence))
    try store.index(evidence, under: customer)
    changes.markAffected(customer, linked: line, by: origin)
  }

  /// Ends the link between a line and a customer.
  mutating func unlink(
    _ line: LineKey, from customer: CustomerKey, by origin: ChangeOrigin
  ) throws(StoreError) {
    guard let evidence = origin.evidence else { return }
    try lines.record(
      OwnershipChange(
        line: line, customerID: customer.customerID, gained: false, at: try store.knownAt(now),
        evidenceID: evidence))
    try store.index(evidence, under: customer)
    changes.markAffected(customer, needsRebuild: true, by: origin)
  }

  /// Stores that the customer buys with a token, and links the unclaimed lines with that token.
  mutating func bindToken(
    _ token: String, to customer: CustomerKey, by origin: ChangeOrigin
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
    for line in unclaimed where try lines.owners(of: line).isEmpty {
      try recordLink(line, to: customer, by: origin)
    }
  }

  /// Puts a purchase that lost its last owner into the claim queue.
  mutating func enqueueUnclaimed(_ line: LineKey) throws(StoreError) {
    guard line.isPurchase, try lines.owners(of: line).isEmpty else { return }
    let token = try store.facts(of: line).transactions.compactMap(\.details.appAccountToken).last
    try store.enqueue(line, token: token?.lowercased())
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
    guard !owners.contains(customerID) else { return false }
    guard owners.isEmpty || claim.policy != .keep else {
      if let evidence = claim.newEvidence {
        changes.disputes.append(
          .init(line: line, owners: owners, claimant: claim.customer, evidence: evidence))
      }
      return true
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
