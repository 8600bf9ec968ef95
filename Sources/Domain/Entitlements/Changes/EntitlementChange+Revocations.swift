package import AppStore

extension EntitlementChange {
  /// What was taken back, or counts again, of the purchases that give `entitlement`: for the timeline, where
  /// the answer stays what it was, such as with the refund of a period that is over.
  ///
  /// A purchase that was taken back when it was first heard of is no change.
  package static func revocations(
    of entitlement: String, from before: borrowing CustomerFacts, to after: borrowing CustomerFacts,
    in app: borrowing AppDefinition, answer: EntitlementStatus, at now: Instant
  ) -> [EntitlementChange] {
    guard let rules = app.rules(of: entitlement) else { return [] }
    var changes: [EntitlementChange] = []
    for new in after.transactions where rules.products[new.productID] != nil {
      let known = before.transactions.first {
        $0.transactionID == new.transactionID && $0.originalTransactionID == new.originalTransactionID
      }
      guard let known else { continue }
      let kind: Kind
      switch (known.revocationDate, new.revocationDate) {
      case (nil, .some): kind = new.isShared ? .revoked : .refunded
      case (.some, nil): kind = .refundReversed
      case (nil, nil), (.some, .some): continue
      }
      changes.append(
        EntitlementChange(
          entitlement: entitlement, kind: kind, effectiveAt: min(new.revocationDate ?? now, now),
          before: answer, after: answer))
    }
    return changes
  }
}
