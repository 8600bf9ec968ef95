internal import AppStore
internal import Entitlements
internal import Store

// The erasure of a customer: links, tokens and grants. ``Derivation`` erases the id after the last events.
extension FactApplier {
  /// Unlinks all lines of a customer: purchases enter the claim queue, grants are deleted. `replacement` returns what
  /// replaces an `appAccountToken`.
  mutating func erase(
    _ customer: CustomerKey, as pseudonym: String, by evidence: EvidenceID, _ actor: String,
    replacement: (String) -> String
  ) throws(StoreError) {
    let unlinked = try store.lines(of: customer)
    var erasure = ChangeSet.Erasure(
      customer: customer, pseudonym: pseudonym, evidence: evidence, actor: actor,
      rows: Int64(unlinked.count))
    // Read before the lines are unlinked and the tokens are deleted.
    let tokens = erasure.isReplayed ? [] : try store.tokens(of: customer)
    for line in unlinked {
      try unlink(line, from: customer, by: .document(evidence))
      guard !line.isGrant else {
        try store.delete(grant: line)
        continue
      }
      try enqueueUnclaimed(line, isErased: true, by: evidence)
    }
    if !erasure.isReplayed {
      erasure.lines = try store.linesConcerning(customer)
      erasure.rows += try replaceTokens(tokens, of: customer, in: erasure.lines, by: evidence, replacement)
    }
    changes.erasures.append(erasure)
  }

  /// Removes erased customers from the grants that another customer has now, by a merge or a later state: the same as
  /// ``Derivation`` removes from the commands, so that replay agrees. Must be called after ``erase(_:as:by:_:replacement:)``.
  mutating func eraseKeptGrants(
    of customers: [CustomerKey], as pseudonyms: [String], by evidence: EvidenceID
  ) throws(StoreError) {
    var changed: [LineKey: [GrantFact: GrantFact]] = [:]
    for customer in customers {
      for stored in try store.evidence(naming: customer) where stored.evidence.kind == .operatorCommand {
        guard let grant = EvidenceDecoder.command(in: stored.evidence)?.grant else { continue }
        changed[customer.line(grant.grantID), default: [:]][grant] = zip(customers, pseudonyms)
          .reduce(grant) { $0.erasing($1.0.customerID, as: $1.1) }
      }
    }
    for (line, states) in changed.sorted(by: { $0.key.lineID < $1.key.lineID }) {
      let owners = try lines.owners(of: line)
      guard !owners.isEmpty, let stored = try store.facts(of: line).grants.first else { continue }
      let fact = stored.replacingStates { states[$0] ?? $0 }
      guard fact != stored else { continue }
      try store.replace(grant: line, with: fact)
      changes.erasures[0].rows += 1
      for owner in owners {
        changes.markAffected(line.customer(owner), needsRebuild: true, by: .document(evidence))
      }
    }
  }

  /// Replaces the customer's `appAccountToken`s in the facts of `lines`: those that are bound to the customer, the
  /// customer's id, and those without a customer in lines that have no other owner.
  ///
  /// - Returns: the number of changed facts.
  private mutating func replaceTokens(
    _ bound: Set<String>, of customer: CustomerKey, in lines: [LineKey], by evidence: EvidenceID,
    _ replacement: (String) -> String
  ) throws(StoreError) -> Int64 {
    var tokens = bound.union([customer.customerID.lowercased()])
    for line in lines where line.isPurchase {
      guard try self.lines.owners(of: line).isEmpty else { continue }
      for transaction in try store.facts(of: line).transactions {
        guard let token = transaction.details.appAccountToken?.lowercased(), !token.isEmpty else { continue }
        let buyer = try store.buyer(withToken: token, of: line)
        if buyer == nil || buyer == customer { tokens.insert(token) }
      }
    }
    for token in tokens { changes.erasedTokens[token] = replacement(token) }
    var count: Int64 = 0
    for line in lines where line.isPurchase {
      let changed = try store.replaceTokens(of: line, by: changes.erasedTokens)
      count += changed
      for owner in try self.lines.owners(of: line) where changed > 0 {
        changes.markAffected(line.customer(owner), needsRebuild: true, by: .document(evidence))
      }
    }
    return count
  }
}
