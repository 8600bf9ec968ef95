internal import AppStore
internal import Entitlements
internal import Store

/// One customer's claim of lines of which documents were just taken in.
struct OwnershipClaim {
  let derivation: Derivation
  let policy: OwnershipPolicy
  /// Who vouches for it, for the audit trail; empty if a document of Apple's does.
  var actor = ""
  /// The customer who was named, or whoever goes on for that one.
  let customer: CustomerKey

  private var store: any StoreTransaction { derivation.store }

  /// Sees to it that the customer has the line, as far as the policy allows.
  ///
  /// `hasNewEvidence` says whether one of the documents was not known before: of a dispute both sides learn once.
  ///
  /// - Returns: whether it stays with others.
  func settle(_ line: LineKey, hasNewEvidence: Bool) throws(StoreError) -> Bool {
    let owners = try store.owners(of: line)
    guard !owners.contains(customer.customerID) else { return false }
    guard owners.isEmpty || policy != .keep else {
      if hasNewEvidence { try tellOfDispute(line, owners) }
      return true
    }
    // What was known already is no new evidence of a claim, so the claim is evidence of its own.
    let handler = CommandHandler(
      store: store, catalog: derivation.catalog, now: derivation.now, appID: line.appID,
      environment: line.environment, actor: actor)
    let command = OperatorCommand(
      .move(
        line: line.originalTransactionID, from: policy == .transfer ? owners : [], to: customer.customerID),
      actor: actor)
    let kept = try handler.append(command, onBehalfOf: customer.customerID)
    try derivation.apply(command, by: kept, of: line.appID, in: line.environment)
    return false
  }

  /// Both sides learn of a claim that failed.
  private func tellOfDispute(_ line: LineKey, _ owners: [String]) throws(StoreError) {
    // What the documents say comes first.
    try derivation.finish()
    let app = derivation.app(line.appID)
    let last = try store.facts(of: line).transactions.last
    let product = last.flatMap { app.products[$0.productID] }
    let evidence = try store.nextEvidenceID().rawValue - 1
    let origin = Derivation.Origin(cause: .ownership, evidence: EvidenceID(rawValue: evidence))
    let sides = owners.map { (line.customer($0), EntitlementChange.Kind.claimedByAnother) }
    for entitlement in product?.entitlements ?? [] {
      for (customer, kind) in sides + [(customer, .claimRefused)] {
        let facts = try store.customer(customer)?.facts ?? CustomerFacts()
        let status = evaluate(facts, entitlement: entitlement, in: app, at: derivation.now)
        let change = EntitlementChange(
          entitlement: entitlement, kind: kind, effectiveAt: derivation.now, before: status, after: status)
        try derivation.tell(change, to: customer, by: origin)
      }
    }
  }
}
