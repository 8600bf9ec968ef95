internal import AppStore

/// A change of a purchaser's subscription: a new period, or a new status. Reports of the past are made from these records,
/// because ``SubscriptionLine`` has only the present.
struct SubscriptionRecord: Hashable, Sendable {
  /// The original transaction id.
  let line: Int64
  /// When it was so. The period of a payment in the grace period is dated back, but until the payment the subscription was in
  /// the grace period.
  var at: Instant
  /// The status before; `nil` for a new subscription.
  let from: SubscriptionLine.Status?
  var to: SubscriptionLine.Status
  /// The transaction of the latest period before; `nil` for a new subscription.
  let previous: Int64?
  /// The transaction of the latest period.
  var current: Int64

  /// Whether the change began a period.
  var isNewPeriod: Bool { previous != current }

  /// Whether the new period was paid in the grace period of the one before.
  var isPaidInGrace: Bool {
    guard case .grace? = from else { return false }
    return isNewPeriod
  }
}

extension World {
  /// Records a change of a subscription that is about to be stored. Members are left out, because they do not pay.
  mutating func record(_ line: SubscriptionLine, after known: SubscriptionLine?) {
    guard line.source == nil, known?.status != line.status || known?.current != line.current else { return }
    let withdrawn = known.flatMap { withdrawRecordsToCome(of: $0) }
    var record = SubscriptionRecord(
      line: line.id, at: now, from: withdrawn.map(\.from) ?? known?.status, to: line.status,
      previous: withdrawn.map(\.previous) ?? known?.current, current: line.current)
    record.at = time(of: record, line)
    if line.status == .revoked, record.at > now, let previous = record.previous {
      // The refunded renewal never begins: the subscription ends with the period before it.
      record.to = .ended(.other)
      record.current = previous
      record.at = max(now, transactions[previous]?.expiresDate ?? now)
    }
    records.append(record)
  }

  /// Removes the records of a line that a change of now precedes: renewals that were charged before their start and will not
  /// begin. Returns the first.
  private mutating func withdrawRecordsToCome(of line: SubscriptionLine) -> SubscriptionRecord? {
    guard let current = transactions[line.current], current.purchaseDate > now,
      let first = records.first(where: { $0.line == line.id && $0.at > now })
    else { return nil }
    records.removeAll { $0.line == line.id && $0.at > now }
    return first
  }

  private func time(of record: SubscriptionRecord, _ line: SubscriptionLine) -> Instant {
    switch (record.from, record.to) {
    case (.grace, _): return now
    case _ where record.isNewPeriod:
      // A renewal is charged before its period starts.
      return transactions[record.current]?.purchaseDate ?? now
    case (.active, .ended):
      // A purchase of the past may be over when it is recorded.
      return min(now, line.expiresDate)
    default: return now
    }
  }
}
