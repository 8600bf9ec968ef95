package import AppStore

/// The rules by which reports of an app close days, convert amounts and estimate proceeds.
package struct ReportPolicy: Hashable, Sendable {
  /// The time from the end of a day until it closes, in milliseconds.
  package var closeAfter: Int64
  /// The operator's exchange rates.
  package var rates: [ExchangeRate]
  /// The times in which the operator is in Apple's Small Business Program, which halves the commission.
  package var smallBusinessProgram: [Range<Instant>]

  package init(
    closeAfter: Int64 = 6 * 3_600_000, rates: [ExchangeRate] = [],
    smallBusinessProgram: [Range<Instant>] = []
  ) {
    self.closeAfter = closeAfter
    self.rates = rates
    self.smallBusinessProgram = smallBusinessProgram
  }

  /// Days close six hours after their end; nothing is converted.
  package static let standard = ReportPolicy()
}

/// A rate by which amounts of one currency are converted into another one, from a day on.
package struct ExchangeRate: Hashable, Sendable {
  /// The currency that is converted, ISO 4217.
  package let currency: String
  /// The currency of the result, ISO 4217.
  package let target: String
  /// The start of the first day in UTC.
  package let from: Instant
  /// Millionths of the target currency for one unit.
  package let millionths: Int64
  /// When the operator learned it; `nil`: always known. A report as of an earlier time does not use it.
  package let knownAt: Instant?

  package init(
    currency: String, target: String, from: Instant, millionths: Int64, knownAt: Instant? = nil
  ) {
    self.currency = currency
    self.target = target
    self.from = from
    self.millionths = millionths
    self.knownAt = knownAt
  }
}

/// The version of the rules by which postings follow from facts.
///
/// Stored postings are valid only under the version that made them. Raise it with every change after which the postings of the
/// same facts may differ; `PostingRulesTests` fails if it was not raised.
package let postingRulesVersion: UInt64 = 4

extension AppDefinition {
  /// A hash of everything besides facts and time that can change a posting of a report, ``postingRulesVersion`` included.
  package var reportFingerprint: UInt64 {
    var hash = Fingerprint()
    hash.add(postingRulesVersion)
    hash.add(UInt64(products.count))
    for (productID, product) in products.sorted(by: { $0.key < $1.key }) {
      hash.add(productID)
      hash.add(product.type.rawValue)
      hash.add(product.subscriptionGroup ?? "")
      hash.add(UInt64(product.level ?? 0))
      for period in [product.price?.period, product.duration] {
        hash.add(UInt64(bitPattern: period?.months ?? 0))
        hash.add(UInt64(bitPattern: period?.days ?? 0))
      }
    }
    // Postings have the days of exchange rates only if there are any.
    hash.add(reports.rates.isEmpty ? 0 : 1)
    hash.add(UInt64(bitPattern: rescindConsentDays))
    hash.add(UInt64(bitPattern: renewalPolicy.slack))
    for times in reports.smallBusinessProgram {
      hash.add(UInt64(bitPattern: times.lowerBound.millisecondsSince1970))
      hash.add(UInt64(bitPattern: times.upperBound.millisecondsSince1970))
    }
    return hash.value
  }
}
