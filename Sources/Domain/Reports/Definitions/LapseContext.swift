/// A circumstance that preceded the end of a paid period, whatever its reason. An end can have several.
package enum LapseContext: String, Hashable, Sendable, CaseIterable {
  /// Apple asked for consent to a price increase in the last period.
  case priceIncrease = "PRICE_INCREASE"
  /// The payment for the next period failed.
  case failedPayment = "FAILED_PAYMENT"
  /// A product of a lower level was planned.
  case plannedDowngrade = "PLANNED_DOWNGRADE"

  /// The column of the report `churn` that counts it.
  package var column: String { "after_" + rawValue.lowercased() }

  var definition: String {
    switch self {
    case .priceIncrease: "Of lapsed: Apple asked for consent to a price increase in the last period."
    case .failedPayment: "Of lapsed: the payment for the next period failed."
    case .plannedDowngrade: "Of lapsed: a product of a lower level was planned."
    }
  }
}

/// The whole days from the start of a subscription to the cancellation that ended it.
package enum CancellationTime: String, Hashable, Sendable, CaseIterable {
  case firstDay = "DAYS_0"
  case firstWeek = "DAYS_1_TO_6"
  case firstMonth = "DAYS_7_TO_29"
  case firstQuarter = "DAYS_30_TO_89"
  case firstYear = "DAYS_90_TO_364"
  case later = "DAYS_365_OR_MORE"

  /// The band of a number of whole days.
  package init(days: Int64) {
    switch days {
    case ..<1: self = .firstDay
    case ..<7: self = .firstWeek
    case ..<30: self = .firstMonth
    case ..<90: self = .firstQuarter
    case ..<365: self = .firstYear
    default: self = .later
    }
  }

  /// The column of the report `churn` that counts it.
  package var column: String { "cancelled_after_" + rawValue.dropFirst("DAYS_".count).lowercased() + "_days" }

  var definition: String {
    switch self {
    case .firstDay: "Cancelled ends; auto-renew was turned off within a day of the subscription's start."
    case .firstWeek: "Turned off 1 to 6 whole days after it."
    case .firstMonth: "Turned off 7 to 29 days after it."
    case .firstQuarter: "Turned off 30 to 89 days after it."
    case .firstYear: "Turned off 90 to 364 days after it."
    case .later: "Turned off a year or more after it."
    }
  }
}
