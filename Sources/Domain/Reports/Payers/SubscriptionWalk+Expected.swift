internal import AppStore
internal import Entitlements

// The recurring revenue that the next renewals bring.
extension SubscriptionWalk {
  /// The expected revenue of a subscription in force.
  struct Expected {
    let dimensions: Posting.Dimensions
    let transactionID: String
    let annual: Int64
    let proceeds: Int64
    let currency: String
    /// The day of its exchange rate; `nil` if the app has no rates.
    let chargedOn: ReportDay?
  }

  /// Records the seats that are added to a period, and what is expected after it, from the beginning of its access to `end`, by
  /// the reports about its renewal in their order.
  mutating func addAmounts(
    of period: SubscriptionPeriod, _ reports: [RenewalReport], until end: Instant
  ) {
    expect(after: period, reports, at: inForceSince)
    // Most periods have neither.
    if reports.isEmpty, period.additions.isEmpty { return }
    let additions = period.additions.map(\.start)
    let instants = (additions + reports.map(\.inForceFrom)).filter { inForceSince < $0 && $0 < end }
    for instant in instants.sorted() {
      if additions.contains(instant) { addSeats(to: period, at: instant) }
      expect(after: period, reports, at: instant)
    }
  }

  private mutating func expect(
    after period: SubscriptionPeriod, _ reports: [RenewalReport], at instant: Instant
  ) {
    let report = reports.last { $0.inForceFrom <= instant }
    expect(amount(after: period, report, at: instant), period, report, at: instant)
  }

  /// Records that nothing is expected any longer.
  mutating func endExpected(at instant: Instant) {
    guard let expected else { return }
    post(expected, -1, at: instant)
    self.expected = nil
  }

  /// Replaces the recurring revenue that is expected from the next period; 0 ends it. Nothing is posted if
  /// it stays the same.
  private mutating func expect(
    _ annual: Int64, _ period: SubscriptionPeriod, _ report: RenewalReport?, at instant: Instant
  ) {
    let currency = report?.currency ?? period.currency
    let chargedOn = stock.flatMap { rateDay(of: $0) }
    if let expected, expected.annual == annual, expected.dimensions == period.dimensions,
      expected.currency == currency, expected.chargedOn == chargedOn
    {
      return
    }
    endExpected(at: instant)
    guard annual != 0 else { return }
    let share = history.paidYears.share(of: period.dimensions.group, at: instant)
    let new = Expected(
      dimensions: period.dimensions, transactionID: period.transactionID, annual: annual,
      proceeds: Share.part(share, of: annual), currency: currency, chargedOn: chargedOn)
    post(new, 1, at: instant)
    expected = new
  }

  private mutating func post(_ expected: Expected, _ sign: Int64, at instant: Instant) {
    var posting = Posting(
      .expectedAnnual, at: instant, line: line, transactionID: expected.transactionID, expected.dimensions)
    (posting.amount, posting.proceeds) = (sign * expected.annual, sign * expected.proceeds)
    (posting.currency, posting.chargedOn) = (expected.currency, expected.chargedOn)
    append(posting)
  }

  /// The announced price for a year; 0 with auto-renew off, and if it is not known.
  private func amount(
    after period: SubscriptionPeriod, _ report: RenewalReport?, at instant: Instant
  ) -> Int64 {
    // The payments of a commitment go on after a cancellation.
    if report?.isOff == true, period.commitment?.isEnding ?? true { return 0 }
    let productID = report?.nextProductID ?? period.dimensions.productID
    let isSame = productID == period.dimensions.productID
    if let price = report?.renewalPrice, TransactionFact.reportedPrices.contains(price) {
      let offer = report?.offerPeriod.flatMap(PeriodLength.init(rawValue:))
      let length = offer ?? standardLength(after: period, productID, report?.billingPlan)
      // Apple's price is that of one seat.
      let (seats, overflow) = price.multipliedReportingOverflow(by: max(1, period.seats(at: instant)))
      return overflow || !TransactionFact.reportedPrices.contains(seats) ? 0 : seats.forYear(of: length)
    }
    return isSame ? period.annual(at: instant) : 0
  }

  /// The length of the next period, of a product and a billing plan, without an offer; `nil` if it is not known.
  private func standardLength(
    after period: SubscriptionPeriod, _ productID: String, _ plan: BillingPlanType?
  ) -> PeriodLength? {
    let isSame = productID == period.dimensions.productID
    let isOfCommitment =
      switch plan {
      case .monthly?: true
      case .billedUpfront?: false
      case .unrecognized?, nil: isSame && period.isOfCommitment
      }
    if isOfCommitment { return .month }
    let known = isSame && !period.isOfCommitment ? period.standardDuration : nil
    let standard = known ?? app.products[productID]?.price.flatMap { PeriodLength($0.period) }
    // A commitment is one year.
    return standard ?? (period.isOfCommitment ? .year : period.isTrial ? nil : period.duration)
  }
}

extension Int64 {
  /// The sum of the prices of a year; 0 on overflow, and without a length.
  fileprivate func forYear(of length: PeriodLength?) -> Int64 {
    let (product, overflow) = multipliedReportingOverflow(by: length?.perYear ?? 0)
    return overflow ? 0 : product
  }
}
