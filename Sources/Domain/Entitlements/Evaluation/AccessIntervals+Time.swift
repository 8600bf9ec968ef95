internal import AppStore

// What is asked about intervals at one moment.
extension AccessIntervals {
  /// The one that decides at `now`: what gives most, of that what the customer pays for, of that what ends
  /// last.
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

  /// The unbroken time of access, at the level of `interval` or a higher one, that `interval` is part of.
  func run(of interval: AccessInterval) -> (start: Instant, end: Instant) {
    var (start, end) = (interval.start, interval.end)
    var grew = true
    while grew {
      grew = false
      // The periods of a line are in order: going on takes one way forward, going back one backward.
      for other in all where other.level >= interval.level && other.start <= end && end < other.end {
        end = other.end
        grew = true
      }
      for other in all.reversed()
      where other.level >= interval.level && other.start < start && start <= other.end {
        start = other.start
        grew = true
      }
    }
    return (start, end)
  }

  /// The last access that there was by `now`, or the last purchase that gave none. What the operator gave
  /// counts only where nothing was bought.
  func last(before now: Instant) -> AccessInterval? {
    var best: AccessInterval?
    for interval in all where interval.start <= now {
      guard let found = best else {
        best = interval
        continue
      }
      let isLater =
        (interval.transaction == nil) == (found.transaction == nil)
        ? (interval.end, interval.start) > (found.end, found.start) : interval.transaction != nil
      if isLater { best = interval }
    }
    return best
  }

  /// Whether a purchase gave access by `now`, if only for a moment.
  func wasBought(by now: Instant) -> Bool {
    all.contains { $0.start <= now && $0.transaction != nil && $0.level > .none }
  }

  /// The first interval to begin after `now`.
  func nextStart(after now: Instant) -> Instant? {
    all.lazy.filter { $0.start > now }.map(\.start).min()
  }

  /// All instants after `now`, in order, at which the answer may become another one: whatever the rules
  /// compare with the clock. A rule that compares something else has to be told of here.
  func changeInstants(after now: Instant, _ facts: borrowing CustomerFacts) -> [Instant] {
    var instants: Set<Instant> = []
    for interval in all {
      instants.formUnion([interval.start, interval.end])
      if let index = interval.transaction { instants.insert(facts.billingRetryEnd(index)) }
    }
    // The next purchase of a line takes over, whether or not it gives this entitlement.
    for index in facts.transactions.indices { instants.insert(facts.transactions[index].purchaseDate) }
    return instants.filter { now < $0 && $0 < .openEnd }.sorted()
  }
}
