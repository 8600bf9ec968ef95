internal import AppStore

/// A subscription of one account, identified by its original transaction id.
///
///     active ──renewal fails──▶ grace ──ends──▶ retry ──60 or 90 days──▶ ended
///      │ ▲                        │               │
///      │ └───────recovered────────┴───────────────┘
///      ├──not renewed──▶ ended ──bought again──▶ active
///      └──refunded, no longer shared──▶ revoked ──refund reversed──▶ active, ended
struct SubscriptionLine: Hashable, Sendable {
  /// The state of the diagram above.
  enum Status: Hashable, Sendable {
    /// Paid until ``SubscriptionLine/expiresDate``.
    case active
    /// The charge failed; access continues in Apple's grace period.
    case grace(until: Instant)
    /// The charge failed; Apple retries it without access.
    case retry(until: Instant)
    /// Not renewed, for the reason that Apple reports.
    case ended(ExpirationIntent)
    /// Refunded, or no longer shared.
    case revoked
  }

  /// A price increase for the next renewals.
  struct PriceIncrease: Hashable, Sendable {
    enum State: String, Hashable, Sendable {
      /// The subscriber is not informed yet; renewals have the old price.
      case scheduled
      /// The subscriber is asked for consent.
      case pending
      /// The subscriber agreed, or was informed of an increase that needs no consent.
      case accepted
    }

    /// In thousandths of the currency.
    let price: Int64
    /// Whether the subscription ends without the subscriber's consent.
    let needsConsent: Bool
    /// The time between the announcement and the renewal, in milliseconds.
    let notice: Int64
    var state = State.scheduled
    /// The time of the announcement; `nil` until a renewal is far enough away.
    var noticeDate: Instant?
  }

  /// The original transaction id.
  let id: Int64
  /// The app's id in the configuration.
  let app: String
  /// The name of the account that has access.
  let account: String
  /// The subscription group; the product's own id without one.
  let group: String
  let originalPurchaseDate: Instant
  /// Whether the account pays, is of the purchaser's family, or has a seat.
  let ownership: InAppOwnershipType
  /// The purchaser's subscription, if this one is shared or assigned.
  let source: Int64?
  /// The purchaser's transaction of the period that it shares.
  var followed: Int64?
  /// The subscriptions of family members and seat holders.
  var members: [Int64] = []
  /// Whether the purchaser shares it with the family; the developer must have allowed it.
  var isShared = true
  /// Whether a shared or assigned subscription ends with its period, because the purchaser's renewal does not cover
  /// it.
  var leavesAtEnd = false
  /// The party that invites to the seats; `nil` unless it is a multiseat purchase. Fixed by the purchase.
  var invitations: InvitationManagement?
  /// Whether an organization bought the seats (Volume Purchasing), otherwise a subscriber (Group Purchases).
  var isOrganization = false
  /// The transactions that added seats to the latest period.
  var additions: [Int64] = []
  /// Seats that the developer claimed; their users have no transactions.
  var claims: [SeatClaim] = []

  /// The transaction of the latest period.
  var current: Int64
  /// The product of the latest period.
  var productID: String
  var expiresDate: Instant
  /// The time of the next charge: shortly before the period's end, and again at its end if that was not
  /// possible.
  var chargeDate: Instant
  /// Whether the charge before the period's end failed, so that the renewal is a recovery.
  var hasFailedCharge = false
  /// The time at which `DID_FAIL_TO_RENEW` is sent; `nil` if nothing is to be announced.
  var failureNoticeDate: Instant?
  var status = Status.active
  /// The latest token that the app passed to StoreKit, in lower case.
  var appAccountToken: String?

  /// The current commitment; `nil` for plans that are billed up front. During a commitment, the following members
  /// describe the renewal after it, and ``nextCharge`` the next payment.
  var commitment: Commitment?

  /// Whether the subscriber wants the next renewal.
  var autoRenews = true
  /// The product of the next renewal.
  var renewalProductID: String
  /// The billing plan of the next renewal.
  var renewalPlan = BillingPlan.billedUpfront
  /// The number of seats of the next renewal; 1 without seats.
  var renewalQuantity: Int64
  /// The price of the next renewal without an offer.
  var renewalPrice: Int64
  /// `nil` unless the developer increased the price of the next renewal.
  var priceIncrease: PriceIncrease?
  /// The start of the first period with the last price increase.
  var increaseDate: Instant?
  /// The offer of the current period, with the number of further periods at its price.
  var runningOffer: ActiveOffer?
  /// A redeemed offer that starts with the next renewal.
  var pendingOffer: Offer?

  /// The start of the subscription time without a gap of more than 60 days (`recentSubscriptionStartDate`).
  var recentStart: Instant
  /// The number of renewals since the last purchase.
  var renewals = 0
  /// The dates of renewal date extensions.
  var extensions: [Instant] = []
  /// The renewal date after each extension through the Server API, by the identifier of its request.
  var extensionResults: [String: Instant] = [:]

  /// The time of the next change or announcement; `nil` if the subscription is over.
  var due: Instant? {
    guard let statusEnd else { return nil }
    return [statusEnd, failureNoticeDate, priceNoticeDate].compactMap(\.self).min()
  }

  /// The time at which the scheduled price increase is announced.
  var priceNoticeDate: Instant? {
    status == .active && priceIncrease?.state == .scheduled ? priceIncrease?.noticeDate : nil
  }

  /// The price increase that was announced to the subscriber.
  var announcedIncrease: PriceIncrease? { priceIncrease?.state == .scheduled ? nil : priceIncrease }

  /// The time of the next charge, or of the end of the grace period or billing retry; `nil` if the subscription is
  /// over.
  var statusEnd: Instant? {
    switch status {
    case .active: chargeDate
    case .grace(let end), .retry(let end): end
    case .ended, .revoked: nil
    }
  }

  /// Whether the subscription grants access.
  var isEntitling: Bool {
    switch status {
    case .active, .grace: true
    case .retry, .ended, .revoked: false
    }
  }

  /// Whether Apple will renew the subscription or retries a charge.
  var isRunning: Bool { statusEnd != nil }

  /// Apple's status code.
  var appleStatus: SubscriptionStatus {
    switch status {
    case .active: .active
    case .grace: .billingGracePeriod
    case .retry: .billingRetry
    case .ended: .expired
    case .revoked: .revoked
    }
  }
}
