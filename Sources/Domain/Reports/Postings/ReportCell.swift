/// A part of the sums that reports are answered from: all postings of one day with the same key.
package struct ReportCell: Hashable, Sendable {
  package var key: Key
  package var sums: Sums

  package init(key: Key, sums: Sums) {
    self.key = key
    self.sums = sums
  }

  package struct Key: Hashable, Sendable {
    package var kind: Posting.Kind
    package var day: ReportDay
    package var dimensions: Posting.Dimensions
    package var reason: String
    package var currency: String
    /// When the members of the cohort joined it; `nil`: the cell is of no cohort.
    package var cohortDay: ReportDay?
    /// See ``Posting/Cohort/age``; of ``Posting/Kind/payersOfBucket`` the granularity.
    package var age: Int64
  }

  package struct Sums: Hashable, Sendable {
    package var count: Int64
    package var amount: Int64
    package var proceeds: Int64

    package init(count: Int64 = 0, amount: Int64 = 0, proceeds: Int64 = 0) {
      self.count = count
      self.amount = amount
      self.proceeds = proceeds
    }

    package static func += (left: inout Sums, right: Sums) {
      left.count &+= right.count
      left.amount &+= right.amount
      left.proceeds &+= right.proceeds
    }
  }
}

extension Posting {
  /// The cells to which the posting adds.
  package var cells: [ReportCell] {
    var cells: [ReportCell] = []
    let sums = ReportCell.Sums(count: count, amount: amount, proceeds: proceeds)
    var key = ReportCell.Key(
      kind: kind, day: ReportDay(effectiveAt), dimensions: dimensions, reason: reason, currency: currency,
      cohortDay: nil, age: 0)
    if !isOfCohortOnly { cells.append(ReportCell(key: key, sums: sums)) }
    for granularity in Granularity.allCases where firstChargeOf & (1 << granularity.rawValue) != 0 {
      var payers = key
      (payers.kind, payers.reason, payers.age) = (.payersOfBucket, "", granularity.rawValue)
      // A reversed charge takes its payer back.
      cells.append(ReportCell(key: payers, sums: ReportCell.Sums(count: count.signum())))
    }
    guard let cohort else { return cells }
    key.cohortDay = isOfMonth ? cohort.day.firstOfMonth : cohort.day
    (key.dimensions, key.age) = (cohort.dimensions, cohort.age)
    if isOfMonth { key.reason = "" }
    cells.append(ReportCell(key: key, sums: sums))
    return cells
  }

  private var isOfCohortOnly: Bool {
    switch kind {
    case .periodReached, .refundOfPurchase, .payer: true
    default: false
    }
  }

  /// Whether its cohorts are those of a month.
  private var isOfMonth: Bool {
    switch kind {
    case .payer, .charge, .refund, .upgradeCredit: true
    default: false
    }
  }
}
