/// A part of the sums that reports are answered from: all postings of one day with the same key.
package struct ReportCell: Hashable, Sendable {
  /// The common members of the postings.
  package var key: Key
  /// The sums of the postings.
  package var sums: Sums

  package init(key: Key, sums: Sums) {
    self.key = key
    self.sums = sums
  }

  /// The members of postings by which a store adds them up: any report can be answered from cells of these keys.
  package struct Key: Hashable, Sendable {
    /// The kind of the postings; kinds that exist in cells only are those of ``Posting/marks``.
    package var kind: Posting.Kind
    /// The day of ``Posting/effectiveAt``.
    package var day: ReportDay
    /// Of a cohort those that its members had when they joined.
    package var dimensions: Posting.Dimensions
    /// ``Posting/reason``; empty without one.
    package var reason: String
    /// ISO 4217; empty without an amount.
    package var currency: String
    /// When the members of the cohort joined it, or the day of a rate; `nil`: neither.
    package var cohortDay: ReportDay?
    /// See ``Posting/Cohort/age``; of kinds in cells only ``Posting/marks``; ``ratedAge`` of amounts of another day's rate.
    package var age: Int64
  }

  /// The sums of the numbers of postings. They wrap around beyond 64 bits instead of ending the process.
  package struct Sums: Hashable, Sendable {
    /// Of ``Posting/count``.
    package var count: Int64
    /// Of ``Posting/amount``, in thousandths of the currency.
    package var amount: Int64
    /// Of ``Posting/proceeds``, in thousandths of the currency.
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

extension ReportCell {
  /// The age of cells with amounts of another day's rate, whose cohort day is that day; see ``Posting/chargedOn``.
  package static let ratedAge: Int64 = -1_000_000
}

extension Posting {
  /// The cells to which the posting adds.
  package var cells: [ReportCell] {
    var cells: [ReportCell] = []
    // The cell of the day, and one of a cohort or of marks.
    cells.reserveCapacity(2)
    let sums = ReportCell.Sums(count: count, amount: amount, proceeds: proceeds)
    let key = ReportCell.Key(
      kind: kind, day: ReportDay(effectiveAt), dimensions: dimensions, reason: reason, currency: currency,
      cohortDay: nil, age: 0)
    if !isOfCohortOnly { cells.append(ReportCell(key: key, sums: sums)) }
    let (early, others) = (marks >> Self.earlyShift, marks % (1 << Self.earlyShift))
    if others != 0, let part = marked(sums) {
      let marked = key.with { ($0.kind, $0.reason, $0.age) = (part.kind, "", others) }
      cells.append(ReportCell(key: marked, sums: part.sums))
    }
    if early != 0 {
      let lost = key.with { ($0.kind, $0.reason, $0.currency, $0.age) = (.earlyLost, "", "", early) }
      let sign: Int64 = Report.leavingKinds.contains(kind) ? 1 : -1
      cells.append(ReportCell(key: lost, sums: ReportCell.Sums(count: sign * count)))
    }
    if let chargedOn, chargedOn != key.day, amount != 0 || proceeds != 0 {
      let rated = key.with { ($0.cohortDay, $0.age) = (chargedOn, ReportCell.ratedAge) }
      cells.append(ReportCell(key: rated, sums: ReportCell.Sums(amount: amount, proceeds: proceeds)))
    }
    guard let cohort else { return cells }
    let ofCohort = key.with {
      $0.cohortDay = isOfMonth ? cohort.day.firstOfMonth : cohort.day
      ($0.dimensions, $0.age) = (cohort.dimensions, cohort.age)
      if isOfMonth { $0.reason = "" }
    }
    cells.append(ReportCell(key: ofCohort, sums: sums))
    return cells
  }

  /// Returns the amounts that a posting with ``marks`` adds to the sums of buckets of those lengths.
  private func marked(_ sums: ReportCell.Sums) -> (kind: Posting.Kind, sums: ReportCell.Sums)? {
    switch kind {
    // A reversed charge takes its payer back.
    case .charge: (.payersOfBucket, ReportCell.Sums(count: count.signum()))
    case .active: (.activeOutsideOpening, sums)
    case .lapsedVoluntary, .lapsedBilling, .lapsedOther, .refundedOut, .toFreeOffer:
      (.firstEndOfOpening, ReportCell.Sums(count: count))
    default: nil
    }
  }

  private var isOfCohortOnly: Bool {
    switch kind {
    case .periodReached, .refundOfPurchase, .payer, .payerJoined, .activeOfCohort, .payerActiveOfCohort,
      .rateChanged, .refundAsked, .refundAnswered, .refundGranted, .refundDeclined, .refundGrantReversed,
      .consentWithdrawn, .consentSettled, .consentOverdue:
      true
    default: false
    }
  }

  /// Whether its cohorts are those of a month.
  private var isOfMonth: Bool {
    switch kind {
    case .payer, .charge, .refund, .refundReversed, .upgradeCredit: true
    default: false
    }
  }
}

extension ReportCell.Key {
  fileprivate func with(_ change: (inout ReportCell.Key) -> Void) -> ReportCell.Key {
    var key = self
    change(&key)
    return key
  }
}
