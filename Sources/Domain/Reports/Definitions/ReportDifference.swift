/// The effect of a revision of a closed day on the columns of a report.
package struct ReportDifference: Hashable, Sendable {
  /// The closed day that changed.
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
        for term in column.terms where term.kind == change.sum.run.kind && term.matches(change.sum, query) {
          let zeros = [Int64](repeating: 0, count: columns.count)
          values[key, default: zeros][index] &+= term.value(of: change.sum.sums, query)
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
  package var isMarked: Bool {
    switch self {
    case .payersOfBucket, .activeOutsideOpening, .firstEndOfOpening, .earlyLost: true
    default: false
    }
  }

  /// The kinds of the postings behind cells of the kind.
  var ofPostings: [Posting.Kind] {
    switch self {
    case .payersOfBucket: [.charge]
    case .activeOutsideOpening: [.active]
    case .firstEndOfOpening: Report.leavingKinds
    case .earlyLost: Report.leavingKinds + Report.returningKinds
    // Without conversion it changes nothing.
    case .rateChanged: []
    default: [self]
    }
  }
}

extension ReportColumn.Term {
  func matches(_ sum: ReportSum, _ query: ReportQuery) -> Bool {
    counts(sum.run, query) && reasons?.contains(sum.group.reason) ?? true
  }

  /// Whether it counts the sums of a run with its ``kind``, if it counts their reasons.
  func counts(_ run: ReportSums.Run, _ query: ReportQuery) -> Bool {
    guard isOfCohort == (run.cohortDay != nil) else { return false }
    return !kind.isMarked || run.age & (1 << query.granularity.rawValue) != 0
  }

  func value(of sums: ReportCell.Sums, _ query: ReportQuery) -> Int64 {
    switch field {
    case .count: sign * sums.count
    case .amount: sign * (query.isOfProceeds ? sums.proceeds : sums.amount)
    }
  }
}
