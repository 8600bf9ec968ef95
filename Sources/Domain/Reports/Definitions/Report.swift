/// A report: its columns with their definitions.
package struct Report: Sendable {
  /// The reports. The raw values are those of requests, command lines and addresses, so they do not change.
  package enum Name: String, Hashable, Sendable, CaseIterable {
    /// Stocks at the end of a bucket.
    case subscriptions
    /// Beginnings, ends and changes, which explain the difference of two stocks.
    case movements
    /// Trials by the day of their start, with their outcomes by now.
    case trials
    /// Annual recurring revenue and its movements.
    case recurringRevenue = "mrr"
    /// Expansion and contraction of recurring revenue, by cause.
    case recurringChanges = "mrr-changes"
    /// Charges, refunds and reversals by their own days.
    case revenue
    /// Refunds by their own day, and refunded purchases by the day of the purchase.
    case refunds
    /// Consumption requests and Apple's decisions, by the day of the request.
    case refundRequests = "refund-requests"
    /// How many of the subscriptions before a bucket left in it: gross and net.
    case churnRate = "churn-rate"
    /// Subscriptions that reached their n-th paid period, by the month of the first one.
    case retention
    /// Subscriptions that are active at the end of the n-th month after the first payment.
    case retentionByMonth = "retention-months"
    /// Payers with an active subscription at the end of the n-th month after their first one.
    case retentionOfPayers = "retention-payers"
    /// Realised value by the month of the payer's first charge.
    case lifetimeValue = "ltv"
    /// Failed payments, grace periods and recoveries.
    case billing
    /// Ends of paid periods by reason.
    case churnReasons = "churn"
    /// Purchases that are no subscriptions.
    case oneTime = "one-time"
    /// Payers with a year of paid service, by which Apple's commission falls.
    case paidYears = "paid-years"
    /// Commitments and their instalments.
    case commitments
    /// Withdrawn consents of parents or guardians, with their deadlines.
    case consents
  }

  /// The edition of the rules by which postings are derived. It grows when they change what a closed day would have been.
  package static let edition: Int64 = 1

  package let name: Name
  /// Its heading for people, in English.
  package let title: String
  /// In the order in which tables and exports have them.
  package let columns: [ReportColumn]
  /// Whether each currency has its rows.
  package let isByCurrency: Bool
  /// Whether each row has an age, such as the number of a period.
  package let hasAges: Bool

  init(
    _ name: Name, _ title: String, isByCurrency: Bool = false, hasAges: Bool = false,
    _ columns: [ReportColumn]
  ) {
    self.name = name
    self.title = title
    self.isByCurrency = isByCurrency
    self.hasAges = hasAges
    self.columns = columns
  }

  /// The report of a name.
  package static func named(_ name: Name) -> Report {
    switch name {
    case .subscriptions: subscriptions
    case .movements: movements
    case .trials: trials
    case .recurringRevenue: recurringRevenue
    case .recurringChanges: recurringChanges
    case .revenue: revenue
    case .refunds: refunds
    case .refundRequests: refundRequests
    case .churnRate: churnRate
    case .retention: retention
    case .retentionByMonth: retentionByMonth
    case .retentionOfPayers: retentionOfPayers
    case .lifetimeValue: lifetimeValue
    case .billing: billing
    case .churnReasons: churnReasons
    case .oneTime: oneTime
    case .paidYears: paidYears
    case .commitments: commitments
    case .consents: consents
    }
  }

  /// The finest granularity: cohorts whose ages are months are those of a month.
  package var finest: Granularity {
    switch name {
    case .retention: .week
    case .lifetimeValue, .retentionByMonth, .retentionOfPayers: .month
    default: .day
    }
  }

  /// Whether amounts can be converted. Cohorts are not, because their sums are not of one day.
  package var isConvertible: Bool {
    isByCurrency && !hasAges && (name == .recurringRevenue || columns.allSatisfy { $0.span == .bucket })
  }

  /// The dimensions by which rows can be grouped. Stocks have no reasons, and cohorts of an age are not
  /// grouped by them.
  package var dimensions: [ReportQuery.Dimension] {
    ReportQuery.Dimension.allCases.filter { $0 != .reason || (stockKinds.isEmpty && !hasAges) }
  }

  /// Whether ages are months after that of the cohort.
  package var agesAreMonths: Bool {
    switch name {
    case .lifetimeValue, .retentionByMonth, .retentionOfPayers: true
    default: false
    }
  }

  /// The postings that are added up over all days.
  package var stockKinds: Set<Posting.Kind> { kinds { $0.span != .bucket } }
  /// The postings that are added up over the days of a bucket.
  package var flowKinds: Set<Posting.Kind> { kinds { $0.span == .bucket } }
  /// The postings that are added up by their cohort.
  package var cohortKinds: Set<Posting.Kind> {
    Set(columns.flatMap(\.terms).filter(\.isOfCohort).map(\.kind))
  }

  private func kinds(_ matches: (ReportColumn) -> Bool) -> Set<Posting.Kind> {
    Set(columns.filter(matches).flatMap(\.terms).filter { !$0.isOfCohort }.map(\.kind))
  }
}

// The report of withdrawn consents.
extension Report {
  static let consents = Report(
    .consents, "Withdrawn consents of parents or guardians by the day of the withdrawal",
    [
      .count("withdrawn", [.consentWithdrawn], ofCohort: true, "Withdrawals (RESCIND_CONSENT)."),
      .count("settled", [.consentSettled], ofCohort: true, "Of these, those that the operator settled."),
      .count(
        "overdue", [.consentOverdue], ofCohort: true, "Of these, those that were open at their deadline."),
      .count(
        "open", [.consentWithdrawn], ofCohort: true, less: [.consentSettled], "Withdrawn less settled."),
    ])
}
