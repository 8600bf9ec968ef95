internal import AppStore

/// A change of a purchaser's subscription: a new period, or a new status. Reports of the past are made from these records,
/// because ``SubscriptionLine`` has only the present.
struct SubscriptionRecord: Hashable, Sendable {
  let line: Int64
  /// When it was so. The period of a payment in the grace period is dated back, but until the payment the subscription was in
  /// the grace period.
  let at: Instant
  /// The status before; `nil` for a new subscription.
  let from: SubscriptionLine.Status?
  let to: SubscriptionLine.Status
  /// The transaction of the latest period before; `nil` for a new subscription.
  let previous: Int64?
  /// The transaction of the latest period.
  let current: Int64

  var isNewPeriod: Bool { previous != current }

  /// Whether the new period was paid in the grace period of the one before.
  var isPaidInGrace: Bool {
    guard case .grace? = from else { return false }
    return isNewPeriod
  }
}

extension World {
  /// Records a change of a subscription that is about to be stored.
  mutating func record(_ line: SubscriptionLine, after known: SubscriptionLine?) {
    guard line.source == nil, known?.status != line.status || known?.current != line.current else { return }
    records.append(
      SubscriptionRecord(
        line: line.id, at: time(of: line, after: known), from: known?.status, to: line.status,
        previous: known?.current, current: line.current))
  }

  private func time(of line: SubscriptionLine, after known: SubscriptionLine?) -> Instant {
    switch (known?.status, line.status) {
    case (.grace, _): return now
    case _ where known?.current != line.current:
      // A renewal is charged before its period starts.
      return transactions[line.current]?.purchaseDate ?? now
    case (.active, .ended):
      // A purchase of the past may be over when it is recorded.
      return min(now, line.expiresDate)
    default: return now
    }
  }
}
