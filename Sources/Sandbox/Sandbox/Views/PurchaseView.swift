package import AppStore

/// An amount of money.
package struct MoneyView: Hashable, Sendable {
  /// Thousandths of the currency.
  package let milliunits: Int64
  /// ISO 4217.
  package let currency: String
}

/// A purchase of an account as the App Store has it now, for testers.
package struct PurchaseView: Hashable, Sendable {
  /// The state of a purchase, as the pages of the sandbox name it.
  package enum State: String, Hashable, Sendable, CaseIterable {
    // Subscriptions.
    case active, grace, retry, ended, revoked
    // Other products.
    case owned, refunded
  }

  /// The next renewal of a subscription.
  package struct Renewal: Hashable, Sendable {
    package let isOn: Bool
    package let productId: String
    package let price: MoneyView
    /// The increased price that waits for the subscriber's consent.
    package let pendingPrice: MoneyView?
    /// The number of the current payment of a commitment; `nil` without one.
    package let payment: Int?
  }

  /// The seats of a multiseat purchase.
  package struct Seats: Hashable, Sendable {
    package let count: Int64
    /// The accounts with an assigned seat.
    package let accounts: [String]
    /// The ids of seats that the developer claimed.
    package let claims: [String]
  }

  package let productId: String
  package let originalTransactionId: String
  /// The latest transaction.
  package let transactionId: String
  package let state: State
  /// The end of the paid period, of the grace period or of billing retry; `nil` without one.
  package let until: Instant?
  /// `nil` unless it is a subscription that renews or is retried.
  package let renewal: Renewal?
  /// `nil` unless it is a multiseat purchase.
  package let seats: Seats?
  package let ownership: InAppOwnershipType
  package let isSubscription: Bool
}

/// One transaction, for testers.
package struct TransactionView: Hashable, Sendable {
  package let transactionId: String
  package let originalTransactionId: String
  package let productId: String
  package let date: Instant
  /// Subscriptions only.
  package let expires: Instant?
  package let price: MoneyView
  package let quantity: Int64
  package let reason: TransactionReason
  package let ownership: InAppOwnershipType
  package let offer: String?
  package let isTrial: Bool
  package let isUpgraded: Bool
  /// The date and the type of the refund or of the end of sharing.
  package let revoked: Instant?
  package let revocationType: RevocationType?
}

/// A time in which a payment had failed.
package struct FailedPaymentView: Hashable, Sendable {
  package let originalTransactionId: String
  /// Whether the customer had access, in the grace period.
  package let hasAccess: Bool
  package let since: Instant
  package let until: Instant
}

/// A purchase that waits for a parent's approval.
package struct RequestView: Hashable, Sendable {
  package let request: String
  package let productId: String
  package let date: Instant
}

/// An Apple account with its purchases in one app, for testers.
package struct AccountView: Hashable, Sendable {
  package let name: String
  package let storefront: String
  package let family: String?
  /// The other accounts of the family.
  package let relatives: [String]
  package let chargesFail: Bool
  package let rate: TimeScaleView
  package let purchases: [PurchaseView]
  package let requests: [RequestView]
  /// The number of transactions.
  package let transactionCount: Int
}

/// The rest of an account, which only its page shows.
package struct AccountHistoryView: Hashable, Sendable {
  package let transactions: [TransactionView]
  package let failedPayments: [FailedPaymentView]
  package let notifications: [NotificationView]
}

/// The length of periods.
package enum TimeScaleView: Hashable, Sendable {
  case calendar
  /// A month takes that many milliseconds.
  case compressed(month: Int64)
  case testFlight
}
