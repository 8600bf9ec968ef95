/// The rows of an answered report.
package struct ReportTable: Hashable, Sendable {
  /// The values of one bucket, group, currency and age.
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
    /// The table has more rows than the limit.
    case tooManyRows
  }

  /// The maximum number of rows of a table, which takes some hundred bytes of memory for each.
  package static let rowLimit = 500_000

  /// By bucket, groups, currency and age; rows without any value are left out.
  package internal(set) var rows: [Row]

  /// Answers `query` from what a store added up for it.
  ///
  /// - Throws: ``Failure``; the limit ends the work before the table outgrows the memory.
  package init(
    _ query: ReportQuery, _ sums: ReportSums, rowLimit: Int = Self.rowLimit
  ) throws(Failure) {
    var builder = ReportTableBuilder(query)
    builder.add(sums)
    switch query.report.name {
    case .retention: rows = try builder.retentionRows(sums).inOrder
    case .lifetimeValue, .retentionByMonth, .retentionOfPayers: rows = builder.monthlyRows()
    default: rows = try builder.rows(limit: rowLimit)
    }
    guard rows.count <= rowLimit else { throw .tooManyRows }
  }
}

extension [ReportTable.Row] {
  /// The rows by bucket, currency, age and groups. Comparing the texts of groups takes longer than everything else, so each
  /// group has a number first.
  fileprivate var inOrder: Self {
    let groups = Set(map(\.groups)).sorted { $0.lexicographicallyPrecedes($1) }
    let numbers = Dictionary(uniqueKeysWithValues: zip(groups, groups.indices))
    return map { (row: $0, group: numbers[$0.groups] ?? 0) }
      .sorted { left, right in
        (left.row.bucket.number, left.row.currency, left.row.age, left.group)
          < (right.row.bucket.number, right.row.currency, right.row.age, right.group)
      }
      .map(\.row)
  }
}
