internal import Reports

/// The sums that one part of a query adds up, and the days on which they count.
struct CellSelection {
  private enum Members {
    /// Of no cohort.
    case ofDays
    /// Of the cohorts of the query, whatever their day.
    case ofCohorts
    /// Amounts of another day's rate.
    case rated
  }

  /// The days by which a closing is at most later than its day, and one more. A sum becomes known on the day of its cohort at
  /// the earliest, and belongs to a closing that may be of an earlier day.
  private static let longestClosing: Int64 = 8

  let kinds: Set<Posting.Kind>
  private let members: Members
  private let buckets: BucketDays
  /// Whether a sum counts on the closing with which it became known instead of on its day.
  private var isByClosing = false
  /// Whether all sums of days before the query count together.
  private var joinsEarlierDays = false
  /// Whether all sums of a bucket count together.
  private var joinsBuckets = false
  private var from = dayBeforeAll
  /// Exclusive.
  private let to: Int64
  private var isOnTime = false
  /// Whether only sums of earlier days than their closing are selected, each with its closing.
  private(set) var isOfRevisions = false
  /// The first closing of a selected sum; `nil`: any.
  private(set) var knownFrom: Int64?
  /// See ``CellScan/monthsBefore``.
  private(set) var monthsBefore: Int64?

  private init(_ kinds: Set<Posting.Kind>, _ members: Members, _ query: ReportQuery, _ buckets: BucketDays) {
    (self.kinds, self.members, self.buckets) = (kinds, members, buckets)
    to = query.to.number
  }

  /// The parts of a query.
  static func all(of query: ReportQuery) -> [CellSelection] {
    let report = query.report
    let buckets = BucketDays(query)
    var stocks = CellSelection(report.stockKinds, .ofDays, query, buckets)
    stocks.isByClosing = query.knowledge == .firstClosed
    var flows = CellSelection(report.flowKinds, .ofDays, query, buckets)
    flows.from = query.from.number
    flows.isOnTime = query.knowledge == .firstClosed
    // A sum is known on its day at the earliest.
    flows.knownFrom = query.from.number
    var cohorts = CellSelection(report.cohortKinds, .ofCohorts, query, buckets)
    cohorts.knownFrom = buckets.first - longestClosing
    guard !query.isConverted else {
      // Each day has its exchange rate.
      let kinds = report.stockKinds.union(report.flowKinds)
      return [stocks, flows, cohorts, CellSelection(kinds, .rated, query, buckets)]
    }
    stocks.joinsEarlierDays = true
    stocks.monthsBefore = query.from.number
    // In a retention report, the time that a subscription had depends on the day on which it began.
    stocks.joinsBuckets = report.name != .retention
    flows.joinsBuckets = report.name != .retention
    cohorts.joinsBuckets = true
    cohorts.monthsBefore = query.to.number
    return [stocks, flows, cohorts]
  }

  /// The revisions of closed days that change the stocks and flows of a query.
  static func revisions(of query: ReportQuery) -> [CellSelection] {
    let buckets = BucketDays(query)
    var stocks = CellSelection(query.report.stockKinds, .ofDays, query, buckets)
    var flows = CellSelection(query.report.flowKinds, .ofDays, query, buckets)
    flows.from = query.from.number
    (stocks.isOfRevisions, flows.isOfRevisions) = (true, true)
    // Postings recorded up to the closing of the query's first day are in its stock already.
    (stocks.knownFrom, flows.knownFrom) = (query.from.number + 1, query.from.number + 1)
    return [stocks, flows]
  }

  func selects(_ cell: StoredCell) -> Bool {
    let day = countingDay(of: cell)
    guard day >= from, day < to else { return false }
    switch members {
    case .ofDays: guard cell.cohortDay == noCohort else { return false }
    case .ofCohorts:
      guard cell.cohortDay >= buckets.first, cell.cohortDay < to, cell.age != ReportCell.ratedAge else {
        return false
      }
    case .rated:
      guard cell.cohortDay != noCohort, cell.age == ReportCell.ratedAge else { return false }
    }
    let isLate = cell.knownDay > cell.day
    return isOfRevisions ? isLate : !(isOnTime && isLate)
  }

  private func countingDay(of cell: StoredCell) -> Int64 { isByClosing ? cell.knownDay : cell.day }

  /// The day of a selected cell's sum; 0 of a cohort.
  func day(of cell: StoredCell) -> Int64 {
    guard members != .ofCohorts else { return 0 }
    let day = countingDay(of: cell)
    guard day >= buckets.from else { return joinsEarlierDays ? buckets.from - 1 : day }
    return joinsBuckets ? max(buckets.start(of: day), buckets.from) : day
  }

  /// The cohort day of a selected cell's sum: the first day of the cohort's bucket, or the day of a rate.
  func cohortDay(of cell: StoredCell) -> Int64 {
    joinsBuckets && members == .ofCohorts ? buckets.start(of: cell.cohortDay) : cell.cohortDay
  }
}

/// The first day of the bucket of each day of a query.
private struct BucketDays {
  /// The first day of the query.
  let from: Int64
  /// The first day of the first bucket.
  let first: Int64
  /// By the number of days since ``first``; empty if each day is a bucket.
  private var starts: [Int64] = []

  init(_ query: ReportQuery) {
    var bucket = query.granularity.firstDay(of: query.from)
    (from, first) = (query.from.number, bucket.number)
    guard query.granularity != .day else { return }
    while bucket < query.to {
      let next = query.granularity.firstDay(after: bucket)
      for _ in bucket.number..<min(next, query.to).number { starts.append(bucket.number) }
      bucket = next
    }
  }

  func start(of day: Int64) -> Int64 {
    let index = Int(clamping: day - first)
    return starts.indices.contains(index) ? starts[index] : day
  }
}
