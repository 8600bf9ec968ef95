package import AppStore
package import AppStoreReports
internal import Reports

/// A comparison of Apple's reports with our postings, which a caller fetches in between.
package struct ReportComparison: Sendable {
  private let reader: ReportReader
  private let zone: ReportZone

  /// Reads the reports.
  ///
  /// - appleID: the app's `App Apple ID`; rows of other apps are left out. `nil`: all rows count.
  /// - Throws: the first ``ReportError``. A row with an unknown event, product or country is no error but a note of
  ///   the result.
  package init(
    _ documents: [ReportDocument], products: ProductNames, appleID: String?, zone: ReportZone
  ) throws(ReportError) {
    self.zone = zone
    reader = try ReportReader(documents, products, appleID: appleID)
  }

  /// The time of the postings that are needed: that of the reports, and the days before and after.
  package var span: Range<Instant>? {
    var days = reader.days.values.flatMap { $0 }
    for row in reader.finance { days += [row.first, row.last] }
    guard let first = days.min(), let last = days.max() else { return nil }
    // From the start of a day in UTC, for which the sums of stocks exist.
    let start = ReportZone.utc.start(of: first.advanced(by: -4))
    return start..<ReportZone.utc.start(of: last.advanced(by: 5))
  }

  /// Whether stocks are compared, which needs their sums before ``span``.
  package var needsStocks: Bool { reader.days[.subscription] != nil }

  /// Compares.
  ///
  /// - postings: all of ``span``. A posting of a stock without a line is its sum before.
  package func result(_ postings: [KnownPosting]) -> ReconciliationResult {
    let own = OwnItems(postings, zone, reader.days)
    let isApart = isGraceApart(own)
    let adjusted = isApart ? own.withGraceApart : own
    let matching = BucketMatching(reader.items, adjusted, reader.days, zone)
    var days = matching.days
    let check = ProceedsCheck(reader.proceeds)
    for explanation in check.explanations {
      days[explanation.bucket.dayKey]?.explained.append(explanation)
    }
    for finding in check.findings { days[finding.bucket.dayKey]?.unexplained.append(finding) }
    var notes = reader.notes.values.sorted { ($0.code.rawValue, $0.text) < ($1.code.rawValue, $1.text) }
    if isApart {
      notes.append(
        ReportNote(
          code: .graceApart, text: "the active columns do not count the grace period", quantity: 0))
    }
    let sorted = days.map { key, day in
      var day = day
      day.unknownRows = reader.unknownRows[key]?.count ?? 0
      day.files = reader.files[key]?.sorted() ?? []
      day.explained.sort { ($0.rule.rawValue, $0.bucket) < ($1.rule.rawValue, $1.bucket) }
      day.unexplained.sort { ($0.bucket, $0.kind.rawValue) < ($1.bucket, $1.kind.rawValue) }
      return day
    }.sorted { ($0.day, $0.report.rawValue) < ($1.day, $1.report.rawValue) }
    return ReconciliationResult(
      days: sorted, finance: FinanceComparison.all(reader.finance, postings, zone), notes: notes)
  }

  /// Whether Apple's active columns leave out subscriptions in the grace period, which Apple does not document: the
  /// reading with fewer differences.
  private func isGraceApart(_ own: OwnItems) -> Bool {
    guard needsStocks else { return false }
    func differences(_ own: OwnItems) -> Int {
      var sums: [ReconciliationBucket: Int64] = [:]
      for item in reader.items where item.bucket.report == .subscription {
        sums[item.bucket, default: 0] += item.quantity
      }
      let buckets = Set(sums.keys).union(own.quantities.keys).filter { $0.isCountOfSubscriptions }
      return buckets.filter { sums[$0] ?? 0 != own.quantities[$0] ?? 0 }.count
    }
    return differences(own.withGraceApart) < differences(own)
  }
}

extension ReconciliationBucket {
  fileprivate var isCountOfSubscriptions: Bool {
    report == .subscription && subject != .stock(recurringRevenue)
  }
}

/// A row of a Finance report.
struct FinanceRow {
  let first: CalendarDay
  let last: CalendarDay
  let productID: String
  let country: String
  let currency: String
  /// Negative for returns.
  let quantity: Int64
  let share: Int64
}

extension FinanceComparison {
  private struct Key: Hashable {
    let first: CalendarDay
    let last: CalendarDay
    let productID: String
    let country: String
    let currency: String
  }

  /// Compares by product, country and month.
  static func all(
    _ rows: [FinanceRow], _ postings: [KnownPosting], _ zone: ReportZone
  ) -> [FinanceComparison] {
    var sums: [Key: FinanceComparison] = [:]
    func add(_ key: Key, _ change: (inout FinanceComparison) -> Void) {
      let empty = FinanceComparison(
        first: key.first, last: key.last, productID: key.productID, country: key.country,
        currency: key.currency)
      change(&sums[key, default: empty])
    }
    for row in rows {
      let key = Key(
        first: row.first, last: row.last, productID: row.productID, country: row.country,
        currency: row.currency)
      add(key) {
        $0.appleQuantity += row.quantity
        $0.appleShare += row.share
      }
    }
    let months = Set(rows.map { FinancePeriod(first: $0.first, last: $0.last) })
    let standing = postings.standing
    let grace = GracePayments(standing)
    for known in standing where [.charge, .refund].contains(known.posting.kind) {
      let posting = known.posting
      let day = zone.day(of: posting.kind == .charge ? grace.payment(of: posting) : posting.effectiveAt)
      for month in months where month.first <= day && day <= month.last {
        let key = Key(
          first: month.first, last: month.last, productID: posting.dimensions.productID,
          country: posting.dimensions.storefront, currency: posting.currency)
        add(key) {
          $0.ourQuantity += posting.kind == .refund ? -1 : 1
          $0.ourShare += posting.proceeds
        }
      }
    }
    return sums.values.sorted {
      ($0.first, $0.productID, $0.country, $0.currency) < ($1.first, $1.productID, $1.country, $1.currency)
    }
  }

  private struct FinancePeriod: Hashable {
    let first: CalendarDay
    let last: CalendarDay
  }
}
