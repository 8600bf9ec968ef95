package import AppStore
package import Entitlements
internal import Store

/// A state of a purchase in another store, as the operator's service reports it.
package struct ExternalState: Hashable, Sendable {
  /// The store, such as `play` or `stripe`.
  package var source: String
  /// The store's id of the purchase.
  package var externalID: String
  /// The store's id of the product; may be empty.
  package var productID: String
  /// The number of the state: a greater one replaces it.
  package var revision: Int64
  /// When the store refunded it; `nil` if it did not.
  package var refundedAt: Instant?

  package init(
    source: String, externalID: String, productID: String, revision: Int64, refundedAt: Instant?
  ) {
    self.source = source
    self.externalID = externalID
    self.productID = productID
    self.revision = revision
    self.refundedAt = refundedAt
  }
}

extension EvidenceLedger {
  /// Records a state of a purchase in another store: an entitlement from `since` until `until`. Without `since` it
  /// begins with the state before; at first, and after the end of that state, now. A greater revision replaces the
  /// stored state, also for another customer; the purchase moves then. A smaller one is stored as evidence with an
  /// event of the owner, and changes only the time before the greater ones began. The same revision with the same
  /// content changes nothing. Durable on return.
  ///
  /// - Throws: ``LedgerError/revisionConflict(source:externalID:revision:)`` for another content of a stored revision.
  package func grant(
    _ entitlement: String, _ level: AccessLevel, since: Instant?, until: Instant?, to customerID: String,
    as state: ExternalState, _ scope: CommandScope
  ) async throws(LedgerError) -> CommandResult {
    try check(customerID, "customer_id")
    return try await run(scope, reading: scope.reads(customers: [customerID])) {
      handler throws(LedgerError) in
      try handler.grant(entitlement, level, since: since, until: until, to: customerID, as: state)
    }
  }
}

// Purchases in other stores.
extension CommandHandler {
  /// Records a state of a purchase. All its states have the line of the first one, also those of another
  /// customer.
  fileprivate func grant(
    _ entitlement: String, _ level: AccessLevel, since: Instant?, until: Instant?, to customerID: String,
    as state: ExternalState
  ) throws(LedgerError) -> CommandResult {
    let line = try inStore { () throws(StoreError) in
      try store.grant(ofPurchase: state.externalID, in: state.source, of: appID, in: environment)
    }
    let (known, id) = try inStore { () throws(StoreError) -> (GrantFact?, String) in
      if let line { return (try store.facts(of: line).grants.first, line.lineID) }
      return (nil, "\(LineKey.grantPrefix)\(try store.nextEvidenceID().rawValue)")
    }
    let stored = try line.map { line throws(LedgerError) in
      try storedStates(through: state.revision, of: line, known)
    }
    let before = stored?.filter { $0.fact.revision < state.revision }.max {
      $0.fact.revision < $1.fact.revision
    }
    var fact = GrantFact(
      grantID: id, entitlement: entitlement, accessLevel: level,
      since: since ?? (before?.fact ?? known)?.since ?? now, until: until, revokedAt: state.refundedAt,
      note: note, actor: actor,
      external: ExternalPurchase(
        source: state.source, externalID: state.externalID, productID: state.productID,
        revision: state.revision))
    if since == nil, let state = before?.fact ?? known, fact.resumes(state, at: now) { fact.since = now }
    let target = lineKey(id)
    if line == nil { store.willStoreGrant(in: target) }
    if let known, let stored = stored?.first(where: { $0.fact.revision == state.revision }) {
      if since == nil { fact.since = stored.fact.since }
      try requireEqual(stored, fact, customerID, state)
      return try result(of: target, isSuperseded: known.external?.revision != state.revision)
    }
    let outcome = try execute(.grant(fact, customerID: customerID), onBehalfOf: customerID)
    let isSuperseded = known?.external.map { $0.revision > state.revision } ?? false
    return try result(of: target, outcome, isSuperseded: isSuperseded)
  }

  /// The stored states up to a revision, each with the customer that its command names; none if the revision is greater
  /// than that of the `known` state, which is the state before it then.
  private func storedStates(
    through revision: Int64, of line: LineKey, _ known: GrantFact?
  ) throws(LedgerError) -> [(fact: GrantFact, customerID: String)] {
    guard let known, revision <= known.revision else { return [] }
    let evidence = try inStore { () throws(StoreError) in try store.evidence(about: line) }
    return evidence.compactMap { stored in
      guard case .grant(let fact, let customerID)? = EvidenceDecoder.command(in: stored.evidence)?.action,
        fact.revision <= revision
      else { return nil }
      return (fact, customerID)
    }
  }

  /// Requires that a repeated revision states the same. Notes and actors may differ, and so may two ids of one customer.
  private func requireEqual(
    _ stored: (fact: GrantFact, customerID: String), _ fact: GrantFact, _ customerID: String,
    _ state: ExternalState
  ) throws(LedgerError) {
    var fact = fact
    (fact.note, fact.actor) = (stored.fact.note, stored.fact.actor)
    let customers = try inStore { () throws(StoreError) in
      (
        try store.finalMergeTarget(of: customer(stored.customerID)),
        try store.finalMergeTarget(of: customer(customerID))
      )
    }
    guard stored.fact == fact, customers.0 == customers.1 else {
      throw .revisionConflict(
        source: state.source, externalID: state.externalID, revision: state.revision)
    }
  }

  /// The outcome with the grant as it is after the command; `isSuperseded` if a greater revision is stored.
  private func result(
    of line: LineKey, _ outcome: CommandResult = CommandResult(), isSuperseded: Bool
  ) throws(LedgerError) -> CommandResult {
    var outcome = outcome
    let after = try result(of: line)
    (outcome.grant, outcome.customer, outcome.facts) = (after.grant, after.customer, after.facts)
    outcome.isSuperseded = isSuperseded
    return outcome
  }
}

extension GrantFact {
  /// Whether it gives access again at `instant`, after the time of `state` is over. A refund that is taken back is no end.
  fileprivate func resumes(_ state: GrantFact, at instant: Instant) -> Bool {
    guard let ended = state.until, ended <= instant else { return false }
    return end.map { instant < $0 } ?? true
  }
}
