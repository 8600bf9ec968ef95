internal import AppStore
internal import Entitlements

// Cohorts, and what was active at the start of a bucket.
extension SubscriptionWalk {
  mutating func joinCohort(_ period: SubscriptionPeriod) {
    guard cohort == nil else { return }
    cohort = Posting.Cohort(day: ReportDay(period.start), dimensions: period.dimensions)
    flow(.joinedCohort, period, at: period.start) { posting, _ in
      posting.reason = CohortLength(period).text
    }
  }

  mutating func reachPeriod(_ period: SubscriptionPeriod) {
    paidPeriods += 1
    guard let cohort, paidPeriods <= Self.periodLimit else { return }
    flow(.periodReached, period, at: period.start) {
      $0.cohort = Posting.Cohort(day: cohort.day, dimensions: cohort.dimensions, age: $1.paidPeriods)
    }
  }

  /// Retention is reported for three years of months.
  static let periodLimit: Int64 = 36

  /// Counts a subscription that became active, or is no longer, in its cohort.
  mutating func countInCohort(_ period: SubscriptionPeriod, _ sign: Int64, at instant: Instant) {
    flow(.activeOfCohort, period, at: instant) {
      $0.count = sign
      $0.cohort = $1.cohort?.at(ReportDay(instant))
    }
  }
}

// Purchases without an owner.
extension SubscriptionWalk {
  /// Records the times in which the subscription was active and had no owner.
  mutating func addUnclaimed(_ claims: PurchaseClaims) {
    var open: Posting?
    // Each beginning is followed by its end.
    for posting in scheduled.map({ $0.posting }) where posting.kind == .active {
      if posting.count > 0 {
        open = posting
      } else if let start = open {
        add(start, claims.unclaimed(from: start.effectiveAt, to: posting.effectiveAt))
        open = nil
      }
    }
    if let open { add(open, claims.unclaimed(from: open.effectiveAt, to: .openEnd)) }
  }

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
    let stints = Dictionary(grouping: scheduled.indices) { scheduled[$0].stint }
    for indices in stints.values {
      let times = ActiveTimes(indices.map { scheduled[$0].posting })
      var ends: [Instant] = []
      for index in indices.sorted(by: { scheduled[$0].instant < scheduled[$1].instant }) {
        let posting = scheduled[index].posting
        if posting.kind == .active {
          scheduled[index].posting.marks = times.closedBuckets(at: posting.effectiveAt)
        } else if Report.leavingKinds.contains(posting.kind), posting.count > 0 {
          let early = times.bucketsOfBeginning(before: posting.effectiveAt) << Posting.earlyShift
          scheduled[index].posting.marks =
            early | times.openBuckets(at: posting.effectiveAt, after: ends)
          ends.append(posting.effectiveAt)
        } else if Report.returningKinds.contains(posting.kind) {
          scheduled[index].posting.marks =
            times.bucketsOfBeginning(before: posting.effectiveAt) << Posting.earlyShift
        }
      }
    }
  }
}

/// When one stint was active.
private struct ActiveTimes {
  private var times: [(start: Instant, end: Instant)] = []

  init(_ postings: some Sequence<Posting>) {
    var changes: [Instant: Int64] = [:]
    for posting in postings where posting.kind == .active {
      changes[posting.effectiveAt, default: 0] += posting.count
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
