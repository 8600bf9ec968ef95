internal import AppStore

/// The time between the end of a period and a renewal that begins later, if the subscription went on.
package enum RenewalGap: Sendable {
  /// The renewal began within the renewal slack of the app.
  case slack
  /// The documents about the time are missing.
  case missingPeriods
}

extension CustomerFacts {
  /// Returns the gap between the period at `index` and the renewal at `next`; `nil` without one, and if the subscription did
  /// not go on: a payment failed, or it ended. Events and reports follow this rule.
  ///
  /// Documents of a failed payment, a refund or an end decide before dates. Without one, documents are missing if the gap fits
  /// whole periods, or if no payment is retried for so long.
  ///
  /// - slack: that of ``RenewalPolicy``.
  /// - hasFailed: whether Apple reported that the payment after the period failed; `nil`: it is looked up.
  package func gap(
    after index: Int, before next: Int, slack: Int64, hasFailed: Bool? = nil
  ) -> RenewalGap? {
    guard let expiry = end(ofPeriodAt: index), !isRevoked(index, before: expiry),
      transactions[next].inDetails({ $0.transactionReason == .renewal })
    else { return nil }
    let first = beginning(ofPeriodAt: next)
    let start = transactions[first].purchaseDate
    let length = start.milliseconds(since: expiry)
    guard length > 0, !(hasFailed ?? hasFailedRenewal(after: index)) else { return nil }
    if length <= slack, renewalSlack(index, first, slack)?.upperBound == start { return .slack }
    let info = renewal(of: index, at: start.advanced(byMilliseconds: -1))
    guard info?.expirationIntent == nil, info?.isInBillingRetry != true else { return nil }
    let isMissing =
      length > transactions[index].billingRetryLength
      ? info?.renewalStatus != .off : transactions[first].followsMissingPeriods(after: expiry)
    return isMissing ? .missingPeriods : nil
  }

  /// Whether Apple reported that the payment after the period at `index` failed.
  func hasFailedRenewal(after index: Int) -> Bool {
    guard let history = renewalHistory(of: index) else { return false }
    let period = period(at: index)
    return failedRenewals(history).contains { period.contains($0.period) }
  }

  /// The latest end of Apple's grace period that was reported after the period at `index`; `nil` if none was.
  func graceEnd(after index: Int) -> Instant? {
    guard let history = renewalHistory(of: index) else { return nil }
    let period = period(at: index)
    return failedRenewals(history).filter { period.contains($0.period) }.compactMap(\.graceEnd).max()
  }

  /// Whether the period at `index` was refunded or revoked before its end.
  private func isRevoked(_ index: Int, before expiry: Instant) -> Bool {
    transactions[standing(ofPeriodAt: index)].revocationDate.map { $0 < expiry } ?? false
  }
}

extension TransactionFact {
  /// Whether one or more whole periods fit between the end of the period before and this one. A payment that was recovered
  /// begins a period on any day. Months differ by up to three days.
  fileprivate func followsMissingPeriods(after end: Instant) -> Bool {
    guard let length = firstEnd?.milliseconds(since: purchaseDate), length > 0 else { return false }
    let gap = purchaseDate.milliseconds(since: end)
    let count = (gap + length / 2) / length
    return count > 0 && abs(gap - count * length) <= length / 8
  }
}
