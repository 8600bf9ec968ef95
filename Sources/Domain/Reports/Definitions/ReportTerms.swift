/// The terms of a report's columns, prepared for adding up many sums.
struct ReportTerms {
  /// A column and bucket to which the sums of a run add.
  struct Place {
    let bucket: Int
    let column: Int
    fileprivate let source: Source
    fileprivate let sign: Int64
    /// An index of ``ReportTerms/reasons``; -1: of all reasons.
    fileprivate let reasons: Int

    /// Returns the value that the sums add to the column.
    func value(of sums: ReportCell.Sums) -> Int64 {
      switch source {
      case .count: sign * sums.count
      case .amount: sign * sums.amount
      case .proceeds: sign * sums.proceeds
      }
    }
  }

  fileprivate enum Source { case count, amount, proceeds }

  private struct Term {
    let column: Int
    let span: ReportColumn.Span
    let term: ReportColumn.Term
    let reasons: Int
  }

  private let query: ReportQuery
  private let groups: [ReportSums.Group]
  /// By the raw value of the kind.
  private var terms: [[Term]] = []
  private var reasons: [Set<String>] = []
  /// By ``reasons`` and group: whether they have the reason of the group; `nil`: not met yet. A set takes longer for each sum.
  private var isCounted: [[Bool?]] = []

  init(_ query: ReportQuery, _ groups: [ReportSums.Group]) {
    self.query = query
    self.groups = groups
    for (index, column) in query.report.columns.enumerated() {
      for term in column.terms {
        let kind = Int(term.kind.rawValue)
        while terms.count <= kind { terms.append([]) }
        terms[kind].append(
          Term(
            column: index, span: column.span, term: term, reasons: term.reasons == nil ? -1 : reasons.count))
        guard let wanted = term.reasons else { continue }
        reasons.append(wanted)
        isCounted.append(Array(repeating: nil, count: groups.count))
      }
    }
  }

  /// The places of the sums of a run, whatever their reason. `bucket` has the number of a bucket for the days of a column.
  func places(of run: ReportSums.Run, _ bucket: (ReportColumn.Span) -> Int?) -> [Place] {
    let kind = Int(run.kind.rawValue)
    guard kind < terms.count else { return [] }
    return terms[kind].compactMap { one in
      guard one.term.counts(run, query), let bucket = bucket(one.span) else { return nil }
      let amount = query.isOfProceeds ? Source.proceeds : .amount
      return Place(
        bucket: bucket, column: one.column, source: one.term.field == .count ? .count : amount,
        sign: one.term.sign, reasons: one.reasons)
    }
  }

  /// Whether a place counts the reason of a group.
  mutating func counts(_ place: Place, _ group: Int) -> Bool {
    guard place.reasons >= 0 else { return true }
    if let known = isCounted[place.reasons][group] { return known }
    let isCounted = reasons[place.reasons].contains(groups[group].reason)
    self.isCounted[place.reasons][group] = isCounted
    return isCounted
  }
}
