package import AppStore

/// Decides whether the customer with these `facts` is entitled to `entitlement` at `now`, and why.
///
/// A pure function: the same facts, catalog and instant always give the same answer. It never fails:
/// an unknown entitlement, product or product type is a reason of the answer.
package func evaluate(
  _ facts: borrowing CustomerFacts, entitlement: String, in app: borrowing AppDefinition, at now: Instant
) -> EntitlementStatus {
  guard let rules = app.rules(of: entitlement) else { return EntitlementStatus(.unknownEntitlement) }
  let purchases = facts.purchases(in: app)
  return evaluate(purchases, AccessIntervals(purchases, rules), at: now)
}

/// Decides whether the purchases of one product alone give access at `now`, whatever entitlements it grants.
package func evaluate(
  _ facts: borrowing CustomerFacts, product productID: String, in app: borrowing AppDefinition,
  at now: Instant
) -> EntitlementStatus {
  let purchases = facts.purchases(in: app)
  let rules = EntitlementRules.ownership(ofAny: [productID], in: app, withOperatorGrace: true)
  return evaluate(purchases, AccessIntervals(purchases, rules), at: now)
}

/// The answer at `now` from precomputed intervals of facts without copies. Every instant compared here must be one of
/// ``AccessIntervals/changeInstants(after:_:)``.
func evaluate(
  _ facts: borrowing CustomerFacts, _ intervals: AccessIntervals, at now: Instant
) -> EntitlementStatus {
  if let deciding = intervals.deciding(at: now) { return granted(by: deciding, intervals, facts, at: now) }
  if let last = intervals.last(before: now) { return denied(after: last, intervals, facts, at: now) }
  let unknown = intervals.firstUnknownProduct
  if let unknown, unknown <= now {
    return EntitlementStatus(.unknownProduct, checkAgainAt: intervals.nextStart(after: now))
  }
  let changes = [unknown, intervals.nextStart(after: now)].compactMap(\.self)
  return EntitlementStatus(.neverPurchased, checkAgainAt: changes.min())
}

private func granted(
  by deciding: AccessInterval, _ intervals: AccessIntervals, _ facts: borrowing CustomerFacts,
  at now: Instant
) -> EntitlementStatus {
  let outlook = deciding.transaction.flatMap { facts.renewalOrCommitment(of: $0, at: now) }
    .map(RenewalOutlook.init)
  let run = intervals.run(of: deciding)
  let reason = grantReason(deciding.kind, willRenew: outlook?.willRenew)
  return EntitlementStatus(
    reason, accessLevel: deciding.level, substate: deciding.transaction.map(facts.substate) ?? .standard,
    productState: .active, since: run.start, until: run.end.bounded,
    paidUntil: intervals.paidUntil(deciding, facts, at: now)?.bounded,
    endWithoutDelay: intervals.endWithoutDelay(deciding, until: run.end, facts, at: now),
    checkAgainAt: [
      (intervals.slackEnd(after: deciding) ?? deciding.end).bounded, intervals.nextStart(after: now),
      deciding.transaction.flatMap { facts.nextRenewalInfo(of: $0, after: now) },
    ].compactMap(\.self).min(),
    actBy: actBy(
      reason, deciding, outlook, intervals.paidUntil(deciding, facts, at: now, inLineOnly: true)?.bounded,
      deciding.commitment(facts)),
    deciding: deciding.transaction.map { DecidingTransaction(facts, $0) }, grant: deciding.grant(facts),
    outlook: outlook)
}

private func grantReason(_ kind: AccessInterval.Kind, willRenew: Bool?) -> EntitlementReason {
  switch kind {
  case .renewalSlack: .awaitingRenewal
  case .subscription: willRenew == false ? .subscriptionNotRenewing : .subscriptionActive
  case .grace: .inGracePeriod
  case .operatorGrace: .inOperatorGracePeriod
  case .nonRenewing: .nonRenewingActive
  case .nonConsumable: .nonConsumableOwned
  case .trial: .trialActive
  case .boughtBefore: .boughtBeforeVersion
  case .grant: .granted
  case .external: .externalActive
  case .replaced, .nonEntitling, .sharingDenied: .notEntitlingType
  }
}

