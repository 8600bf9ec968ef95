internal import AppStore

// The time between the end of a period and a renewal that begins later.
extension CustomerFacts {
  /// Whether the subscription went on between the period at `index` and the renewal at `next`, and the documents about that
  /// time are missing: the gap fits whole periods, or no payment is retried for so long.
  ///
  /// Documents of a failed payment, a refund or an end decide before dates.
  ///
  /// - hasFailed: whether Apple reported that the payment after the period failed; `nil`: it is looked up.
  package func missesPeriods(after index: Int, before next: Int, hasFailed: Bool? = nil) -> Bool {
    guard let expiry = end(ofPeriodAt: index), !isRevoked(index, before: expiry),
      transactions[next].inDetails({ $0.transactionReason == .renewal })
    else { return false }
    let first = beginning(ofPeriodAt: next)
    let start = transactions[first].purchaseDate
    guard expiry < start, !(hasFailed ?? hasFailedRenewal(after: index)) else { return false }
    let info = renewal(of: index, at: start.advanced(byMilliseconds: -1))
    guard info?.expirationIntent == nil, info?.isInBillingRetry != true else { return false }
    if start.milliseconds(since: expiry) > transactions[index].billingRetryLength {
      return info?.renewalStatus != .off
    }
    return transactions[first].followsMissingPeriods(after: expiry)
  }

  /// Whether Apple reported that the payment after the period at `index` failed.
  private func hasFailedRenewal(after index: Int) -> Bool {
    guard let history = renewalHistory(of: index) else { return false }
    let period = period(at: index)
    return failedRenewals(history).contains { period.contains($0.period) }
  }

  /// Whether the period at `index` was refunded or revoked before its end.
  private func isRevoked(_ index: Int, before expiry: Instant) -> Bool {
    transactions[standing(ofPeriodAt: index)].accessRevokedAt.map { $0 < expiry } ?? false
  }
}

extension TransactionFact {
  /// Whether one or more whole periods fit between the end of the period before and this one. A payment that was recovered
  /// begins a period on any day. Months differ by up to three days.
  func followsMissingPeriods(after end: Instant) -> Bool {
    guard let length = firstEnd?.milliseconds(since: purchaseDate), length > 0 else { return false }
    let gap = purchaseDate.milliseconds(since: end)
    let count = (gap + length / 2) / length
    return count > 0 && abs(gap - count * length) <= length / 8
  }
}
