package import AppStore
package import Entitlements

/// The parameters of a report.
package struct ReportQuery: Sendable {
  /// A property by which rows are grouped and filtered.
  package enum Dimension: Int64, Hashable, Sendable, CaseIterable {
    /// The App Store product id.
    case product
    /// The subscription group.
    case group
    /// The storefront of the transaction, ISO 3166-1 alpha-3.
    case storefront
    /// The kind and payment mode of the offer of the period; empty for the regular price.
    case offerKind
    /// The length of the product's periods, such as `P1M`.
    case duration
    /// ``Posting/reason``.
    case reason
  }

  /// The report, with the definitions of its columns.
  package var report: Report
  /// The first day; in reports with ages the first one of its bucket.
  package var from: ReportDay
  /// The day after the last one.
  package var to: ReportDay
  /// At least ``Report/finest``.
  package var granularity: Granularity
  /// The dimensions whose values each get rows; without any, a bucket has one row for each currency.
  package var groupBy: [Dimension]
  /// The allowed values of dimensions; a dimension without any is not filtered.
  package var filters: [Dimension: Set<String>]
  /// Answers amounts as the operator's estimated part of the prices.
  package var isOfProceeds: Bool
  /// The corrections that count: all, or those up to a closing.
  package var knowledge: Knowledge
  /// Whether the sums must show the days of the rates of amounts, for conversion; see ``Posting/chargedOn``.
  package var isConverted = false
  /// The maximum number of groups; `nil`: all.
  package var maxGroups: Int?
  /// The lengths of products' periods that are known without their subscriptions.
  package var durations = ProductDurations()
  /// The instant of the last day after which changes do not count; `nil`: the whole day.
  package var asOf: Instant?

  /// The maximum number of days of a query. The contract states it, for postings too.
  package static let maxDays: Int64 = 800

  /// The instant as of which a report is answered.
  package enum Knowledge: Hashable, Sendable {
    /// All that is known.
    case now
    /// All that was known when a day closed.
    case whenClosed(ReportDay)
    /// Of each day, what was known when it closed.
    case firstClosed
  }

  /// Creates a query whose buckets are at least ``Report/finest``. A report with ages has months or longer, and
  /// begins with the first day of its bucket.
  package init(
    _ name: Report.Name, from: ReportDay, to: ReportDay, by granularity: Granularity = .day,
    groupBy: [Dimension] = [], filters: [Dimension: Set<String>] = [:], isOfProceeds: Bool = false,
    knowledge: Knowledge = .now
  ) {
    let report = Report.named(name)
    // Cohorts of a day are too small to compare.
    let granularity =
      report.hasAges && granularity == .day
      ? .month : granularity.rawValue < report.finest.rawValue ? report.finest : granularity
    self.report = report
    // Cohorts are whole.
    self.from = report.hasAges ? granularity.firstDay(of: from) : from
    self.to = to
    self.granularity = granularity
    self.groupBy = groupBy
    self.filters = filters
    self.isOfProceeds = isOfProceeds
    self.knowledge = knowledge
  }

  /// The day after the last one on which something counts in a row: of its bucket, or of the month of its age. The members
  /// of the last month of a quarter or year are the last ones to reach an age.
  package func end(of bucket: ReportDay, age: Int64) -> ReportDay {
    let end = granularity.firstDay(after: bucket)
    guard report.agesAreMonths else { return end }
    return end.advanced(by: -1).firstOfMonth.advanced(byMonths: age + 1)
  }

  /// Leaves the days after the last closed one out of a retention report: no subscription had time to reach a period that
  /// begins on them.
  package mutating func leaveOutOpenDays(after closed: ReportDay) {
    if report.name == .retention { to = min(to, closed.advanced(by: 1)) }
  }
}

/// The lengths of the periods of products: as the catalog states them, otherwise as their subscriptions showed them.
package struct ProductDurations: Hashable, Sendable {
  private var all: [String: PeriodLength] = [:]
  /// The products of the catalog.
  private var stated: Set<String> = []

  package init() {}

  /// Those of the catalog.
  package init(_ app: AppDefinition) {
    for (productID, product) in app.products {
      if let length = product.price.flatMap({ PeriodLength($0.period) }) { all[productID] = length }
    }
    stated = Set(all.keys)
  }

  /// Adds the length that the reason of a posting of ``Posting/Kind/joinedCohort`` has; other reasons have none. Of two
  /// lengths of one product the longer one counts.
  package mutating func add(_ reason: String, of productID: String) {
    guard reason.hasPrefix("P"), !stated.contains(productID), let length = CohortLength(reason).later
    else { return }
    if let known = all[productID], known.perYear <= length.perYear { return }
    all[productID] = length
  }

  /// Such as `P1M`; empty for a product without subscriptions.
  package subscript(productID: String) -> String { all[productID]?.rawValue ?? "" }

  /// The products with a length.
  package func products(_ length: String) -> Set<String> {
    Set(all.filter { $0.value.rawValue == length }.keys)
  }
}