/// The deadline for the customer to act; `nil` if there is nothing to do. `paidUntil` is that of the deciding purchase: the
/// customer can keep it until then, whatever another one grants afterwards.
private func actBy(
  _ reason: EntitlementReason, _ deciding: AccessInterval, _ outlook: RenewalOutlook?,
  _ paidUntil: @autoclosure () -> Instant?, _ commitment: TransactionDetails.Commitment?
) -> Instant? {
  switch reason {
  case .inGracePeriod, .inOperatorGracePeriod: deciding.end
  case .subscriptionNotRenewing: commitment == nil ? paidUntil() : commitment?.retentionDeadline
  case .subscriptionActive:
    outlook?.needsPriceConsent == true ? commitment?.expiresDate ?? deciding.end : nil
  default: nil
  }
}

private func denied(
  after last: AccessInterval, _ intervals: AccessIntervals, _ facts: borrowing CustomerFacts,
  at now: Instant
) -> EntitlementStatus {
  let renewal = last.transaction.flatMap { facts.renewalOrCommitment(of: $0, at: now) }
  let reason = lapseReason(of: last, facts, renewal, at: now)
  let retryEnd = reason == .billingRetry ? last.transaction.map { facts.billingRetryEnd($0, renewal) } : nil
  let takeover = last.transaction.flatMap { index in
    facts.nextInLine(after: index).map { facts.transactions[$0].purchaseDate }
  }
  let changes = [
    intervals.nextStart(after: now), retryEnd, takeover,
    last.transaction.flatMap { facts.transactions[$0].expiresDate },
    last.transaction.flatMap { facts.nextRenewalInfo(of: $0, after: now) },
  ].compactMap(\.self)
  // A purchase that was revoked before it started granted nothing, so the access before it was the last one.
  let hasEnd = last.level == .none || last.grantsAccess
  let access = hasEnd ? last : intervals.last(before: now, withAccess: true)
  return EntitlementStatus(
    reason, accessLevel: .none, substate: last.transaction.map(facts.substate) ?? .standard,
    productState: intervals.wasBought(by: now) ? .inactive : .new, since: nil,
    until: last.level == .none ? nil : access?.end,
    paidUntil: access.flatMap { $0.isPaid ? $0.end : intervals.paidUntil($0, facts, at: now) },
    checkAgainAt: changes.filter { $0 > now }.min(), actBy: retryEnd,
    deciding: last.transaction.map { DecidingTransaction(facts, $0) }, grant: last.grant(facts),
    outlook: renewal.map(RenewalOutlook.init))
}

extension AccessInterval {
  /// The commitment of the period that grants it; `nil` if there is none.
  fileprivate func commitment(_ facts: borrowing CustomerFacts) -> TransactionDetails.Commitment? {
    transaction.flatMap { facts.transactions[$0].details.commitment }
  }

  fileprivate func grant(_ facts: borrowing CustomerFacts) -> DecidingGrant? {
    if case .grant(let index) = source { DecidingGrant(facts.grants[index].state(from: start)) } else { nil }
  }
}

/// Returns why `interval`, which is over or empty, does not grant access at `now`.
///
/// The first match wins: revoked, replaced by another product, ended. `renewal` is the renewal info in force for its
/// period at `now` (``CustomerFacts/renewal(of:at:)``).
func lapseReason(
  of interval: AccessInterval, _ facts: borrowing CustomerFacts, _ renewal: RenewalFact?,
  at now: Instant
) -> EntitlementReason {
  if interval.isEndedByConsent { return .consentRescinded }
  switch interval.source {
  case .transaction(let index): return lapseReason(of: interval, by: index, facts, renewal, at: now)
  case .grant(let index):
    let state = facts.grants[index].state(from: interval.start)
    let isRevoked = state.revokedAt.map { $0 <= interval.end } ?? false
    guard state.external == nil else { return isRevoked ? .externalRefunded : .externalEnded }
    return isRevoked ? .grantRevoked : .grantEnded
  case .appTransaction(let index):
    let document = facts.appTransactions[index].document(endingAccessAt: interval.end)
    let isRevoked = document.revocationDate.map { $0 <= interval.end } ?? false
    return isRevoked ? .refunded : .appReceiptExpired
  }
}

