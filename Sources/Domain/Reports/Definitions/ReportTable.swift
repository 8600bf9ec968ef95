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
    default: rows = builder.rows()
    }
    rows.sort {
      ($0.bucket, $0.currency, $0.age) == ($1.bucket, $1.currency, $1.age)
        ? $0.groups.lexicographicallyPrecedes($1.groups)
        : ($0.bucket, $0.currency, $0.age) < ($1.bucket, $1.currency, $1.age)
    }
  }
}

/// Adds the sums of a store up to rows.
struct ReportTableBuilder {
  /// What identifies a row, besides its bucket.
  struct Series: Hashable {
    var groups: [String]
    var currency: String
    var age: Int64
  }

  let query: ReportQuery
  private(set) var values: [ReportDay: [Series: [Int64]]] = [:]

  init(_ query: ReportQuery) { self.query = query }

  private var columns: [ReportColumn] { query.report.columns }

  func series(of sum: ReportSum) -> Series {
    Series(
      groups: sum.groups, currency: query.report.isByCurrency ? sum.currency : "",
      age: query.report.hasAges && sum.cohortDay != nil ? sum.age : 0)
  }

  mutating func add(_ sums: [ReportSum]) {
    // The terms by kind, so that a sum meets only its own.
    var terms: [Posting.Kind: [(column: Int, term: ReportColumn.Term)]] = [:]
    for (index, column) in columns.enumerated() {
      for term in column.terms { terms[term.kind, default: []].append((index, term)) }
    }
    for sum in sums {
      for (column, term) in terms[sum.kind] ?? [] where term.matches(sum, query) {
        let value = term.value(of: sum, query)
        switch columns[column].span {
        case .bucket:
          let bucket = query.granularity.firstDay(of: sum.cohortDay ?? sum.day)
          guard sum.cohortDay.map({ _ in bucket >= firstBucket }) ?? (sum.day >= query.from),
            bucket < query.to
          else { continue }
          add(value, to: bucket, series(of: sum), column)
        case .opening:
          // Counts from the bucket after its own.
          let bucket = sum.day < query.from ? firstBucket : query.granularity.firstDay(after: sum.day)
          add(value, to: bucket, series(of: sum), column)
        case .closing:
          add(value, to: max(query.granularity.firstDay(of: sum.day), firstBucket), series(of: sum), column)
        }
      }
    }
  }

  private var firstBucket: ReportDay { query.granularity.firstDay(of: query.from) }

  private mutating func add(_ value: Int64, to bucket: ReportDay, _ series: Series, _ column: Int) {
    let zeros = [Int64](repeating: 0, count: columns.count)
    values[bucket, default: [:]][series, default: zeros][column] &+= value
  }

  /// The rows, with stocks carried from bucket to bucket.
  func rows() -> [ReportTable.Row] {
    var rows: [ReportTable.Row] = []
    var carried: [Series: [Int64]] = [:]
    let isStock = columns.map { $0.span != .bucket }
    var bucket = firstBucket
    while bucket < query.to {
      let inBucket = values[bucket] ?? [:]
      for series in Set(inBucket.keys).union(carried.keys) {
        var row = inBucket[series] ?? Array(repeating: 0, count: columns.count)
        if let stocks = carried[series] {
          for index in row.indices where isStock[index] { row[index] &+= stocks[index] }
        }
        let stocks = row.indices.map { isStock[$0] ? row[$0] : 0 }
        carried[series] = stocks.allSatisfy { $0 == 0 } ? nil : stocks
        guard row.contains(where: { $0 != 0 }) else { continue }
        rows.append(
          ReportTable.Row(
            bucket: bucket, groups: series.groups, currency: series.currency, age: series.age, values: row))
      }
      bucket = query.granularity.firstDay(after: bucket)
    }
    return rows
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

extension ReportColumn.Term {
  fileprivate func matches(_ sum: ReportSum, _ query: ReportQuery) -> Bool {
    guard isOfCohort == (sum.cohortDay != nil), reasons?.contains(sum.reason) ?? true else { return false }
    return kind != .payersOfBucket || sum.age == query.granularity.rawValue
  }

  fileprivate func value(of sum: ReportSum, _ query: ReportQuery) -> Int64 {
    switch field {
    case .count: sign * sum.sums.count
    case .amount: sign * (query.isOfProceeds ? sum.sums.proceeds : sum.sums.amount)
    }
  }
}
