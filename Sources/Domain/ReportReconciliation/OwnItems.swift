internal import AppStore
internal import AppStoreReports
internal import Reports

/// Our items in the buckets of Apple's reports.
struct OwnItems {
  private(set) var quantities: [ReconciliationBucket: Int64] = [:]
  private(set) var candidates: [ReconciliationBucket: [Candidate]] = [:]
  /// The estimated credits of upgrades, as refunds.
  private(set) var credits: [(bucket: ReconciliationBucket, candidate: Candidate)] = []
  /// Payments in the grace period whose period starts before the postings, in buckets without a price.
  private(set) var earlierPeriods: [(bucket: ReconciliationBucket, candidate: Candidate)] = []
  /// Subscriptions in the grace period, by the bucket that counts them as active.
  private var graceByColumn: [ReconciliationBucket: Int64] = [:]
  private let zone: ReportZone
  private let reports: [AppStoreReport: Set<CalendarDay>]
  private let grace: GracePayments

  /// - postings: all of the days and of the day before and after; a posting without a line is the sum of a stock before
  ///   them.
  /// - reports: the days of each report.
  init(_ postings: [KnownPosting], _ zone: ReportZone, _ reports: [AppStoreReport: Set<CalendarDay>]) {
    self.zone = zone
    self.reports = reports
    let standing = postings.standing
    grace = GracePayments(standing)
    for known in standing { addMoney(known) }
    addFlows(standing)
    addStocks(standing)
    addEarlierPeriods()
  }

  /// Adds a posting to a bucket of the day of `instant`.
  private mutating func add(
    _ bucket: ReconciliationBucket, _ quantity: Int64, _ known: KnownPosting, at instant: Instant
  ) {
    quantities[bucket, default: 0] += quantity
    var candidate = known.candidate(at: instant)
    if [.charge, .flow(.continued), .flow(.changed)].contains(bucket.subject) {
      candidate.periodStart = grace.start(of: known.posting.line, paidAt: instant)
    }
    candidates[bucket, default: []].append(candidate)
  }

  /// Whether a report of the day is compared. Without it, what we count on the day could explain anything.
  private func isCompared(_ day: CalendarDay, _ report: AppStoreReport) -> Bool {
    reports[report]?.contains(day) ?? false
  }

  // MARK: Money

  /// Adds a charge or a refund to the reports of sales. The reports have prices in hundredths. An upgrade
  /// credit is kept apart, because Apple's reports have it as a refund at times.
  private mutating func addMoney(_ known: KnownPosting) {
    let posting = known.posting
    guard [.charge, .refund, .upgradeCredit].contains(posting.kind), posting.amount != 0 else { return }
    let instant = posting.kind == .charge ? grace.payment(of: posting) : posting.effectiveAt
    let day = zone.day(of: instant)
    for report in [AppStoreReport.sales, .subscriber] where isCompared(day, report) {
      guard report == .sales || posting.concernsSubscription else { continue }
      var bucket = ReconciliationBucket(
        report: report, day: day, productID: posting.dimensions.productID,
        country: posting.dimensions.storefront, subject: posting.kind == .charge ? .charge : .refund)
      bucket.price = (abs(posting.amount) + 5) / 10
      bucket.currency = posting.currency
      // 70 % or 85 %.
      bucket.isAfterOneYear = abs(posting.proceeds) * 100 > abs(posting.amount) * 77
      if posting.kind == .upgradeCredit {
        credits.append((bucket, known.candidate(at: instant)))
      } else {
        add(bucket, 1, known, at: instant)
      }
    }
  }

  // MARK: Flows

  /// Adds the changes of subscriptions as events.
  private mutating func addFlows(_ postings: [KnownPosting]) {
    guard reports[.subscriptionEvent] != nil else { return }
    // One period is one event, whatever else it changes.
    var periods: [PeriodKey: (flow: SubscriptionFlow, known: KnownPosting)] = [:]
    for known in postings {
      guard let flow = SubscriptionFlow(known.posting) else { continue }
      guard flow.beginsPeriod else {
        addFlow(flow, known)
        continue
      }
      let key = PeriodKey(line: known.posting.line, at: grace.payment(of: known.posting))
      if let other = periods[key], other.known.posting.kind.precedence <= known.posting.kind.precedence {
        continue
      }
      periods[key] = (flow, known)
    }
    for (flow, known) in periods.values { addFlow(flow, known) }
  }

  /// The beginning of a period, which is one event of a subscription.
  private struct PeriodKey: Hashable {
    let line: String
    let at: Instant
  }

