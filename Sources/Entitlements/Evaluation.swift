package import AppStore

/// Whether the customer with these `facts` is entitled to `entitlement` at `now`, and why.
///
/// A pure function: the same facts, catalog and moment always give the same answer. It never fails; an
/// entitlement or a product that the catalog does not know, and a product type that this version does
/// not know, have answers of their own.
package func evaluate(
  _ facts: borrowing CustomerFacts, entitlement: String, in app: borrowing AppDefinition, at now: Instant
) -> EntitlementStatus {
  guard let givers = app.givers(of: entitlement) else { return EntitlementStatus(.unknownEntitlement) }
  return evaluate(facts, AccessIntervals(facts, givers: givers), at: now)
}

/// The answer at `now`, once it is known when which purchase gives access.
///
/// All that is asked about `now` here is told in advance by an ``AnswerTimeline`` too.
func evaluate(
  _ facts: borrowing CustomerFacts, _ intervals: AccessIntervals, at now: Instant
) -> EntitlementStatus {
  if let deciding = intervals.deciding(at: now, facts) {
    return granted(by: deciding, intervals, facts)
  }
  guard let last = intervals.last(before: now) else {
    return EntitlementStatus(.neverPurchased, checkAgainAt: intervals.nextStart(after: now))
  }
  return denied(after: last, intervals, facts, at: now)
}

private func granted(
  by deciding: AccessInterval, _ intervals: AccessIntervals, _ facts: borrowing CustomerFacts
) -> EntitlementStatus {
  let willRenew = facts.willRenew(deciding.transaction)
  let reason: EntitlementReason =
    switch deciding.kind {
    case .subscription: willRenew == false ? .subscriptionNotRenewing : .subscriptionActive
    case .grace: .inGracePeriod
    case .nonRenewing: .nonRenewingActive
    case .nonConsumable: .nonConsumableOwned
    case .trial: .trialActive
    case .nothing: .notEntitlingType
    }
  return EntitlementStatus(
    reason, substate: facts.substate(deciding.transaction), productState: .active,
    until: intervals.endOfRun(from: deciding.end).bounded, checkAgainAt: deciding.end.bounded,
    deciding: DecidingTransaction(facts, deciding.transaction), willRenew: willRenew)
}

private func denied(
  after last: AccessInterval, _ intervals: AccessIntervals, _ facts: borrowing CustomerFacts,
  at now: Instant
) -> EntitlementStatus {
  let reason = lapseReason(of: last, facts, at: now)
  let retryEnd = reason == .billingRetry ? facts.billingRetryEnd(last.transaction) : nil
  return EntitlementStatus(
    reason, substate: facts.substate(last.transaction), productState: .inactive,
    until: last.end, checkAgainAt: [intervals.nextStart(after: now), retryEnd].compactMap(\.self).min(),
    deciding: DecidingTransaction(facts, last.transaction), willRenew: facts.willRenew(last.transaction))
}

extension CustomerFacts {
  /// Whether the subscription renews after the period at `index`; `nil` if Apple has not said.
  fileprivate func willRenew(_ index: Int) -> Bool? {
    guard let renewal = renewal(describing: index) else { return nil }
    switch renewals[renewal].autoRenewStatus {
    case .on: return true
    case .off: return false
    case nil, .unrecognized: return nil
    }
  }
}
