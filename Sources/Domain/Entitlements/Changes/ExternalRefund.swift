internal import AppStore

/// A refund of a purchase in another store, or its reversal, whether or not it changes an answer.
package struct ExternalRefund: Hashable, Sendable {
  /// The entitlement that the purchase grants.
  let entitlement: String
  /// `refunded` or `refundReversed`.
  let kind: EntitlementChange.Kind
  /// The time of the refund; `nil` for a reversal, of which the store's state has no time.
  let refundedAt: Instant?

  /// Returns the changes in the order of the grants.
  package static func all(from before: [GrantFact], to after: [GrantFact]) -> [ExternalRefund] {
    let known = Dictionary(before.map { ($0.grantID, $0) }, uniquingKeysWith: { first, _ in first })
    return after.compactMap { grant in
      let state = known[grant.grantID]
      // A report about another purchase changes nothing here.
      guard grant.external != nil, state?.revision != grant.revision else { return nil }
      switch (state?.revokedAt, grant.revokedAt) {
      case (let old, let new?) where old.map({ $0 <= grant.since }) ?? true:
        return ExternalRefund(entitlement: grant.entitlement, kind: .refunded, refundedAt: new)
      // One that began after the refund is another purchase under the same id.
      case (let old?, nil) where grant.since < old:
        return ExternalRefund(entitlement: grant.entitlement, kind: .refundReversed, refundedAt: nil)
      default: return nil
      }
    }
  }
}
