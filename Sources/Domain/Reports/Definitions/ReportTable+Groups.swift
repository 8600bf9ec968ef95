// Reports with a maximum number of groups.
extension ReportTable {
  /// The name of the group of all others.
  package static let otherGroup = "OTHER"

  /// Returns the rows of the groups with the most units in all buckets, and one row for the rest in each bucket, currency and age.
  /// The units are those of the first column that counts.
  package func limited(_ query: ReportQuery) -> ReportTable {
    guard let limit = query.maxGroups, !query.groupBy.isEmpty else { return self }
    let column = query.report.columns.firstIndex { $0.unit == .count } ?? 0
    var units: [[String]: UInt64] = [:]
    for row in rows { units[row.groups, default: 0] &+= row.values[column].magnitude }
    guard units.count > limit else { return self }
    let inOrder = units.sorted {
      $0.value == $1.value ? $0.key.lexicographicallyPrecedes($1.key) : $0.value > $1.value
    }
    let kept = Set(inOrder.prefix(limit).map(\.key))
    var table = self
    table.rows = []
    var others: [Row] = []
    var last: Row?
    for row in rows {
      if let previous = last, !previous.isBeside(row) {
        table.rows += others
        others = []
      }
      last = row
      if kept.contains(row.groups) {
        table.rows.append(row)
      } else {
        others = [row.added(to: others.first)]
      }
    }
    table.rows += others
    return table
  }
}

extension ReportTable.Row {
  /// Whether the rows differ in their groups alone.
  fileprivate func isBeside(_ other: Self) -> Bool {
    (bucket, currency, age) == (other.bucket, other.currency, other.age)
  }

  /// The sum of this row and another one, under the name of the rest.
  fileprivate func added(to other: Self?) -> Self {
    let sums = other.map { zip($0.values, values).map { $0 &+ $1 } } ?? values
    return Self(
      bucket: bucket, groups: groups.map { _ in ReportTable.otherGroup }, currency: currency, age: age,
      values: sums)
  }
}
