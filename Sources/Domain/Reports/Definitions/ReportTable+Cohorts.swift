// Reports whose rows have an age.
extension ReportTableBuilder {
  /// The rows of retention: of each cohort and period those that reached it, and those that had time to.
  func retentionRows(_ sums: [ReportSum]) throws(ReportTable.Failure) -> [ReportTable.Row] {
    var joined = JoinedCohorts(query)
    for sum in sums where sum.kind == .joinedCohort && sum.cohortDay == nil && sum.day >= query.from {
      guard sum.sums.count != 0, let bucket = bucket(of: sum, .bucket) else { continue }
      guard joined.add(sum, in: bucket) else { throw .mixedDurations }
    }
    return joined.hadTime.flatMap { place, counts -> [ReportTable.Row] in
      let groups = joined.groups[place.group]
      return counts.enumerated().map { index, count in
        let series = Series(groups: groups, currency: "", age: Int64(index) + 1)
        return ReportTable.Row(
          bucket: buckets[place.bucket], groups: groups, currency: "", age: series.age,
          values: [values(place.bucket, series)?[0] ?? 0, count])
      }
    }
  }

  /// The rows of retention by months: of each cohort those that are active at the end of each month, and its size.
  func monthlyRows() -> [ReportTable.Row] {
    var rows: [ReportTable.Row] = []
    for (number, bucket) in buckets.enumerated() {
      let lastAge = query.to.advanced(by: -1).months(since: bucket)
      for group in Set(series(in: number).map { Series(groups: $0.groups, currency: "", age: 0) }) {
        let size = values(number, group)?[1] ?? 0
        guard lastAge >= 0, size != 0 else { continue }
        var active: Int64 = 0
        for age in 0...lastAge {
          var series = group
          series.age = age
          active &+= values(number, series)?[0] ?? 0
          rows.append(
            ReportTable.Row(
              bucket: bucket, groups: group.groups, currency: "", age: age, values: [active, size]))
        }
      }
    }
    return rows
  }

  /// The rows of lifetime value: what each cohort paid up to the end of each month, and how many payers it has.
  func lifetimeRows() -> [ReportTable.Row] {
    var rows: [ReportTable.Row] = []
    for (number, bucket) in buckets.enumerated() {
      let lastAge = query.to.advanced(by: -1).months(since: bucket)
      for group in Set(
        series(in: number).map { Series(groups: $0.groups, currency: $0.currency, age: 0) })
      {
        let payers = values(number, group)?[1] ?? 0
        var sums = [Int64](repeating: 0, count: query.report.columns.count)
        guard lastAge >= 0, payers != 0 else { continue }
        for age in 0...lastAge {
          var series = group
          series.age = age
          let month = values(number, series) ?? sums.map { _ in 0 }
          for index in sums.indices { sums[index] &+= month[index] }
          sums[1] = payers
          sums[sums.count - 1] = month[sums.count - 1]
          rows.append(
            ReportTable.Row(
              bucket: bucket, groups: group.groups, currency: group.currency, age: age, values: sums)
          )
        }
      }
    }
    return rows
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
