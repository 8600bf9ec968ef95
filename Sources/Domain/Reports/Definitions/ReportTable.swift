/// The rows of an answered report.
package struct ReportTable: Hashable, Sendable {
  package struct Row: Hashable, Sendable {
    /// The first day of the bucket; of a cohort report, of the cohort.
    package let bucket: ReportDay
    /// The values of ``ReportQuery/groupBy``.
    package let groups: [String]
    /// ISO 4217; empty in reports without amounts.
    package let currency: String
    /// The number of the period, from 1, or of the month, from 0; 0 in reports without ages.
    package let age: Int64
    /// In the order of ``Report/columns``.
    package let values: [Int64]
  }

  /// The reason why a report has no answer.
  package enum Failure: Error, Hashable, Sendable {
    /// Periods of different lengths cannot be counted together.
    case mixedDurations
  }

  /// By bucket, groups, currency and age; rows without any value are left out.
  package private(set) var rows: [Row]

  /// Answers `query` from what a store added up for it.
  package init(_ query: ReportQuery, _ sums: [ReportSum]) throws(Failure) {
    var builder = ReportTableBuilder(query)
    builder.add(sums)
    switch query.report.name {
    case .retention: rows = try builder.retentionRows(sums)
    case .lifetimeValue: rows = builder.lifetimeRows()
    case .retentionByMonth, .retentionOfPayers: rows = builder.monthlyRows()
    default:
      rows = builder.rows()
      return
    }
    rows.sort {
      $0.bucket == $1.bucket ? $0.series.precedes($1.series) : $0.bucket < $1.bucket
    }
  }
}

/// Adds the sums of a store up to rows.
///
/// Buckets and series have numbers, because reports may have 100,000 rows, and comparing and hashing their texts for each sum
/// takes longer than everything else.
struct ReportTableBuilder {
  /// What identifies a row, besides its bucket.
  struct Series: Hashable {
    var groups: [String]
    var currency: String
    var age: Int64
  }

  let query: ReportQuery
  private(set) var series: [Series] = []
  private(set) var buckets: [ReportDay] = []
  private var seriesNumbers: [Series: Int] = [:]
  private var bucketNumbers: [ReportDay: Int] = [:]
  /// By the number of the group of a sum, and the age.
  private var groupNumbers: [GroupKey: Int] = [:]
  /// The first buckets of days.
  private var firstDays: [ReportDay: ReportDay] = [:]
  /// The offset in ``cells`` of a row.
  private var offsets: [RowKey: Int] = [:]
  private var cells: [Int64] = []

  private struct GroupKey: Hashable {
    let group: Int
    let age: Int64
  }

  private struct RowKey: Hashable {
    let bucket: Int
    let series: Int
  }

  init(_ query: ReportQuery) { self.query = query }

  private var columns: [ReportColumn] { query.report.columns }

  /// The values of a row; `nil` without any.
  func values(_ bucket: ReportDay, _ series: Series) -> [Int64]? {
    guard let bucket = bucketNumbers[bucket], let series = seriesNumbers[series],
      let offset = offsets[RowKey(bucket: bucket, series: series)]
    else { return nil }
    return Array(cells[offset..<offset + columns.count])
  }

  /// The series with values in a bucket.
  func series(in bucket: ReportDay) -> [Series] {
    guard let bucket = bucketNumbers[bucket] else { return [] }
    return series.indices.filter { offsets[RowKey(bucket: bucket, series: $0)] != nil }.map { series[$0] }
  }

  mutating func add(_ sums: [ReportSum]) {
    // The terms by kind, so that a sum meets only its own.
    var terms: [Posting.Kind: [(column: Int, term: ReportColumn.Term)]] = [:]
    for (index, column) in columns.enumerated() {
      for term in column.terms { terms[term.kind, default: []].append((index, term)) }
    }
    for sum in sums where !sum.isRated {
      guard let ofKind = terms[sum.kind] else { continue }
      for (column, term) in ofKind where term.matches(sum, query) {
        guard let bucket = firstDay(of: sum, columns[column].span) else { continue }
        let start = offset(bucket, number(of: sum))
        cells[start + column] &+= term.value(of: sum, query)
      }
    }
  }

