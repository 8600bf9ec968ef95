internal import AppStore

/// Why `interval`, which is over or gave no access at all, does not give access at `now`.
///
/// The questions are asked in the order in which an answer makes the later ones pointless: taken back,
/// replaced by another product, run out.
func lapseReason(
  of interval: AccessInterval, _ facts: borrowing CustomerFacts, at now: Instant
) -> EntitlementReason {
  switch interval.source {
  case .transaction(let index): return lapseReason(of: interval, by: index, facts, at: now)
  case .grant(let index):
    return facts.grants[index].revokedAt.map { $0 <= interval.end } ?? false ? .grantRevoked : .grantEnded
  case .appTransaction: return .boughtBeforeVersion
  }
}

private func lapseReason(
  of interval: AccessInterval, by index: Int, _ facts: borrowing CustomerFacts, at now: Instant
) -> EntitlementReason {
  if let revoked = facts.transactions[index].accessRevokedAt, revoked <= interval.end {
    return revocationReason(facts.transactions[index])
  }
  switch interval.kind {
  case .nonEntitling: return .notEntitlingType
  case .sharingDenied: return .familySharingNotAllowed
  case .nonConsumable, .nonRenewing: return .nonRenewingEnded
  case .trial: return .trialEnded
  case .subscription, .grace, .operatorGrace, .grant, .boughtBefore: break
  }
  if facts.transactions[index].isUpgraded { return .upgraded }
  if let next = facts.nextInLine(after: index), facts.transactions[next].purchaseDate <= now {
    return facts.transactions[next].purchaseDate < facts.transactions[index].expiresDate ?? interval.end
      ? .upgraded : .productChanged
  }
  guard let renewal = facts.renewal(describing: index) else { return .expired }
  return endOfSubscription(facts.renewals[renewal], retryEnded: facts.billingRetryEnd(index) <= now)
}

private func revocationReason(_ transaction: borrowing TransactionFact) -> EntitlementReason {
  if transaction.revocationType == .familyRevoke { return .familySharingEnded }
  if transaction.ownership == .familyShared { return .familySharingEnded }
  return transaction.revocationReason == .appIssue ? .refundedForAppIssue : .refunded
}

private func endOfSubscription(_ renewal: borrowing RenewalFact, retryEnded: Bool) -> EntitlementReason {
  if renewal.isInBillingRetry { return retryEnded ? .billingLapsed : .billingRetry }
  switch renewal.expirationIntent {
  case .customerCancelled: return .cancelled
  case .billingError: return .billingLapsed
  case .priceIncreaseNotAccepted: return .priceIncreaseNotAccepted
  case .productUnavailable: return .productUnavailable
  case nil: return renewal.autoRenewStatus == .off ? .cancelled : .expired
  case .other, .unrecognized: return .expired
  }
}

extension CustomerFacts {
  /// When Apple stops trying to charge for the renewal after the period at `index`: after 60 days.
  func billingRetryEnd(_ index: Int) -> Instant {
    (transactions[index].expiresDate ?? transactions[index].purchaseDate)
      .advanced(byMilliseconds: 60 * 86_400_000)
  }
}
