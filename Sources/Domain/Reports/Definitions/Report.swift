/// A report: its columns with their definitions.
package struct Report: Sendable {
  /// The reports. The raw values are those of requests, command lines and addresses, so they do not change.
  package enum Name: String, Hashable, Sendable, CaseIterable {
    case subscriptions
    case movements
    case trials
    case recurringRevenue = "mrr"
    case recurringChanges = "mrr-changes"
    case revenue
    case refunds
    case refundRequests = "refund-requests"
    case churnRate = "churn-rate"
    case retention
    case retentionByMonth = "retention-months"
    case retentionOfPayers = "retention-payers"
    case lifetimeValue = "ltv"
    case billing
    case churnReasons = "churn"
    case oneTime = "one-time"
    case paidYears = "paid-years"
    case commitments
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

  /// Whether a column adds up amounts.
  package var hasAmounts: Bool { columns.contains { $0.terms.contains { $0.field == .amount } } }

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