  /// The bucket to which a sum adds; `nil`: none.
  private mutating func firstDay(of sum: ReportSum, _ span: ReportColumn.Span) -> ReportDay? {
    switch span {
    case .bucket:
      let bucket = firstDay(of: sum.cohortDay ?? sum.day)
      let hasBegun = sum.cohortDay == nil ? sum.day >= query.from : bucket >= firstBucket
      return hasBegun && bucket < query.to ? bucket : nil
    case .opening:
      // Counts from the bucket after its own.
      return sum.day < query.from ? firstBucket : query.granularity.firstDay(after: sum.day)
    case .closing: return max(firstDay(of: sum.day), firstBucket)
    }
  }

  private mutating func firstDay(of day: ReportDay) -> ReportDay {
    if let known = firstDays[day] { return known }
    let first = query.granularity.firstDay(of: day)
    firstDays[day] = first
    return first
  }

  private mutating func number(of sum: ReportSum) -> Int {
    let age = query.report.hasAges && sum.cohortDay != nil ? sum.age : 0
    let key = sum.group.map { GroupKey(group: $0, age: age) }
    if let key, let known = groupNumbers[key] { return known }
    let ofSum = Series(
      groups: sum.groups, currency: query.report.isByCurrency ? sum.currency : "", age: age)
    let number = seriesNumbers[ofSum] ?? series.count
    if number == series.count {
      series.append(ofSum)
      seriesNumbers[ofSum] = number
    }
    if let key { groupNumbers[key] = number }
    return number
  }

  private mutating func offset(_ bucket: ReportDay, _ series: Int) -> Int {
    let number = bucketNumbers[bucket] ?? buckets.count
    if number == buckets.count {
      buckets.append(bucket)
      bucketNumbers[bucket] = number
    }
    let key = RowKey(bucket: number, series: series)
    if let known = offsets[key] { return known }
    let start = cells.count
    offsets[key] = start
    cells.append(contentsOf: repeatElement(0, count: columns.count))
    return start
  }

  private var firstBucket: ReportDay { query.granularity.firstDay(of: query.from) }

  /// The rows in order, with stocks carried from bucket to bucket.
  func rows() -> [ReportTable.Row] {
    var rows: [ReportTable.Row] = []
    let order = series.indices.sorted { series[$0].precedes(series[$1]) }
    let isStock = columns.map { $0.span != .bucket }
    let hasStocks = isStock.contains(true)
    let zeros = [Int64](repeating: 0, count: columns.count)
    var carried = [[Int64]?](repeating: nil, count: series.count)
    var bucket = firstBucket
    while bucket < query.to {
      let number = bucketNumbers[bucket]
      for index in order {
        let offset = number.flatMap { offsets[RowKey(bucket: $0, series: index)] }
        guard offset != nil || carried[index] != nil else { continue }
        var row = offset.map { Array(cells[$0..<$0 + columns.count]) } ?? zeros
        if hasStocks {
          if let stocks = carried[index] {
            for column in row.indices where isStock[column] { row[column] &+= stocks[column] }
          }
          let stocks = row.indices.map { isStock[$0] ? row[$0] : 0 }
          carried[index] = stocks.allSatisfy { $0 == 0 } ? nil : stocks
          derive(&row)
        }
        guard row.contains(where: { $0 != 0 }) else { continue }
        rows.append(
          ReportTable.Row(
            bucket: bucket, groups: series[index].groups, currency: series[index].currency,
            age: series[index].age, values: row))
      }
      bucket = query.granularity.firstDay(after: bucket)
    }
    return rows
  }

