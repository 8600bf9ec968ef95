internal import AppStoreReports
internal import Reports

// The columns and events of Apple's reports in which postings count.
extension Posting {
  /// Whether a charge or refund is of a subscription.
  var concernsSubscription: Bool {
    switch kind {
    case .charge: reason == "SUBSCRIPTION"
    default: !reason.hasPrefix("ONE_TIME_")
    }
  }
}

extension Posting.Kind {
  /// Whether a column of the Subscription report counts it.
  var isCountedInReports: Bool {
    switch self {
    case .active, .inTrial, .inGrace, .inRetry: true
    default: false
    }
  }
}

extension Posting.Dimensions {
  /// The payment mode of the offer, such as `FREE_TRIAL`; empty for the standard price.
  var paymentMode: String {
    ["FREE_TRIAL", "PAY_AS_YOU_GO", "PAY_UP_FRONT"].first { offerKind.hasSuffix($0) } ?? ""
  }
}

extension SubscriptionColumn {
  /// The column that counts subscriptions with an offer; empty for the standard price.
  init(offerKind: String) {
    let types: [String: [SubscriptionColumn]] = [
      "INTRODUCTORY": [.introductoryFreeTrial, .introductoryPayUpFront, .introductoryPayAsYouGo],
      "OFFER_CODE": [.offerCodeFreeTrial, .offerCodePayUpFront, .offerCodePayAsYouGo],
      "WIN_BACK": [.winBackFreeTrial, .winBackPayUpFront, .winBackPayAsYouGo],
    ]
    let others: [SubscriptionColumn] = [
      .promotionalFreeTrial, .promotionalPayUpFront, .promotionalPayAsYouGo,
    ]
    let columns = types.first { offerKind.hasPrefix($0.key) }?.value ?? others
    if offerKind.isEmpty {
      self = .standard
    } else if offerKind.hasSuffix("FREE_TRIAL") {
      self = columns[0]
    } else {
      self = offerKind.hasSuffix("PAY_UP_FRONT") ? columns[1] : columns[2]
    }
  }
}

extension SubscriptionFlow {
  /// The flow of a posting; `nil` for one that Apple's events do not count.
  init?(_ posting: Posting) {
    switch posting.kind {
    case .trialStarted, .startedPaid, .resubscribed: self = .started
    case .recovered, .converted, .convertedFromRetry, .renewed, .instalmentPaid, .introToRegular,
      .toFreeOffer:
      self = .continued
    case .upgraded, .downgraded, .crossgraded: self = .changed
    case .changedProduct where posting.count > 0: self = .changed
    case .graceEntered: self = .graceEntered
    case .lapsedBilling, .trialLapsedBilling: self = .retryEntered
    // Of a subscription that a refund ends, Apple counts the refund only.
    case .retryLost where posting.reason == "REFUND", .retryCancelled where posting.reason == "REFUND":
      return nil
    case .retryLost, .retryCancelled: self = .retryEnded
    case .lapsedVoluntary, .lapsedOther, .trialExpired: self = .lapsed
    case .refund where posting.concernsSubscription: self = .refunded
    default: return nil
    }
  }

  var beginsPeriod: Bool { [.started, .continued, .changed].contains(self) }
}

extension Posting.Kind {
  /// Of two flows of one period, that with the lower number counts.
  var precedence: Int {
    switch self {
    case .trialStarted, .startedPaid, .resubscribed: 0
    case .recovered, .convertedFromRetry: 1
    case .upgraded, .downgraded, .crossgraded, .changedProduct: 2
    default: 3
    }
  }
}
