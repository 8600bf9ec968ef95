// The codes of renewal infos. Facts store a code by its position in `known`: append only.

/// The status of a subscription (Apple's `status`, Get All Subscription Statuses).
package enum SubscriptionStatus: OpenCode {
  /// The period is paid.
  case active
  /// The subscription ended, and Apple does not retry a payment.
  case expired
  /// Expired, while Apple retries the payment.
  case billingRetry
  /// Apple retries the payment, and the customer keeps access.
  case billingGracePeriod
  /// Refunded, or no longer shared.
  case revoked
  case unrecognized(Int64)

  package static let known: [SubscriptionStatus] = [
    .active, .expired, .billingRetry, .billingGracePeriod, .revoked,
  ]

  package var rawValue: Int64 {
    switch self {
    case .active: 1
    case .expired: 2
    case .billingRetry: 3
    case .billingGracePeriod: 4
    case .revoked: 5
    case .unrecognized(let rawValue): rawValue
    }
  }
}

/// Whether a subscription renews at the end of its period (Apple's `autoRenewStatus`). During a commitment it
/// describes the monthly payments only; see ``RenewalCommitmentInfo/commitmentAutoRenewStatus``.
package enum AutoRenewStatus: OpenCode {
  /// The subscription ends with the period.
  case off
  /// Apple will charge the next period.
  case on
  case unrecognized(Int64)

  package static let known: [AutoRenewStatus] = [.off, .on]

  package var rawValue: Int64 {
    switch self {
    case .off: 0
    case .on: 1
    case .unrecognized(let rawValue): rawValue
    }
  }
}

/// The reason of a subscription's end (Apple's `expirationIntent`).
package enum ExpirationIntent: OpenCode {
  /// The customer turned auto-renew off.
  case customerCancelled
  /// Apple could not collect the payment, for example because the card had expired.
  case billingError
  /// The customer did not consent to a price increase that requires it.
  case priceIncreaseNotAccepted
  /// The product could not be bought at the renewal.
  case productUnavailable
  /// Any other cause.
  case other
  case unrecognized(Int64)

  package static let known: [ExpirationIntent] = [
    .customerCancelled, .billingError, .priceIncreaseNotAccepted, .productUnavailable, .other,
  ]

  package var rawValue: Int64 {
    switch self {
    case .customerCancelled: 1
    case .billingError: 2
    case .priceIncreaseNotAccepted: 3
    case .productUnavailable: 4
    case .other: 5
    case .unrecognized(let rawValue): rawValue
    }
  }
}

/// The state of the customer's consent to a price increase (Apple's `priceIncreaseStatus`).
package enum PriceIncreaseStatus: OpenCode {
  /// Consent was requested and not given yet.
  case pending
  /// Consent was given or is not required.
  case accepted
  case unrecognized(Int64)

  package static let known: [PriceIncreaseStatus] = [.pending, .accepted]

  package var rawValue: Int64 {
    switch self {
    case .pending: 0
    case .accepted: 1
    case .unrecognized(let rawValue): rawValue
    }
  }
}