  /// Adds one event, if the report of its day is compared.
  private mutating func addFlow(_ flow: SubscriptionFlow, _ known: KnownPosting) {
    let posting = known.posting
    let instant = flow.beginsPeriod ? grace.payment(of: posting) : posting.effectiveAt
    let day = zone.day(of: instant)
    guard isCompared(day, .subscriptionEvent) else { return }
    var bucket = ReconciliationBucket(
      report: .subscriptionEvent, day: day, productID: posting.dimensions.productID,
      country: posting.dimensions.storefront, subject: .flow(flow))
    bucket.offer = posting.dimensions.paymentMode
    add(bucket, max(1, abs(posting.count)), known, at: instant)
  }

  /// Adds payments in the grace period whose charge is not among the postings.
  private mutating func addEarlierPeriods() {
    for known in grace.ofEarlierPeriods {
      let (dimensions, day) = (known.posting.dimensions, zone.day(of: known.posting.effectiveAt))
      let subjects: [(AppStoreReport, ReconciliationBucket.Subject)] = [
        (.sales, .charge), (.subscriber, .charge), (.subscriptionEvent, .flow(.continued)),
      ]
      for (report, subject) in subjects where isCompared(day, report) {
        if report == .subscriptionEvent, grace.isConversion(known.posting) { continue }
        let bucket = ReconciliationBucket(
          report: report, day: day, productID: dimensions.productID, country: dimensions.storefront,
          subject: subject)
        earlierPeriods.append((bucket, known.candidate(at: known.posting.effectiveAt)))
      }
    }
  }

  // MARK: Stocks

  /// Adds the numbers of subscriptions at the end of each day that is compared: the sums of all changes
  /// until then.
  private mutating func addStocks(_ postings: [KnownPosting]) {
    let stocks = postings.filter { $0.posting.kind.isCountedInReports }
      .sorted { $0.posting.effectiveAt < $1.posting.effectiveAt }
    var sums: [ReconciliationBucket: Int64] = [:]
    var grace: [ReconciliationBucket: Int64] = [:]
    var changed: [ReconciliationBucket: [Candidate]] = [:]
    var next = stocks.startIndex
    for day in (reports[.subscription] ?? []).sorted() {
      let end = zone.start(of: day.advanced(by: 1))
      while next < stocks.endIndex, stocks[next].posting.effectiveAt < end {
        for (bucket, quantity) in Self.stocks(of: stocks[next].posting, CalendarDay(number: 0)) {
          sums[bucket, default: 0] += quantity
          if !stocks[next].posting.line.isEmpty {
            let known = stocks[next]
            changed[bucket, default: []].append(known.candidate(at: known.posting.effectiveAt))
          }
        }
        if stocks[next].posting.kind == .inGrace {
          let column = SubscriptionColumn(offerKind: stocks[next].posting.dimensions.offerKind)
          let active = Self.bucket(of: stocks[next].posting, CalendarDay(number: 0), column.rawValue)
          grace[active, default: 0] += stocks[next].posting.count
        }
        next += 1
      }
      for (bucket, sum) in sums where sum != 0 { quantities[bucket.with { $0.day = day }] = sum }
      // Those that came or went in the days of the comparison; what existed before is a sum.
      for (bucket, all) in changed { candidates[bucket.with { $0.day = day }] = all.reversed() }
      for (bucket, sum) in grace where sum != 0 { graceByColumn[bucket.with { $0.day = day }] = sum }
    }
  }

  /// The columns of the report of subscriptions that a posting counts in, with its quantities: the number
  /// of subscriptions, and the recurring revenue of paid ones at the standard price.
  private static func stocks(
    of posting: Posting, _ day: CalendarDay
  ) -> [(bucket: ReconciliationBucket, quantity: Int64)] {
    let column =
      switch posting.kind {
      case .inRetry: "Billing Retry"
      case .inGrace: "Grace Period"
      default: SubscriptionColumn(offerKind: posting.dimensions.offerKind).rawValue
      }
    let bucket = bucket(of: posting, day, column)
    guard posting.kind == .active, column == SubscriptionColumn.standard.rawValue else {
      return [(bucket, posting.count)]
    }
    let recurring = bucket.with {
      $0.subject = .stock(recurringRevenue)
      $0.currency = posting.currency
    }
    return [(bucket, posting.count), (recurring, posting.amount)]
  }

  private static func bucket(
    of posting: Posting, _ day: CalendarDay, _ column: String
  ) -> ReconciliationBucket {
    ReconciliationBucket(
      report: .subscription, day: day, productID: posting.dimensions.productID,
      country: posting.dimensions.storefront, subject: .stock(column))
  }
}

extension OwnItems {
  /// The same with subscriptions in the grace period in their own column only.
  var withGraceApart: OwnItems {
    var items = self
    for (bucket, grace) in graceByColumn {
      items.quantities[bucket, default: 0] -= grace
      if items.quantities[bucket] == 0 { items.quantities[bucket] = nil }
    }
    return items
  }
}