  /// Sets the columns that are made up of others.
  private func derive(_ row: inout [Int64]) {
    let values = row
    for (index, column) in columns.enumerated() {
      guard let derivation = column.derivation, query.isConverted || !derivation.isOfConversion else {
        continue
      }
      let sum = { (names: [String]) in
        columns.indices.reduce(Int64(0)) { names.contains(columns[$1].name) ? $0 &+ values[$1] : $0 }
      }
      row[index] = sum(derivation.plus) &- sum(derivation.minus)
    }
  }
}

extension ReportTableBuilder.Series {
  /// The order of the rows of a bucket.
  func precedes(_ other: Self) -> Bool {
    (currency, age) == (other.currency, other.age)
      ? groups.lexicographicallyPrecedes(other.groups) : (currency, age) < (other.currency, other.age)
  }
}

extension ReportTable.Row {
  fileprivate var series: ReportTableBuilder.Series {
    ReportTableBuilder.Series(groups: groups, currency: currency, age: age)
  }
}

/// What a revision of a closed day changed in the columns of a report.
package struct ReportDifference: Hashable, Sendable {
  package let day: ReportDay
  /// The day with whose closing it became known. A stock changes on all days from ``day`` to before it.
  package let knownDay: ReportDay
  /// ISO 4217; empty in reports without amounts.
  package let currency: String
  /// In the order of ``Report/columns``.
  package let values: [Int64]

  /// Adds up changes for the columns of `query`: by day, day of knowledge and currency. Openings and cohorts have none.
  package static func all(_ query: ReportQuery, _ changes: [ReportChange]) -> [ReportDifference] {
    struct Key: Hashable {
      let day: ReportDay
      let knownDay: ReportDay
      let currency: String
    }
    let columns = query.report.columns
    var values: [Key: [Int64]] = [:]
    for change in changes {
      let currency = query.report.isByCurrency ? change.sum.currency : ""
      let key = Key(day: change.day, knownDay: change.knownDay, currency: currency)
      for (index, column) in columns.enumerated() where column.span != .opening {
        guard column.span == .closing || change.day >= query.from else { continue }
        for term in column.terms where term.kind == change.sum.kind && term.matches(change.sum, query) {
          let zeros = [Int64](repeating: 0, count: columns.count)
          values[key, default: zeros][index] &+= term.value(of: change.sum, query)
        }
      }
    }
    return values.filter { $0.value.contains { $0 != 0 } }
      .map { ReportDifference(day: $0.day, knownDay: $0.knownDay, currency: $0.currency, values: $1) }
      .sorted { ($0.day, $0.knownDay, $0.currency) < ($1.day, $1.knownDay, $1.currency) }
  }
}

extension Posting.Kind {
  /// Whether cells of the kind have ``Posting/marks`` as their age.
  var isMarked: Bool {
    switch self {
    case .payersOfBucket, .activeOutsideOpening, .firstEndOfOpening: true
    default: false
    }
  }

  /// The kinds of the postings behind cells of the kind.
  var ofPostings: [Posting.Kind] {
    switch self {
    case .payersOfBucket: [.charge]
    case .activeOutsideOpening: [.active]
    case .firstEndOfOpening: Report.leavingKinds
    // Without conversion it changes nothing.
    case .rateChanged: []
    default: [self]
    }
  }
}

extension ReportColumn.Term {
  fileprivate func matches(_ sum: ReportSum, _ query: ReportQuery) -> Bool {
    guard isOfCohort == (sum.cohortDay != nil), reasons?.contains(sum.reason) ?? true else { return false }
    return !kind.isMarked || sum.age & (1 << query.granularity.rawValue) != 0
  }

  fileprivate func value(of sum: ReportSum, _ query: ReportQuery) -> Int64 {
    switch field {
    case .count: sign * sum.sums.count
    case .amount: sign * (query.isOfProceeds ? sum.sums.proceeds : sum.sums.amount)
    }
  }
}