private func lapseReason(
  of interval: AccessInterval, by index: Int, _ facts: borrowing CustomerFacts,
  _ renewal: RenewalFact?, at now: Instant
) -> EntitlementReason {
  if facts.transactions[index].earlierSeatTimes.contains(where: { $0.upperBound == interval.end }) {
    return .familySharingEnded
  }
  if let revoked = facts.transactions[index].revocationDate, revoked <= interval.end,
    !facts.isRefundedForUpgrade(index)
  {
    return revocationReason(facts.transactions[index])
  }
  switch interval.kind {
  case .replaced: return .upgraded
  case .nonEntitling: return .notEntitlingType
  case .sharingDenied: return .familySharingNotAllowed
  case .nonConsumable, .nonRenewing: return .nonRenewingEnded
  case .trial: return .trialEnded
  case .subscription, .renewalSlack, .grace, .operatorGrace, .grant, .external, .boughtBefore: break
  }
  if facts.transactions[index].isUpgraded { return .upgraded }
  if let next = facts.nextInLine(after: index), facts.transactions[next].purchaseDate <= now {
    return facts.transactions[next].purchaseDate < facts.transactions[index].expiresDate ?? interval.end
      ? .upgraded : .productChanged
  }
  guard let renewal else { return .expired }
  // The App Store stops retrying when auto-renew is turned off (Apple, Testing failing subscription renewals).
  guard !renewal.isInBillingRetry || renewal.autoRenewStatus == .off else {
    return facts.billingRetryEnd(index, renewal) <= now ? .billingLapsed : .billingRetry
  }
  return endOfSubscription(renewal, facts.transactions[index].details.commitment)
}

extension CustomerFacts {
  /// Whether the period at `index` was upgraded, and the refund of its rest came with the upgrade. Until the upgrade
  /// arrives, a refund counts as that one.
  package func isRefundedForUpgrade(_ index: Int) -> Bool {
    guard transactions[index].isUpgraded, let revoked = transactions[index].revocationDate else {
      return false
    }
    guard let next = nextInLine(after: index) else { return true }
    return abs(revoked.milliseconds(since: transactions[next].purchaseDate)) <= 1_000
  }
}

private func revocationReason(_ transaction: borrowing TransactionFact) -> EntitlementReason {
  if transaction.revocationType == .familyRevoke || transaction.isShared { return .familySharingEnded }
  return transaction.revocationReason == .appIssue ? .refundedForAppIssue : .refunded
}

/// `commitment` is that of the last period.
private func endOfSubscription(
  _ renewal: RenewalFact, _ commitment: TransactionDetails.Commitment?
) -> EntitlementReason {
  switch renewal.expirationIntent {
  case .customerCancelled: return .cancelled
  case .billingError: return .billingLapsed
  case .priceIncreaseNotAccepted: return .priceIncreaseNotAccepted
  case .productUnavailable: return .productUnavailable
  case nil:
    let owesPayments = commitment.map { !$0.isLastPayment } ?? false
    return (owesPayments ? renewal.autoRenewStatus : renewal.renewalStatus) == .off ? .cancelled : .expired
  case .other, .unrecognized: return .expired
  }
}

extension CustomerFacts {
  /// The end of billing retry after the period at `index`, as the renewal info in force has it: its length depends on the
  /// billing plan of the payment that failed.
  func billingRetryEnd(_ index: Int, _ renewal: RenewalFact?) -> Instant {
    let length =
      switch renewal?.details.billingPlanType {
      case .monthly?: BillingRetry.ofCommitment
      case .billedUpfront?: BillingRetry.ofPlainSubscription
      case .unrecognized?, nil: transactions[index].billingRetryLength
      }
    return billingRetryStart(index).advanced(byMilliseconds: length)
  }

  /// The instants at which billing retry after the period at `index` may end; none if Apple did not report any.
  func billingRetryEnds(_ index: Int) -> [Instant] {
    guard let history = renewalHistory(of: index), renewalHistories[history].reportsBillingRetry else {
      return []
    }
    return [BillingRetry.ofPlainSubscription, BillingRetry.ofCommitment]
      .map(billingRetryStart(index).advanced(byMilliseconds:))
  }

  private func billingRetryStart(_ index: Int) -> Instant {
    transactions[index].expiresDate ?? transactions[index].purchaseDate
  }
}
