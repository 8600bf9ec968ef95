internal import AppStore
internal import Entitlements
internal import Store

// What the operator asked Apple changes nothing here: Apple tells of it. But whose purchase it was about is to
// be seen where that customer's events are.
extension Derivation {
  /// Tells the customers whose purchase it is.
  func note(_ call: AppleCall, about line: LineKey, by origin: Origin) throws(StoreError) {
    guard let evidence = origin.evidence, !call.originalTransactionID.isEmpty else { return }
    try store.relate(evidence, to: line)
    try settle(answeredBy: call, about: line)
    for owner in try store.owners(of: line) { try store.relate(evidence, to: line.customer(owner)) }
    try mention(.appStoreCalled, about: line, by: origin)
  }

  /// Tells whoever has a purchase of something that changes no answer, and became true at `moment`, or now.
  func mention(
    _ kind: EntitlementChange.Kind, about line: LineKey, by origin: Origin, at moment: Instant? = nil
  ) throws(StoreError) {
    let app = app(line.appID)
    let product = try store.facts(of: line).transactions.last.flatMap { app.products[$0.productID] }
    // A consumable gives nothing that an answer could be about; the event is there all the same.
    let entitlements = product.map(\.entitlements) ?? []
    for owner in try store.owners(of: line) {
      try mention(
        kind, to: line.customer(owner), entitlements: entitlements.isEmpty ? [""] : entitlements, by: origin,
        at: moment)
    }
  }

  /// Tells a customer of something that changes no answer; without a name of an entitlement, of none.
  func mention(
    _ kind: EntitlementChange.Kind, to customer: CustomerKey, entitlements: [String], by origin: Origin,
    at moment: Instant? = nil
  ) throws(StoreError) {
    let app = app(customer.appID)
    let facts = try store.customer(customer)?.facts ?? CustomerFacts()
    for entitlement in entitlements {
      let status = evaluate(facts, entitlement: entitlement, in: app, at: moment ?? now)
      try tell(
        EntitlementChange(
          entitlement: entitlement, kind: kind, effectiveAt: moment ?? now, before: status, after: status),
        to: customer, by: origin)
    }
  }
}
