internal import AppStore
internal import Entitlements
internal import Store

// Events.
extension Derivation {
  /// Appends an event to the log.
  mutating func emit(
    _ change: EntitlementChange, to customer: CustomerKey, by origin: ChangeOrigin,
    with counterparty: Counterparty? = nil
  ) throws(StoreError) {
    let event = NewEvent(
      customer: customer, change: change, recordedAt: now, evidenceID: origin.evidence, actor: origin.actor,
      counterparty: counterparty)
    derived.events.append(try store.append(event))
  }

  /// Emits the events that documents report and that change no answer.
  mutating func emitInformationalEvents() throws(StoreError) {
    for event in changes.informationalEvents {
      switch event.subject {
      case .customer(let customer):
        try emit(
          .withoutEntitlement(event.kind, nil, at: event.effectiveAt ?? now), to: customer, by: event.origin)
      case .owners(let line):
        let purchase = try LinePurchase(line, event.transactionID, in: store, catalog)
        for owner in try lines.owners(of: line) {
          try emitInformational(
            event.kind, purchase, to: line.customer(owner), event.origin, event.effectiveAt)
        }
      }
    }
  }

  /// Records failed claims in the timelines of the owners and the claimant.
  mutating func emitDisputes() throws(StoreError) {
    for dispute in changes.disputes {
      let origin = ChangeOrigin(cause: .ownership, evidence: dispute.evidence)
      let purchase = try LinePurchase(dispute.line, "", in: store, catalog)
      let claimant = Counterparty(role: .claimant, customerID: dispute.claimant.customerID)
      for owner in dispute.owners {
        try emitInformational(
          .claimedByAnother, purchase, to: dispute.line.customer(owner), origin, with: claimant)
      }
      let owner = dispute.owners.first.map { Counterparty(role: .owner, customerID: $0) }
      try emitInformational(.claimRefused, purchase, to: dispute.claimant, origin, with: owner)
    }
  }

  /// Emits an event that changes no answer, for each entitlement that the purchase grants; one event without an
  /// entitlement if it grants none.
  ///
  /// It repeats the answer of the last event: a receiver that applies events in their order must not return to
  /// the state of `effectiveAt`, which may be long past.
  private mutating func emitInformational(
    _ kind: EntitlementChange.Kind, _ purchase: LinePurchase, to customer: CustomerKey,
    _ origin: ChangeOrigin,
    _ effectiveAt: Instant? = nil, with counterparty: Counterparty? = nil
  ) throws(StoreError) {
    let effectiveAt = effectiveAt ?? now
    guard !purchase.entitlements.isEmpty else {
      let change = EntitlementChange.withoutEntitlement(kind, purchase.subject, at: effectiveAt)
      return try emit(change, to: customer, by: origin, with: counterparty)
    }
    let recorded = try store.customer(customer)?.answers
    for entitlement in purchase.entitlements {
      let status =
        if let recorded, let status = try recorded.status(of: entitlement, at: recorded.start) {
          status
        } else {
          try status(of: entitlement, customer)
        }
      try emit(
        EntitlementChange(
          entitlement: entitlement, kind: kind, effectiveAt: effectiveAt, before: status, after: status,
          subject: purchase.subject),
        to: customer, by: origin, with: counterparty)
    }
  }

  private func status(
    of entitlement: String, _ customer: CustomerKey
  ) throws(StoreError) -> EntitlementStatus {
    let app = catalog.definition(of: customer.appID)
    return evaluate(
      try store.facts(of: customer, in: app, at: now), entitlement: entitlement, in: app, at: now)
  }
}

/// The purchase that an informational event is about.
private struct LinePurchase {
  /// `nil` if no transaction of the line is stored.
  let subject: EventSubject?
  /// The entitlements that its product grants.
  let entitlements: [String]

  /// The transaction with this id; the latest one of the line if `transactionID` is empty or not stored.
  init(
    _ line: LineKey, _ transactionID: String, in store: any StoreTransaction, _ catalog: Catalog
  ) throws(StoreError) {
    let facts = try store.facts(of: line)
    let fact = facts.transactions.first { $0.transactionID == transactionID } ?? facts.latestTransaction
    subject = fact.map(EventSubject.init)
    entitlements =
      fact.flatMap { catalog.definition(of: line.appID).products[$0.productID] }?.entitlements ?? []
  }
}
