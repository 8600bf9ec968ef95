internal import AppStore
internal import Entitlements

// Cohorts, and what was active at the start of a bucket.
extension SubscriptionWalk {
  mutating func joinCohort(_ period: SubscriptionPeriod) {
    guard cohort == nil else { return }
    cohort = Posting.Cohort(day: ReportDay(period.start), dimensions: period.dimensions)
    let length = CohortLength(period).text
    flow(.joinedCohort, period, at: period.start) { $0.reason = length }
  }

  mutating func reachPeriod(_ period: SubscriptionPeriod) {
    paidPeriods += 1
    guard let cohort, paidPeriods <= Self.periodLimit else { return }
    let reached = Posting.Cohort(day: cohort.day, dimensions: cohort.dimensions, age: paidPeriods)
    flow(.periodReached, period, at: period.start) { $0.cohort = reached }
  }

  /// Retention is reported for three years of months.
  static let periodLimit: Int64 = 36

  /// Counts a subscription that became active, or is no longer, in its cohort.
  mutating func countInCohort(_ period: SubscriptionPeriod, _ sign: Int64, at instant: Instant) {
    let cohort = cohort?.at(ReportDay(instant))
    flow(.activeOfCohort, period, at: instant) { ($0.count, $0.cohort) = (sign, cohort) }
  }
}

// Purchases without an owner.
extension SubscriptionWalk {
  /// Records the times in which the subscription was active and had no owner.
  mutating func addUnclaimed(_ claims: [String: PurchaseClaims]) {
    var open: Posting?
    // Each beginning is followed by its end.
    for index in scheduled.indices where scheduled[index].posting.kind == .active {
      let posting = scheduled[index].posting
      if posting.count > 0 {
        open = posting
      } else if let start = open {
        add(start, subscription.unclaimed(from: start.effectiveAt, to: posting.effectiveAt, claims))
        open = nil
      }
    }
    if let open { add(open, subscription.unclaimed(from: open.effectiveAt, to: .openEnd, claims)) }
  }

  /// Schedules the counts of an active subscription without an owner, for the times in which it has none.
  private mutating func add(_ active: Posting, _ times: [Range<Instant>]) {
    let unclaimed = active.with {
      ($0.kind, $0.marks, $0.chargedOn) = (.unclaimedActive, 0, nil)
      ($0.amount, $0.proceeds, $0.currency) = (0, 0, "")
    }
    for time in times {
      scheduled.append((unclaimed.with { $0.effectiveAt = time.lowerBound }, time.lowerBound, stint))
      guard time.upperBound < .openEnd else { continue }
      scheduled.append(
        (unclaimed.with { ($0.effectiveAt, $0.count) = (time.upperBound, -1) }, time.upperBound, stint))
    }
  }
}

// Openings.
extension SubscriptionWalk {
  /// Sets ``Posting/marks`` of what is active and of its ends, stint by stint.
  mutating func markOpenings() {
    // The postings of a stint are next to each other.
    var rest = scheduled.indices
    while let first = rest.first {
      let end = rest.first { scheduled[$0].stint != scheduled[first].stint } ?? rest.upperBound
      markOpenings(in: first..<end)
      rest = end..<rest.upperBound
    }
  }

  /// Marks the postings of a stint with the buckets whose opening they change, so that a report
  /// reads the subscriptions that were active at the start of a bucket from sums.
  private mutating func markOpenings(in stint: Range<Int>) {
    let times = ActiveTimes(scheduled[stint])
    var ends: [Instant] = []
    let marked = stint.filter { scheduled[$0].posting.kind.hasMarksOfActive }
    for index in marked.sorted(by: { scheduled[$0].instant < scheduled[$1].instant }) {
      let (kind, instant) = (scheduled[index].posting.kind, scheduled[index].posting.effectiveAt)
      if kind == .active {
        scheduled[index].posting.marks = times.closedBuckets(at: instant)
      } else if Report.leavingKinds.contains(kind), scheduled[index].posting.count > 0 {
        let early = times.bucketsOfBeginning(before: instant) << Posting.earlyShift
        scheduled[index].posting.marks = early | times.openBuckets(at: instant, after: ends)
        ends.append(instant)
      } else if Report.returningKinds.contains(kind) {
        scheduled[index].posting.marks = times.bucketsOfBeginning(before: instant) << Posting.earlyShift
      }
    }
  }
}

extension Posting.Kind {
  /// Whether ``Posting/marks`` of the kind depend on when its subscription was active.
  fileprivate var hasMarksOfActive: Bool {
    self == .active || Report.leavingKinds.contains(self) || Report.returningKinds.contains(self)
  }
}

/// When one stint was active.
private struct ActiveTimes {
  private var times: [(start: Instant, end: Instant)] = []

  init(_ stint: ArraySlice<(posting: Posting, instant: Instant, stint: Int)>) {
    var changes: [Instant: Int64] = [:]
    for index in stint.indices where stint[index].posting.kind == .active {
      changes[stint[index].posting.effectiveAt, default: 0] += stint[index].posting.count
    }
    for (instant, change) in changes.sorted(by: { $0.key < $1.key }) {
      if change > 0 {
        times.append((instant, .openEnd))
      } else if change < 0, !times.isEmpty {
        times[times.count - 1].end = instant
      }
    }
  }

  /// Whether the stint was active just before the bucket that contains `day`.
  private func isOpening(_ granularity: Granularity, of day: ReportDay) -> Bool {
    let start = granularity.firstDay(of: day).start
    return times.contains { $0.start < start && start <= $0.end }
  }

  /// The granularities in whose bucket of `instant` the stint is new.
  func closedBuckets(at instant: Instant) -> Int64 {
    let day = ReportDay(instant)
    return Granularity.allCases.reduce(0) { marks, granularity in
      isOpening(granularity, of: day) ? marks : marks | 1 << granularity.rawValue
    }
  }

  /// The granularities in whose bucket of `instant` the stint was active for the first time, earlier than `instant`.
  func bucketsOfBeginning(before instant: Instant) -> Int64 {
    guard let first = times.first?.start, first < instant else { return 0 }
    let day = ReportDay(instant)
    return Granularity.allCases.reduce(0) { marks, granularity in
      first >= granularity.firstDay(of: day).start ? marks | 1 << granularity.rawValue : marks
    }
  }

  /// The granularities in whose bucket of `instant` the stint was active at the start, and has no end among `ends`.
  func openBuckets(at instant: Instant, after ends: [Instant]) -> Int64 {
    let day = ReportDay(instant)
    return Granularity.allCases.reduce(0) { marks, granularity in
      let start = granularity.firstDay(of: day).start
      let isFirst = !ends.contains { $0 >= start && $0 < instant }
      return isOpening(granularity, of: day) && isFirst ? marks | 1 << granularity.rawValue : marks
    }
  }
}
