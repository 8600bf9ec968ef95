internal import AppStore

/// A change of a purchaser's subscription: a new period, or a new status. Reports of the past are made from these records,
/// because ``SubscriptionLine`` has only the present.
struct SubscriptionRecord: Hashable, Sendable {
  let line: Int64
  /// When it was so.
  let at: Instant
  /// From when on it is in force. A payment in the grace period is dated at the start of the period, but until it the
  /// subscription was in the grace period.
  let since: Instant
  /// The status before; `nil` for a new subscription.
  let from: SubscriptionLine.Status?
  let to: SubscriptionLine.Status
  /// The transaction of the latest period before; `nil` for a new subscription.
  let previous: Int64?
  /// The transaction of the latest period.
  let current: Int64

  var isNewPeriod: Bool { previous != current }
}

extension World {
  /// Records a change of a subscription that is about to be stored.
  mutating func record(_ line: SubscriptionLine, after known: SubscriptionLine?) {
    guard line.source == nil, known?.status != line.status || known?.current != line.current else { return }
    var instant = now
    if known?.current != line.current {
      // A renewal is charged before its period starts.
      instant = transactions[line.current]?.purchaseDate ?? now
    } else if known?.status == .active, case .ended = line.status {
      // A purchase of the past may be over when it is recorded.
      instant = min(now, line.expiresDate)
    }
    records.append(
      SubscriptionRecord(
        line: line.id, at: instant, since: Self.isGrace(known?.status) ? now : instant, from: known?.status,
        to: line.status, previous: known?.current,
        current: line.current))
  }

  private static func isGrace(_ status: SubscriptionLine.Status?) -> Bool {
    if case .grace? = status { true } else { false }
  }
}
