internal import Entitlements
internal import Store

// What the operator asked Apple changes nothing here: Apple tells of it. But whose purchase it was about is to
// be seen where that customer's events are.
extension Derivation {
  /// Tells the customers whose purchase it is.
  func note(_ call: AppleCall, about line: LineKey, by origin: Origin) throws(StoreError) {
    guard let evidence = origin.evidence, !call.originalTransactionID.isEmpty else { return }
    try store.relate(evidence, to: line)
    let app = app(line.appID)
    let product = try store.facts(of: line).transactions.last.flatMap { app.products[$0.productID] }
    // A consumable gives nothing that an answer could be about; the event is there all the same.
    let entitlements = product.map(\.entitlements) ?? []
    for owner in try store.owners(of: line) {
      let customer = line.customer(owner)
      try store.relate(evidence, to: customer)
      let facts = try store.customer(customer)?.facts ?? CustomerFacts()
      for entitlement in entitlements.isEmpty ? [""] : entitlements {
        let status = evaluate(facts, entitlement: entitlement, in: app, at: now)
        try tell(
          EntitlementChange(
            entitlement: entitlement, kind: .appStoreAsked, effectiveAt: now, before: status, after: status),
          to: customer, by: origin)
      }
    }
  }
}