extension ReportQuery {
  /// The values of ``groupBy`` of a cell with these dimensions and reason.
  package func groups(
    _ dimensions: Posting.Dimensions, _ reason: String, _ durations: ProductDurations
  ) -> [String] {
    groupBy.map { dimension in
      switch dimension {
      case .product: dimensions.productID
      case .group: dimensions.group
      case .storefront: dimensions.storefront
      case .offerKind: dimensions.offerKind
      case .duration: durations[dimensions.productID]
      case .reason: reason
      }
    }
  }

  /// Whether the filters allow a cell with these dimensions.
  package func allows(_ dimensions: Posting.Dimensions) -> Bool {
    filters.allSatisfy { dimension, allowed in
      guard !allowed.isEmpty else { return true }
      return switch dimension {
      case .product: allowed.contains(dimensions.productID)
      case .group: allowed.contains(dimensions.group)
      case .storefront: allowed.contains(dimensions.storefront)
      case .offerKind: allowed.contains(dimensions.offerKind)
      case .duration, .reason: true
      }
    }
  }
}

extension ReportQuery {
  /// Adds up postings as a store does, for tests and for comparison with a store.
  ///
  /// - Parameters:
  ///   - postings: all postings with the instants at which they became known.
  ///   - delay: how long after its end a day closes, in milliseconds.
  /// - Returns: one element for each day and group that the query selects.
  package func sums(
    of postings: [(posting: Posting, knownAt: Instant)], closingAfter delay: Int64
  ) -> ReportSums {
    var durations = durations
    for (posting, _) in postings where posting.kind == .joinedCohort {
      durations.add(posting.reason, of: posting.dimensions.productID)
    }
    return sums(of: postings, closingAfter: delay, durations)
  }

  /// As ``sums(of:closingAfter:)``, with known lengths of the products' periods.
  package func sums(
    of postings: [(posting: Posting, knownAt: Instant)], closingAfter delay: Int64,
    _ durations: ProductDurations
  ) -> ReportSums {
    var sums: [ReportSum: ReportCell.Sums] = [:]
    for (posting, knownAt) in postings {
      for cell in posting.cells {
        let known = max(ReportDay(closingAfter: knownAt, delay: delay), cell.key.day)
        guard isConverted || cell.key.age != ReportCell.ratedAge,
          let day = day(of: cell.key, known: known)
        else { continue }
        let key = ReportSum(
          kind: cell.key.kind, day: day, groups: groups(cell.key.dimensions, cell.key.reason, durations),
          reason: cell.key.reason, currency: cell.key.currency, cohortDay: cell.key.cohortDay,
          age: cell.key.age, sums: ReportCell.Sums())
        sums[key, default: ReportCell.Sums()] += cell.sums
      }
    }
    return ReportSums(
      sums.lazy.map { key, sums in
        var sum = key
        sum.sums = sums
        return sum
      })
  }

  /// The day on which a cell counts in this query; `nil`: on none.
  private func day(of key: ReportCell.Key, known: ReportDay) -> ReportDay? {
    guard allows(key.dimensions) else { return nil }
    var day = key.day
    switch knowledge {
    case .now: break
    case .whenClosed(let last): if known > last { return nil }
    case .firstClosed:
      if report.stockKinds.contains(key.kind) {
        day = known
      } else if known != day {
        return nil
      }
    }
    return day < to ? day : nil
  }
}

/// The effect of one revision of a closed day on the sums of a query.
package struct ReportChange: Hashable, Sendable {
  /// The day that changed.
  package let day: ReportDay
  /// The day with whose closing the change became known.
  package let knownDay: ReportDay
  /// The difference that it makes to the sums of ``day``.
  package let sum: ReportSum

  package init(day: ReportDay, knownDay: ReportDay, sum: ReportSum) {
    self.day = day
    self.knownDay = knownDay
    self.sum = sum
  }
}
