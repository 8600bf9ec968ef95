package import AppStore

/// The postings behind one value of a report. Added up, they are the value.
package struct PostingSelection: Hashable, Sendable {
  /// The amount that a posting adds.
  package enum Measure: Hashable, Sendable {
    case count, amount, proceeds
    /// 1, or -1 for a posting that takes one back.
    case sign
  }

  /// 1, or -1 for kinds that the value is less by.
  package let signs: [Posting.Kind: Int64]
  /// `nil`: all.
  package let reasons: Set<String>?
  /// The member of each posting that the value adds up.
  package let measure: Measure
  /// Only postings with this bit of ``Posting/marks``; `nil`: all.
  package let mark: Int64?
  /// Whether ``days`` are those on which the members joined their cohort, and ``dimensions`` those that they had then.
  package let isOfCohort: Bool
  /// The first day; `nil` for a stock, which counts from the beginning.
  package let from: ReportDay?
  /// The first day of a posting that can be selected; `nil`: any. Earlier ones need not be read.
  package let earliest: ReportDay?
  /// The day after the last one.
  package let to: ReportDay
  /// Of a cohort: the day after the last one on which a posting counts.
  package let until: ReportDay
  /// The ages of the members of a cohort; `nil`: all.
  package let ages: ClosedRange<Int64>?
  /// The allowed values; a dimension without any is not filtered.
  package let dimensions: [ReportQuery.Dimension: Set<String>]
  /// ISO 4217; `nil`: all.
  package let currency: String?
  /// The knowledge of the query; of a stock as first closed, the closing of its last day.
  package let knowledge: ReportQuery.Knowledge
  /// Of the members that had time to reach a period: its number, from 2. `nil`: not limited.
  package let reachedPeriod: Int64?
}

extension ReportQuery {
  /// The identity of a row of an answer.
  package struct RowKey: Hashable, Sendable {
    /// The first day of the bucket, or of the cohort.
    package let bucket: ReportDay
    /// The values of ``ReportQuery/groupBy``.
    package let groups: [String]
    /// Empty in reports without amounts.
    package let currency: String
    /// The number of the period, from 1, or of the month, from 0; 0 in reports without ages.
    package let age: Int64

    package init(bucket: ReportDay, groups: [String] = [], currency: String = "", age: Int64 = 0) {
      self.bucket = bucket
      self.groups = groups
      self.currency = currency
      self.age = age
    }
  }

  /// The postings behind the value of `column` in a row: of a column that is made up of others, theirs, each with its sign.
  package func postings(
    of column: ReportColumn, in row: RowKey, _ durations: ProductDurations = ProductDurations()
  ) -> [(sign: Int64, selection: PostingSelection)] {
    guard let derivation = column.derivation else {
      return [(1, selection(of: column, in: row, durations))]
    }
    // The purchases are those in their own currencies.
    if derivation.isOfConversion { return [] }
    return report.columns.flatMap { part in
      let sign: Int64? =
        derivation.plus.contains(part.name) ? 1 : derivation.minus.contains(part.name) ? -1 : nil
      return sign.map { sign in
        postings(of: part, in: row, durations).map { (sign: sign * $0.sign, selection: $0.selection) }
      } ?? []
    }
  }

  /// The postings behind one cell: those of its column and its row, within the span of the query.
  private func selection(
    of column: ReportColumn, in row: RowKey, _ durations: ProductDurations
  ) -> PostingSelection {
    let first = max(from, granularity.firstDay(of: row.bucket))
    let end = min(to, granularity.firstDay(after: row.bucket))
    let isOfCohort = column.terms.contains { $0.isOfCohort }
    // The payments of a cohort add up with its age; every other measure with an age is of this age.
    let isOfAge = report.hasAges && isOfCohort
    let addsUp = report.agesAreMonths && !column.isOfOneAge
    let ages = isOfAge ? (addsUp ? 0...max(0, row.age) : row.age...row.age) : nil
    let isStock = column.span != .bucket
    let cohortStart = granularity.firstDay(of: row.bucket)
    return PostingSelection(
      signs: signs(of: column), reasons: column.terms.first?.reasons, measure: measure(of: column),
      mark: mark(of: column), isOfCohort: isOfCohort,
      from: isStock ? nil : isOfCohort ? cohortStart : first,
      earliest: isStock ? nil : isOfCohort ? earliestDay(of: column, in: cohortStart, ages) : first,
      to: column.span == .opening ? first : isOfCohort ? granularity.firstDay(after: row.bucket) : end,
      until: latestEnd(of: row.bucket, ages), ages: ages, dimensions: dimensions(of: row, durations),
      currency: report.isByCurrency ? row.currency : nil,
      knowledge: isStock && knowledge == .firstClosed ? .whenClosed(end.advanced(by: -1)) : knowledge,
      reachedPeriod: report.name == .retention && !isOfCohort ? reachedPeriod(of: row) : nil)
  }

