internal import AppStore

/// One subscription of one account from its first purchase on: Apple's `originalTransactionId`.
///
///     active ──renewal fails──▶ grace ──ends──▶ retry ──60 days──▶ ended
///      │ ▲                        │               │
///      │ └───────recovered────────┴───────────────┘
///      ├──not renewed──▶ ended ──bought again──▶ active
///      └──refunded, no longer shared──▶ revoked ──refund reversed──▶ active, ended
struct SubscriptionLine: Hashable, Sendable {
  enum Status: Hashable, Sendable {
    /// Paid until ``SubscriptionLine/expiresDate``.
    case active
    /// The charge failed; access goes on until then.
    case grace(until: Instant)
    /// The charge failed; Apple goes on trying until then.
    case retry(until: Instant)
    case ended(ExpirationIntent)
    case revoked
  }

  /// A higher price that the subscriber was told of.
  struct PriceIncrease: Hashable, Sendable {
    let price: Int64
    var isAgreed: Bool
  }

  let id: Int64
  let app: String
  let account: String
  let group: String
  let originalPurchaseDate: Instant
  let ownership: InAppOwnershipType
  /// The purchaser's line, if this one is shared or assigned.
  let source: Int64?
  /// Lines of those with whom this one is shared, or to whom seats are assigned.
  var members: [Int64] = []
  var isShared = true
  /// Seats that the developer claimed, for members without a transaction.
  var claims: [SeatClaim] = []

  /// The transaction of the latest period.
  var current: Int64
  var productID: String
  var expiresDate: Instant
  /// When the next charge is tried: a little before the end, and at the end itself if it was not possible then.
  var chargeDate: Instant
  var status = Status.active
  var appAccountToken: String?

  var autoRenews = true
  /// What the next renewal will buy.
  var renewalProductID: String
  var renewalQuantity: Int64
  /// What the next renewal will cost without an offer.
  var renewalPrice: Int64
  var priceIncrease: PriceIncrease?
  var runningOffer: ActiveOffer?
  /// Redeemed, and to begin with the next renewal.
  var pendingOffer: Offer?

  /// When the unbroken time as a subscriber began.
  var recentStart: Instant
  /// Renewals since then.
  var renewals = 0
  /// When the renewal date was moved.
  var extensions: [Instant] = []

  /// When time will change it next; `nil` when it is over.
  var due: Instant? {
    switch status {
    case .active: chargeDate
    case .grace(let end), .retry(let end): end
    case .ended, .revoked: nil
    }
  }

  /// Whether the account has what it paid for.
  var isEntitling: Bool {
    switch status {
    case .active, .grace: true
    case .retry, .ended, .revoked: false
    }
  }

  /// Whether Apple is still trying to renew it, or will.
  var isRunning: Bool { due != nil }

  /// The status in Apple's numbers.
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
