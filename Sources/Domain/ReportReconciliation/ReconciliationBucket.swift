internal import AppStore
package import AppStoreReports

/// The subject of the bucket of recurring revenue.
let recurringRevenue = "Recurring revenue"

/// Items that are compared as one number: Apple's reports name no transaction, so equal things are counted
/// together.
package struct ReconciliationBucket: Hashable, Sendable {
  /// Apple's report whose rows are compared.
  package var report: AppStoreReport
  /// In the zone of the report.
  package var day: CalendarDay
  /// The App Store's product id.
  package var productID: String
  /// ISO 3166-1 alpha-3.
  package var country: String
  /// The subject of the count.
  package var subject: Subject
  /// The payment mode of the offer, such as `FREE_TRIAL`; empty for the standard price and where a report has
  /// no offers.
  package var offer = ""
  /// Hundredths of the currency of one piece; `nil` where no money is compared.
  package var price: Int64?
  /// ISO 4217; empty without money.
  package var currency = ""
  /// Whether Apple keeps 15 % instead of 30 %, because the subscriber paid for a year.
  package var isAfterOneYear = false

  /// The counted subject.
  package enum Subject: Hashable, Sendable {
    /// A column of the Subscription report.
    case stock(String)
    case flow(SubscriptionFlow)
    case charge
    case refund
  }

  func with(_ change: (inout ReconciliationBucket) -> Void) -> ReconciliationBucket {
    var bucket = self
    change(&bucket)
    return bucket
  }
}

extension ReconciliationBucket: Comparable {
  /// Orders by day, then by ``description``, so that lists have the same order in each comparison.
  package static func < (left: ReconciliationBucket, right: ReconciliationBucket) -> Bool {
    guard left.day == right.day else { return left.day < right.day }
    return left.description < right.description
  }
}

extension ReconciliationBucket: CustomStringConvertible {
  package var description: String {
    let money = price.map { "\(Amount.text($0 * 10)) \(currency)" } ?? currency
    let parts = [
      report.rawValue, day.description, subject.description, productID, country, offer, money,
      isAfterOneYear ? rateAfterOneYear : "",
    ]
    return parts.filter { !$0.isEmpty }.joined(separator: " ")
  }
}

extension ReconciliationBucket.Subject: CustomStringConvertible {
  package var description: String {
    switch self {
    case .stock(let column): column
    case .flow(let flow): flow.rawValue
    case .charge: "CHARGE"
    case .refund: "REFUND"
    }
  }
}

/// A change of a subscription, as far as Apple's events and ours mean the same.
package enum SubscriptionFlow: String, Hashable, Sendable, CaseIterable {
  /// It begins, or begins again.
  case started = "STARTED"
  /// A period follows another one: a renewal, a conversion, a recovery.
  case continued = "CONTINUED"
  /// Another product.
  case changed = "CHANGED"
  case graceEntered = "GRACE_ENTERED"
  case retryEntered = "RETRY_ENTERED"
  /// Billing retry ended without a payment.
  case retryEnded = "RETRY_ENDED"
  /// It ended, but not by a failed payment or a refund.
  case lapsed = "LAPSED"
  case refunded = "REFUNDED"

  /// The flow of an event of the Subscription Event report (App Store Connect Help: "Subscription events"); `nil` for an
  /// unknown name. Older reports say "Introductory Price", "Free Trial" and "Cancelled".
  package init?(appleEvent name: String) {
    let name = name.lowercased().replacing("cancelled", with: "canceled")
    func begins(_ texts: String...) -> Bool { texts.contains { name.hasPrefix($0) } }
    if name == "refund" {
      self = .refunded
    } else if begins("cancel") {
      self = name.contains("billing retry") ? .retryEnded : .lapsed
    } else if begins("billing retry from") {
      self = .retryEntered
    } else if begins("grace period from", "billing grace period from") {
      self = .graceEntered
    } else if begins("subscribe", "opt-in", "start ", "reactivat") {
      self = .started
    } else if name.hasSuffix("from billing retry") || name.hasSuffix("grace period") {
      self = .continued
    } else if begins("upgrade", "downgrade", "crossgrade") {
      self = .changed
    } else if name == "renew" || begins("renewal from") || name.contains(" from ") {
      self = .continued
    } else {
      return nil
    }
  }

  /// Whether another flow can mean the same: a period that follows with another product.
  func isSibling(of other: SubscriptionFlow) -> Bool {
    let siblings: Set<SubscriptionFlow> = [.continued, .changed]
    return siblings.contains(self) && siblings.contains(other)
  }
}
