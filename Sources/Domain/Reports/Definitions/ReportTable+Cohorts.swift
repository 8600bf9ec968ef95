// Reports whose rows have an age.
extension ReportTableBuilder {
  /// The rows of retention: of each cohort and period those that reached it, and those that had time to.
  func retentionRows(_ sums: ReportSums) throws(ReportTable.Failure) -> [ReportTable.Row] {
    var joined = JoinedCohorts(query)
    for total in sums.totals where total.sums.count != 0 {
      let run = sums.runs[Int(total.run)]
      guard run.kind == .joinedCohort, run.cohortDay == nil, run.day >= query.from,
        let bucket = bucket(of: run, .bucket)
      else { continue }
      guard joined.add(total, of: sums, in: bucket) else { throw .mixedDurations }
    }
    let byGroups = Dictionary(families.map { ($0.groups, $0) }, uniquingKeysWith: { first, _ in first })
    return joined.hadTime.flatMap { place, counts -> [ReportTable.Row] in
      let groups = joined.groups[place.group]
      let family = byGroups[groups]
      return counts.enumerated().map { index, count in
        let age = Int64(index) + 1
        let reached = family?.values(age, in: place.bucket, of: self)?.first ?? 0
        return ReportTable.Row(
          bucket: buckets[place.bucket], groups: groups, currency: "", age: age, values: [reached, count])
      }
    }
  }

  /// The rows of a report by months since that of the cohort: of each cohort its values up to the end of each month, in order.
  /// Months before the first value have none.
  func monthlyRows() -> [ReportTable.Row] {
    let columns = query.report.columns
    let currencies = Dictionary(grouping: families, by: \.currency).sorted { $0.key < $1.key }
      .map { $0.value.sorted { $0.groups.lexicographicallyPrecedes($1.groups) } }
    var rows: [ReportTable.Row] = []
    for (number, bucket) in buckets.enumerated() {
      let lastAge = query.to.advanced(by: -1).months(since: bucket)
      guard lastAge >= 0 else { continue }
      for families in currencies {
        var cohorts = families.map { (family: $0, sums: columns.map { _ in Int64(0) }) }
        for age in 0...lastAge {
          for index in cohorts.indices {
            let family = cohorts[index].family
            let month = family.values(age, in: number, of: self)
            for column in columns.indices {
              let value = month.map { $0[$0.startIndex + column] } ?? 0
              cohorts[index].sums[column] =
                columns[column].isOfOneAge ? value : cohorts[index].sums[column] &+ value
            }
            guard cohorts[index].sums.contains(where: { $0 != 0 }) else { continue }
            rows.append(
              ReportTable.Row(
                bucket: bucket, groups: family.groups, currency: family.currency, age: age,
                values: cohorts[index].sums))
          }
        }
      }
    }
    return rows
  }

  /// The series of one group and currency.
  private struct Family {
    let groups: [String]
    let currency: String
    /// The number of the series of each age.
    var numbers: [Int64: Int] = [:]

    /// The values of an age in a bucket; `nil` without any.
    func values(_ age: Int64, in bucket: Int, of builder: ReportTableBuilder) -> ArraySlice<Int64>? {
      numbers[age].flatMap { builder.values(bucket, ofSeries: $0) }
    }
  }

  /// All series by group and currency. A table has many rows, and looking each up by its texts would take the longest.
  private var families: [Family] {
    var families: [Series: Family] = [:]
    for (number, one) in series.enumerated() {
      let key = Series(groups: one.groups, currency: one.currency, age: 0)
      families[key, default: Family(groups: one.groups, currency: one.currency)].numbers[one.age] = number
    }
    return Array(families.values)
  }
}

extension PeriodLength {
  /// The day on which the period after `count` periods begins.
  func day(after count: Int64, from day: ReportDay) -> ReportDay {
    switch self {
    case .week: day.advanced(by: 7 * count)
    case .month: day.advanced(byMonths: count)
    case .twoMonths: day.advanced(byMonths: 2 * count)
    case .threeMonths: day.advanced(byMonths: 3 * count)
    case .sixMonths: day.advanced(byMonths: 6 * count)
    case .year: day.advanced(byMonths: 12 * count)
    }
  }
}
