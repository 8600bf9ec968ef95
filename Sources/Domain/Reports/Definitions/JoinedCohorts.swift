/// The subscriptions that joined the cohorts of a retention report, by the number of periods that they had time to reach.
struct JoinedCohorts {
  /// A series of the report: the cohorts of a bucket, by group.
  struct Place: Hashable {
    /// The number of the bucket.
    let bucket: Int
    /// An index of ``groups``.
    let group: Int
  }

  private let query: ReportQuery
  /// The groups of the report.
  private(set) var groups: [[String]] = []
  private var numbers: [[String]: Int] = [:]
  /// By ``ReportSums/Total/group``.
  private var known: [Int32: Int] = [:]
  /// By group: the length of the periods.
  private var lengths: [PeriodLength?] = []
  /// By reason of ``Posting/Kind/joinedCohort``.
  private var knownLimits: [String: Limits] = [:]
  /// The subscriptions of each cohort by the highest period that they had time to reach, from 1.
  private var counts: [Place: [Int64]] = [:]

  /// The days up to which a subscription must join to have time for each period.
  private struct Limits {
    let later: PeriodLength?
    /// By period, from 1: the first day that is too late. It falls with the period.
    let ends: [ReportDay]
  }

  init(_ query: ReportQuery) { self.query = query }

  /// Adds the members of a cohort that joined it on one day, an element of `sums`.
  ///
  /// - Returns: `false` if the length of their periods is not that of the others of their group, which is not one product. The
  ///   periods of one product differ by billing plan.
  mutating func add(_ total: ReportSums.Total, of sums: ReportSums, in bucket: Int) -> Bool {
    let day = sums.runs[Int(total.run)].day
    let ofTotal = sums.groups[Int(total.group)]
    let group = number(of: ofTotal.values, total.group)
    let limits = limits(of: ofTotal.reason)
    if group == lengths.count { lengths.append(limits.later) }
    guard lengths[group] == limits.later || query.groupBy.contains(.product) else { return false }
    let periods = limits.ends.prefix { day < $0 }.count
    guard periods > 0 else { return true }
    let place = Place(bucket: bucket, group: group)
    var counted = counts.removeValue(forKey: place) ?? []
    while counted.count < periods { counted.append(0) }
    counted[periods - 1] += total.sums.count
    counts[place] = counted
    return true
  }

  /// The subscriptions of each cohort that had time to reach each period, from 1.
  var hadTime: [Place: [Int64]] {
    counts.mapValues { counts in
      var sums = counts
      for index in sums.indices.dropLast().reversed() { sums[index] += sums[index + 1] }
      return sums
    }
  }

  /// The index of the group with these values; a new one gets the next index.
  private mutating func number(of values: [String], _ group: Int32) -> Int {
    if let number = known[group] { return number }
    let number = numbers[values] ?? groups.count
    if number == groups.count {
      groups.append(values)
      numbers[values] = number
    }
    known[group] = number
    return number
  }

  /// The limits for subscriptions with periods of the length that a posting names in its reason. Cached.
  private mutating func limits(of reason: String) -> Limits {
    if let known = knownLimits[reason] { return known }
    let length = CohortLength(reason)
    var ends: [ReportDay] = []
    for period in 1...SubscriptionWalk.periodLimit {
      guard let end = end(of: period, length), end > query.from else { break }
      ends.append(end)
    }
    let limits = Limits(later: length.later, ends: ends)
    knownLimits[reason] = limits
    return limits
  }

  /// The first day from which on a period begins after the query's last day; `nil` if the length of the periods is not certain.
  private func end(of period: Int64, _ length: CohortLength) -> ReportDay? {
    // A later day never has an earlier period.
    var (first, last) = (query.from.number, query.to.number)
    while first < last {
      let middle = first + (last - first) / 2
      guard let due = length.day(ofPeriod: period, from: ReportDay(number: middle)) else { return nil }
      if due < query.to { first = middle + 1 } else { last = middle }
    }
    return ReportDay(number: first)
  }
}
