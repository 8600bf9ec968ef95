package import AppStore
package import Entitlements

/// The payments of one customer, by the prices in Apple's documents. The sums are those of the reports'
/// charges and refunds.
package struct PaidTotals: Sendable {
  /// The sums of one currency, in its thousandths.
  package struct Sum: Hashable, Sendable {
    /// ISO 4217.
    package let currency: String
    /// All charges, also those that were refunded.
    package internal(set) var charged: Int64 = 0
    /// Without refunds that Apple reversed.
    package internal(set) var refunded: Int64 = 0

    /// The payments that the customer did not get back.
    package var total: Int64 { charged.subtractingSaturated(refunded) }
  }

  /// By the name of the currency.
  package let sums: [Sum]
  /// The number of purchases and periods whose price is in no document.
  package let unpriced: Int64

  /// Adds up the customer's own purchases among `facts`, as they were at `instant`.
  package init(_ facts: borrowing CustomerFacts, in app: AppDefinition, at instant: Instant) {
    let facts = facts.purchases(in: app)
    var sums: [String: Sum] = [:]
    var unpriced: Int64 = 0
    for posting in MoneyPostings(facts, PayerHistory(facts, in: app)).postings {
      guard posting.effectiveAt <= instant else { continue }
      var sum = sums[posting.currency] ?? Sum(currency: posting.currency)
      switch posting.kind {
      case .charge: sum.charged = sum.charged.addingSaturated(posting.amount)
      // The amounts of refunds are negative, and those of reversals positive.
      case .refund, .refundReversed: sum.refunded = sum.refunded.subtractingSaturated(posting.amount)
      case .unpriced:
        unpriced += 1
        continue
      default: continue
      }
      sums[posting.currency] = sum
    }
    self.sums = sums.values.sorted { $0.currency < $1.currency }
    self.unpriced = unpriced
  }
}

extension Int64 {
  /// The sum, or the bound of `Int64` that it exceeds. For numbers that documents or callers state, which may be any.
  package func addingSaturated(_ other: Int64) -> Int64 {
    let (sum, isOverflow) = addingReportingOverflow(other)
    return isOverflow ? (other < 0 ? .min : .max) : sum
  }

  /// The difference, or the bound of `Int64` that it exceeds.
  package func subtractingSaturated(_ other: Int64) -> Int64 {
    let (difference, isOverflow) = subtractingReportingOverflow(other)
    return isOverflow ? (other < 0 ? .max : .min) : difference
  }
}