  /// The sign with which each kind of posting counts in a column.
  private func signs(of column: ReportColumn) -> [Posting.Kind: Int64] {
    Dictionary(
      column.terms.flatMap { term in
        term.kind.ofPostings.map { kind in
          let isReturn = term.kind == .earlyLost && Report.returningKinds.contains(kind)
          return (kind, isReturn ? -term.sign : term.sign)
        }
      },
      uniquingKeysWith: { first, _ in first })
  }

  /// The values of dimensions that the postings of a row have: those of the filters, and those of its groups.
  private func dimensions(of row: RowKey, _ durations: ProductDurations) -> [Dimension: Set<String>] {
    var dimensions = filters
    for (dimension, value) in zip(groupBy, row.groups) {
      guard dimension == .duration else {
        dimensions[dimension] = [value]
        continue
      }
      let products = durations.products(value)
      let allowed = dimensions[.product] ?? []
      // No product has an empty id, so that a length without products selects nothing.
      let both = allowed.isEmpty ? products : products.intersection(allowed)
      dimensions[.product] = both.isEmpty ? [""] : both
    }
    return dimensions
  }

  /// Postings that can be of an earlier day than their cohort: Apple can refund a renewal that it charged early before its
  /// period begins, and our clock dates our answers.
  private static let precedingKinds: Set<Posting.Kind> = [.refundOfPurchase, .refundAnswered]

  /// The first day on which a posting counts in cohorts that begin on `start` or later; `nil`: not certain.
  private func earliestDay(
    of column: ReportColumn, in start: ReportDay, _ ages: ClosedRange<Int64>?
  ) -> ReportDay? {
    // An age is the number of calendar months between the two days.
    if report.agesAreMonths, let ages, ages.lowerBound >= 0 { return start.firstOfMonth }
    let kinds = column.terms.flatMap(\.kind.ofPostings)
    return kinds.contains(where: Self.precedingKinds.contains) ? nil : start
  }

  /// The day after the last one on which a posting of these ages counts in the cohorts of a bucket.
  private func latestEnd(of bucket: ReportDay, _ ages: ClosedRange<Int64>?) -> ReportDay {
    // The age of a payment is the number of calendar months between the two days. What becomes active can do so some time
    // before or after its period begins, which gives it its cohort.
    // The caller names the age of a row.
    guard report.name == .lifetimeValue, let ages, (-Self.maxDays..<Self.maxDays).contains(ages.upperBound)
    else { return to }
    let lastMonth = granularity.firstDay(after: bucket).advanced(by: -1).firstOfMonth
    return min(to, lastMonth.advanced(byMonths: ages.upperBound + 1))
  }

  /// The bit of ``Posting/marks`` that the postings of a column have; `nil`: any.
  private func mark(of column: ReportColumn) -> Int64? {
    guard let kind = column.terms.first(where: { $0.kind.isMarked })?.kind else { return nil }
    return granularity.rawValue + (kind == .earlyLost ? Posting.earlyShift : 0)
  }

  private func measure(of column: ReportColumn) -> PostingSelection.Measure {
    if column.terms.contains(where: { $0.kind == .payersOfBucket }) { return .sign }
    guard column.terms.first?.field == .amount else { return .count }
    return isOfProceeds ? .proceeds : .amount
  }

  /// The period that the members behind a row had time to reach; `nil`: the first one, which all reach.
  private func reachedPeriod(of row: RowKey) -> Int64? {
    // Higher ages have no rows, and no member had time to reach them.
    row.age > 1 ? min(row.age, SubscriptionWalk.periodLimit + 1) : nil
  }
}

/// A purchase with postings behind a value, and its part of the value.
package struct ReportPurchase: Hashable, Sendable {
  /// The `originalTransactionId`.
  package let line: String
  /// If its postings have several values of this or the next texts, the greatest of each.
  package let productID: String
  /// ISO 3166-1 alpha-3; empty if Apple's document has none.
  package let storefront: String
  /// ISO 4217; empty without an amount.
  package let currency: String
  /// ``Posting/reason``; empty without one.
  package let reason: String
  /// The latest of its postings.
  package let effectiveAt: Instant
  /// Its part of the value, in the unit of the column; never 0.
  package let value: Int64

  package init(
    line: String, productID: String, storefront: String, currency: String, reason: String,
    effectiveAt: Instant, value: Int64
  ) {
    self.line = line
    self.productID = productID
    self.storefront = storefront
    self.currency = currency
    self.reason = reason
    self.effectiveAt = effectiveAt
    self.value = value
  }
}

/// Some of the purchases behind a value, ordered by their `originalTransactionId`.
package struct ReportPurchasePage: Hashable, Sendable {
  package let purchases: [ReportPurchase]
  /// The purchases up to this one were examined; `nil`: all.
  package let end: String?

  package init(_ purchases: [ReportPurchase], upTo end: String?) {
    self.purchases = purchases
    self.end = end
  }
}
