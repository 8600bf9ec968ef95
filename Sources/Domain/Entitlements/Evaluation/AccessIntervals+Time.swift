internal import AppStore

extension [Instant] {
  /// A sorted array with each instant once.
  fileprivate var withoutRepetitions: [Instant] {
    var distinct: [Instant] = []
    for instant in self where instant != distinct.last { distinct.append(instant) }
    return distinct
  }
}

// Queries about the intervals at one instant.
extension AccessIntervals {
  /// The interval that decides at `now`: the highest level, then own purchases, then the latest end; `nil` if
  /// none covers `now`.
  func deciding(at now: Instant) -> AccessInterval? {
    var best: AccessInterval?
    for interval in all where interval.covers(now) {
      guard let found = best else {
        best = interval
        continue
      }
      if interval.decides(before: found) { best = interval }
    }
    return best
  }

  /// The end of the slack after `interval`; `nil` if there is none.
  func slackEnd(after interval: AccessInterval) -> Instant? {
    guard interval.kind == .subscription else { return nil }
    return all.first {
      $0.kind == .renewalSlack && $0.transaction == interval.transaction && $0.start == interval.end
    }?.end
  }

  /// The end of the unbroken paid time that contains `interval` or, if it is not paid, `now`; without any, the end of the
  /// paid time after which it grants access. `nil` if it does not rest on a purchase. With `inLineOnly`, the time that
  /// other purchases paid for does not count.
  func paidUntil(
    _ interval: AccessInterval, _ facts: borrowing CustomerFacts, at now: Instant, inLineOnly: Bool = false
  ) -> Instant? {
    var end = interval.end
    if !interval.isPaid {
      guard interval.level > .none, let index = interval.transaction else { return nil }
      guard all.contains(where: { $0.isPaid && $0.level >= interval.level && $0.covers(now) }) else {
        return facts.transactions[index].expiresDate
      }
      end = now
    }
    var line: Range<Int>?
    if inLineOnly, let index = interval.transaction {
      line = facts.range(ofLine: facts.transactions[index].originalTransactionID)
    }
    var grew = true
    while grew {
      grew = false
      for other in all
      where other.isPaid && other.level >= interval.level && other.start <= end && end < other.end
        && line.map({ line in other.transaction.map(line.contains) ?? false }) ?? true
      {
        end = other.end
        grew = true
      }
    }
    return end
  }

  /// Returns the unbroken access, at the level of `interval` or higher, that contains `interval`.
  func run(of interval: AccessInterval) -> (start: Instant, end: Instant) {
    var (start, end) = (interval.start, interval.end)
    var grew = true
    while grew {
      grew = false
      // The periods of a line are in order: extending forwards takes one pass forwards, backwards one pass
      // backwards.
      for other in all where other.level >= interval.level && other.start <= end && end < other.end {
        end = other.end
        grew = true
      }
      for other in all.reversed()
      where other.level >= interval.level && other.start < start && start <= other.end {
        start = other.start
        grew = true
      }
      for span in omitted where span.level >= interval.level && span.start < start && start <= span.end {
        start = span.start
        grew = true
      }
    }
    return (start, end)
  }

  /// The end of the unbroken access up to `end` that contains `interval`, which decides at `now`, if no renewal is late or
  /// fails: ``EntitlementStatus/endWithoutDelay``.
  func endWithoutDelay(
    _ interval: AccessInterval, until end: Instant, _ facts: borrowing CustomerFacts, at now: Instant
  ) -> Instant? {
    let line = interval.transaction.map { facts.range(ofLine: facts.transactions[$0].originalTransactionID) }
    func isDelay(_ other: AccessInterval) -> Bool {
      if other.isGrace, !interval.isGrace {
        return other.transaction.map { line?.contains($0) ?? false } ?? false
      }
      return other.kind == .renewalSlack
    }
    var latest = interval.start
    for other in all where other.level >= interval.level && now < other.end && other.start < end {
      latest = max(latest, isDelay(other) ? other.start : other.end)
    }
    return latest == end ? nil : latest
  }

  /// The latest access that started by `now`, or the latest purchase that granted none, unless only what granted access
  /// counts. Grants and app installs count only if there is no purchase.
  func last(before now: Instant, withAccess: Bool = false) -> AccessInterval? {
    var best: AccessInterval?
    for interval in all where interval.start <= now && interval.kind != .replaced {
      if withAccess, !interval.grantsAccess { continue }
      guard let found = best else {
        best = interval
        continue
      }
      let isLater =
        interval.isFromPurchase == found.isFromPurchase
        ? (interval.end, interval.start) > (found.end, found.start) : interval.isFromPurchase
      if isLater { best = interval }
    }
    return best
  }

  /// Whether a purchase granted access at any time up to `now`.
  func wasBought(by now: Instant) -> Bool {
    all.contains { $0.start <= now && $0.isFromPurchase && $0.level > .none }
  }

  /// The earliest start after `now`. Slack continues the access of its period.
  func nextStart(after now: Instant) -> Instant? {
    all.lazy.filter { $0.start > now && $0.kind != .renewalSlack && $0.kind != .replaced }.map(\.start).min()
  }

  /// All instants after `now`, in order, at which the answer may change: every instant that a rule compares
  /// with the clock. A rule that compares another one must add it here.
  func changeInstants(after now: Instant, _ facts: borrowing CustomerFacts) -> [Instant] {
    var instants: [Instant] = []
    func add(_ instant: Instant) {
      if now < instant, instant < .openEnd { instants.append(instant) }
    }
    for interval in all {
      add(interval.start)
      add(interval.end)
      if let index = interval.transaction { facts.billingRetryEnds(index).forEach(add) }
    }
    // The next purchase of a line replaces the previous one, whether or not it grants this entitlement.
    for index in facts.transactions.indices {
      add(facts.transactions[index].purchaseDate)
      if let expiry = facts.transactions[index].expiresDate { add(expiry) }
    }
    for history in facts.renewalHistories.indices {
      facts.renewalHistories[history].changes(after: now).forEach(add)
    }
    instants.sort()
    return instants.withoutRepetitions
  }
}
