package import AppStoreReports

/// The rule that explains a difference, so that it is no finding.
package enum ExplanationRule: String, Hashable, Sendable, CaseIterable {
  /// It is in the neighbouring day of the other zone.
  case timeZone = "TIME_ZONE"
  /// It became known after the report was made, or Apple's row is in a report of the next three days.
  case lateClose = "LATE_CLOSE"
  /// Apple charges up to a day before the period; one side has the day of the charge, the other that of the period.
  case earlyRenewal = "EARLY_RENEWAL"
  /// A payment in Apple's grace period is dated back to the start of its period; one side has the day of the payment.
  case gracePeriod = "GRACE_PERIOD"
  /// Apple and we have another name for the same period.
  case eventName = "EVENT_NAME"
  /// Several pieces of one transaction.
  case quantity = "QUANTITY"
  /// An estimated credit for the unused part of an upgraded period.
  case upgradeCredit = "UPGRADE_CREDIT"
  /// A refund of a part of the price, rounded to a hundredth.
  case partialRefund = "PARTIAL_REFUND"
  /// The proceeds of all rows of the country are less by the same part.
  case tax = "TAX"
  /// The share is that of one of Apple's programmes, which gives more than the standard share.
  case program = "PROGRAM"
}

/// A difference that no rule explains.
package struct ReconciliationFinding: Hashable, Sendable {
  /// The kind of a difference. The raw values are part of the API.
  package enum Kind: String, Hashable, Sendable {
    /// Apple counts what no stored document states.
    case neverSeen = "NEVER_SEEN"
    /// We count what Apple does not.
    case notPaid = "NOT_PAID"
    /// The proceeds of a row are not the share of its price.
    case proceeds = "PROCEEDS"
  }

  /// The kind of the difference.
  package let kind: Kind
  /// The items that were compared.
  package let bucket: ReconciliationBucket
  /// Of the bucket; of recurring revenue, thousandths a year.
  package let appleQuantity: Int64
  /// The sum of our postings in the unit of ``appleQuantity``.
  package let ourQuantity: Int64
  /// Of one piece in thousandths: what Apple states, and our estimate; only for ``Kind/proceeds``.
  package var proceeds: (apple: Int64, ours: Int64)?
  /// Our transactions in the bucket, at most 100: it cannot be known which of equal ones is meant.
  package var candidates: [String] = []
  /// Apple's rows, as `FILE:LINE`, at most 100.
  package var rows: [String] = []

  /// Positive where Apple counts more.
  package var difference: Int64 { appleQuantity - ourQuantity }

  /// Compares the ``difference``, not the two quantities, and leaves ``proceeds`` out.
  package static func == (left: ReconciliationFinding, right: ReconciliationFinding) -> Bool {
    left.kind == right.kind && left.bucket == right.bucket && left.difference == right.difference
      && left.candidates == right.candidates && left.rows == right.rows
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(kind)
    hasher.combine(bucket)
  }
}

/// An explained difference.
package struct ReconciliationExplanation: Hashable, Sendable {
  /// The rule that explains it.
  package let rule: ExplanationRule
  /// Of Apple's side if it has one.
  package let bucket: ReconciliationBucket
  /// The number of explained items; of recurring revenue, thousandths a year.
  package var quantity: Int64
  /// Our transactions in the bucket, at most 100.
  package var candidates: [String] = []
}

/// The result for one report of one day.
package struct DayReconciliation: Hashable, Sendable {
  /// Apple's report.
  package let report: AppStoreReport
  /// The day of the report, in its zone.
  package let day: CalendarDay
  /// The items that are equal on both sides: subscriptions, events, or sold and refunded pieces.
  package var matched: Int64 = 0
  /// The differences that a rule explains.
  package var explained: [ReconciliationExplanation] = []
  /// The differences that remain.
  package var unexplained: [ReconciliationFinding] = []
  /// Apple's rows with an unknown event, product or country.
  package var unknownRows = 0
  /// The names of the files, sorted.
  package var files: [String] = []
}

/// Apple's payment for a product in a fiscal month, beside our estimate. Differences are listed and not
/// judged: the report has collected money only.
package struct FinanceComparison: Hashable, Sendable {
  /// The first day of the report.
  package let first: CalendarDay
  /// The last day of the report, included.
  package let last: CalendarDay
  /// The product id, which is the SKU of the report.
  package let productID: String
  /// ISO 3166-1 alpha-3.
  package let country: String
  /// ISO 4217.
  package let currency: String
  /// Sold pieces less returned ones.
  package var appleQuantity: Int64 = 0
  /// Charges less refunds, by our postings.
  package var ourQuantity: Int64 = 0
  /// Thousandths.
  package var appleShare: Int64 = 0
  /// Our estimate of ``appleShare``, in thousandths.
  package var ourShare: Int64 = 0

  /// The fiscal month, if the report covers one exactly.
  package var month: FiscalMonth? {
    let month = FiscalMonth(containing: first)
    return month.firstDay == first && month.lastDay == last ? month : nil
  }
}

/// The comparison of Apple's reports with our postings.
package struct ReconciliationResult: Sendable {
  /// In the order of days and reports.
  package var days: [DayReconciliation]
  /// One for each month, product, country and currency of the financial reports.
  package var finance: [FinanceComparison]
  /// The rows and files that could not be read or compared.
  package var notes: [ReportNote]

  /// The number of units that both sides have.
  package var matched: Int64 { days.reduce(0) { $0 + $1.matched } }
  /// The number of units in differences with a known cause.
  package var explained: Int64 { days.flatMap(\.explained).reduce(0) { $0 + $1.quantity } }
  /// The findings of all ``days``, in their order.
  package var unexplained: [ReconciliationFinding] { days.flatMap(\.unexplained) }
  /// Whether nothing is left over.
  package var isClean: Bool {
    days.allSatisfy { $0.unexplained.isEmpty }
      && !notes.contains { [.unknownEvent, .unknownProduct, .unknownCountry].contains($0.code) }
  }
}
