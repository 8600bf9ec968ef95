internal import AppStore
internal import Entitlements

// Cohorts, and what was active at the start of a bucket.
extension SubscriptionWalk {
  /// Begins the cohort with the first paid period, which is in force since an instant: later than its start if it was paid in
  /// the grace period, and earlier if the documents about the periods before it are missing.
  mutating func joinCohort(_ period: SubscriptionPeriod, inForceSince instant: Instant) {
    guard cohort == nil else { return }
    let start = min(period.start, instant)
    cohort = Posting.Cohort(day: ReportDay(start), dimensions: period.dimensions)
    let length = CohortLength(period).text
    flow(.joinedCohort, period, at: start) { $0.reason = length }
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
    for index in postings.indices where postings[index].kind == .active {
      let posting = postings[index]
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
      append(unclaimed.with { $0.effectiveAt = time.lowerBound })
      guard time.upperBound < .openEnd else { continue }
      append(unclaimed.with { ($0.effectiveAt, $0.count) = (time.upperBound, -1) })
    }
  }
}

// Openings.
extension SubscriptionWalk {
  /// Sets ``Posting/marks`` of what is active and of its ends, stint by stint.
  mutating func markOpenings() {
    // The postings of a stint are next to each other.
    var rest = stints.indices
    while let first = rest.first {
      let end = rest.first { stints[$0] != stints[first] } ?? rest.upperBound
      markOpenings(in: first..<end)
      rest = end..<rest.upperBound
    }
  }

  /// Marks the postings of a stint with the buckets whose opening they change, so that a report
  /// reads the subscriptions that were active at the start of a bucket from sums.
  private mutating func markOpenings(in stint: Range<Int>) {
    let times = ActiveTimes(postings[stint])
    var ends: [Instant] = []
    let marked = stint.filter { postings[$0].kind.hasMarksOfActive }
    for index in marked.sorted(by: { postings[$0].effectiveAt < postings[$1].effectiveAt }) {
      let (kind, instant) = (postings[index].kind, postings[index].effectiveAt)
      if kind == .active {
        postings[index].marks = times.closedBuckets(at: instant)
      } else if Report.leavingKinds.contains(kind), postings[index].count > 0 {
        let early = times.bucketsOfBeginning(before: instant) << Posting.earlyShift
        postings[index].marks = early | times.openBuckets(at: instant, after: ends)
        ends.append(instant)
      } else if Report.returningKinds.contains(kind) {
        postings[index].marks = times.bucketsOfBeginning(before: instant) << Posting.earlyShift
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

  init(_ stint: ArraySlice<Posting>) {
    var changes: [(instant: Instant, count: Int64)] = []
    for index in stint.indices where stint[index].kind == .active {
      changes.append((stint[index].effectiveAt, stint[index].count))
    }
    changes.sort { $0.instant < $1.instant }
    var sums: [(instant: Instant, count: Int64)] = []
    for change in changes {
      if let last = sums.last, last.instant == change.instant {
        sums[sums.count - 1].count += change.count
      } else {
        sums.append(change)
      }
    }
    for (instant, change) in sums {
      if change > 0 {
        times.append((instant, .openEnd))
      } else if change < 0, !times.isEmpty {
        times[times.count - 1].end = instant
      }
    }
  }

  /// Whether the stint was active just before `start`.
  private func isActive(before start: Instant) -> Bool {
    times.contains { $0.start < start && start <= $0.end }
  }

  /// The granularities whose bucket of `instant` has a start that matches, as ``Posting/marks``.
  private func marks(at instant: Instant, where matches: (Instant) -> Bool) -> Int64 {
    let day = ReportDay(instant)
    let date = CalendarTime(day.start)
    return Granularity.allCases.reduce(0) { marks, granularity in
      matches(granularity.firstDay(of: day, date).start) ? marks | 1 << granularity.rawValue : marks
    }
  }

  /// The granularities in whose bucket of `instant` the stint is new.
  func closedBuckets(at instant: Instant) -> Int64 {
    marks(at: instant) { !isActive(before: $0) }
  }

  /// The granularities in whose bucket of `instant` the stint was active for the first time, earlier than `instant`.
  func bucketsOfBeginning(before instant: Instant) -> Int64 {
    guard let first = times.first?.start, first < instant else { return 0 }
    return marks(at: instant) { first >= $0 }
  }

  /// The granularities in whose bucket of `instant` the stint was active at the start, and has no end among `ends`.
  func openBuckets(at instant: Instant, after ends: [Instant]) -> Int64 {
    marks(at: instant) { start in isActive(before: start) && !ends.contains { $0 >= start && $0 < instant } }
  }
}
