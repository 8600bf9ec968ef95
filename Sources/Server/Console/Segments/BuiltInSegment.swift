internal import Pages
internal import Wire

/// A list of customers that each app has without saving a segment.
enum BuiltInSegment: String, CaseIterable, Sendable {
  case inGrace = "in-grace"
  case inRetry = "in-retry"
  case renewalOff = "renewal-off"
  case priceConsent = "price-consent"
  case inTrial = "in-trial"
  case trialEnding = "trial-ending"
  case refunded
  case left
  case winBack = "win-back"
  case shared
  case changed

  /// The number of days that count as lately.
  private static let lately: Int32 = 30
  private static let week: Int32 = 7
  private static let running: [EntitlementState] = [.activeAutoRenewOn, .activeAutoRenewOff]
  private static let leaving: [EntitlementState] = [
    .cancelled, .expiredBilling, .expiredPriceIncrease, .productUnavailable,
  ]

  var title: String {
    switch self {
    case .inGrace: Text.segmentInGrace
    case .inRetry: Text.segmentInRetry
    case .renewalOff: Text.segmentRenewalOff
    case .priceConsent: Text.segmentPriceConsent
    case .inTrial: Text.segmentInTrial
    case .trialEnding: Text.segmentTrialEnding
    case .refunded: Text.segmentRefunded
    case .left: Text.segmentLeft
    case .winBack: Text.segmentWinBack
    case .shared: Text.segmentShared
    case .changed: Text.segmentChanged
    }
  }

  /// The condition for membership, as a sentence.
  var hint: String {
    switch self {
    case .inGrace: Text.hintInGrace
    case .inRetry: Text.hintInRetry
    case .renewalOff: Text.hintRenewalOff
    case .priceConsent: Text.hintPriceConsent
    case .inTrial: Text.hintInTrial
    case .trialEnding: Text.hintTrialEnding
    case .refunded: Text.hintRefunded
    case .left: Text.hintLeft
    case .winBack: Text.hintWinBack
    case .shared: Text.hintShared
    case .changed: Text.hintChanged
    }
  }

  /// The conditions. Each has an index or few rows that meet it.
  var filter: SegmentFilter {
    .with {
      switch self {
      case .inGrace: $0.states = [.gracePeriod]
      case .inRetry: $0.states = [.billingRetry]
      case .renewalOff: $0.states = [.activeAutoRenewOff]
      case .priceConsent: $0.needsPriceConsent = true
      case .inTrial:
        $0.states = Self.running
        $0.paymentModes = [.freeTrial]
      case .trialEnding:
        $0.states = Self.running
        $0.paymentModes = [.freeTrial]
        $0.endsWithinDays = Self.week
      case .refunded:
        $0.states = [.refundedAppIssue, .refundedOther]
        $0.maxDaysInState = Self.lately
      case .left:
        $0.states = Self.leaving
        $0.maxDaysInState = Self.lately
      case .winBack: $0.hasWinBackOffer = true
      case .shared:
        $0.states = Self.running
        $0.inAppOwnershipTypes = [.familyShared, .assigned]
      case .changed: $0.maxDaysInState = Self.week
      }
    }
  }
}
