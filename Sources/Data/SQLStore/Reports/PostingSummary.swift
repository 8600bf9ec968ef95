internal import Reports

/// The columns of a row of `posting` that show which values it can be part of. The index by time has them, so that the rows of a
/// value are found without reading others.
struct PostingSummary {
  /// A bit for each kind.
  private(set) var kinds: Int64 = 0
  /// A bit for each product and storefront, those of cohorts included.
  private(set) var dimensions: Int64 = 0
  /// The days from the first to the last cohort; `nil`: of no cohort.
  private(set) var cohorts: ClosedRange<ReportDay>?

  init(_ postings: [Posting]) {
    var last: Posting.Dimensions?
    for posting in postings {
      kinds |= 1 << posting.kind.bit
      // Neighbours mostly have the same ones.
      if posting.dimensions != last { dimensions |= Self.bits(of: posting.dimensions) }
      last = posting.dimensions
      guard let cohort = posting.cohort else { continue }
      if cohort.dimensions != posting.dimensions { dimensions |= Self.bits(of: cohort.dimensions) }
      let (first, last) = (cohorts?.lowerBound ?? cohort.day, cohorts?.upperBound ?? cohort.day)
      cohorts = min(first, cohort.day)...max(last, cohort.day)
    }
  }

  /// Returns the bits of ``kinds`` that rows with any of these kinds have.
  static func bits(of kinds: some Sequence<Posting.Kind>) -> Int64 { kinds.reduce(0) { $0 | 1 << $1.bit } }

  /// Returns the bits of ``dimensions`` that rows with any of these products or storefronts have. Some texts share one.
  static func bits(of texts: some Sequence<String>) -> Int64 { texts.reduce(0) { $0 | bit(of: $1) } }

  private static func bits(of dimensions: Posting.Dimensions) -> Int64 {
    bit(of: dimensions.productID) | bit(of: dimensions.storefront)
  }

  private static func bit(of text: String) -> Int64 {
    1 << Int64(Posting.Dimensions.fingerprint(of: text) % 63)
  }
}

extension Posting.Kind {
  /// The number of the kind's bit, less than 63. Kinds that are often in the same row share one, and no rare kind has that of a
  /// frequent one. They are stored: changing one needs new postings.
  fileprivate var bit: Int64 {
    switch self {
    case .charge, .unpriced: 0
    case .chargeAfterYear: 16
    case .periodReached: 17
    case .joinedCohort, .payer, .payerJoined: 18
    case .activeOfCohort, .payerActiveOfCohort: 19
    case .retryLost, .retryCancelled, .graceDays, .retryDays, .recoveredPayment: 55
    case .refund, .refundReversed, .refundOfPurchase: 56
    case .upgradeCredit: 57
    case .yearReached, .firstChargeAfterYear, .yearReset: 58
    case .refundAsked, .refundAnswered, .refundGranted, .refundDeclined, .refundGrantReversed: 59
    case .consentWithdrawn, .consentSettled, .consentOverdue: 59
    default: rawValue % 63
    }
  }
}
