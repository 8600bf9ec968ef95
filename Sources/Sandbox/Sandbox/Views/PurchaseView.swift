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
    // Subscriptions. Non-renewing ones with a duration are active or ended.
    /// Paid; in the grace period; in billing retry; expired; refunded or no longer shared.
    case active, grace, retry, ended, revoked
    // Other products.
    /// In possession of the account; taken back.
    case owned, refunded
  }

  /// The next renewal of a subscription.
  package struct Renewal: Hashable, Sendable {
    /// Whether the subscriber let it renew.
    package let isOn: Bool
    /// The product to which it renews.
    package let productId: String
    /// The price of the next charge.
    package let price: MoneyView
    /// The increased price that waits for the subscriber's consent.
    package let pendingPrice: MoneyView?
    /// The number of the current payment of a commitment; `nil` without one.
    package let payment: Int?
  }

  /// The seats of a multiseat purchase.
  package struct Seats: Hashable, Sendable {
    /// The number of seats that were bought.
    package let count: Int64
    /// The accounts with an assigned seat.
    package let accounts: [String]
    /// The ids of seats that the developer claimed.
    package let claims: [String]
  }

  /// The product of the latest period.
  package let productId: String
  package let originalTransactionId: String
  /// The latest transaction.
  package let transactionId: String
  /// The state at the simulated time.
  package let state: State
  /// The end of the paid period, of the grace period, of billing retry or of a non-renewing subscription; `nil` without one.
  package let until: Instant?
  /// `nil` unless it is a subscription that renews or is retried.
  package let renewal: Renewal?
  /// `nil` unless it is a multiseat purchase.
  package let seats: Seats?
  /// Bought by the account, shared by its family, or an assigned seat.
  package let ownership: InAppOwnershipType
}

/// One transaction, for testers.
package struct TransactionView: Hashable, Sendable {
  package let transactionId: String
  package let originalTransactionId: String
  package let productId: String
  /// `nil` if the app does not sell the product any more.
  package let type: ProductType?
  /// Apple's `purchaseDate`.
  package let date: Instant
  /// Subscriptions only.
  package let expires: Instant?
  /// The time that a purchase of a non-renewing subscription gives, after that of earlier ones; `nil` for other types, and
  /// for a product without a duration.
  package let span: Range<Instant>?
  /// The price that was charged; 0 for a free trial.
  package let price: MoneyView
  /// The number of items, or of seats.
  package let quantity: Int64
  /// A purchase of the customer, or a renewal of the App Store.
  package let reason: TransactionReason
  /// The account's relation to the purchase.
  package let ownership: InAppOwnershipType
  /// The id of the offer; `nil` without one.
  package let offer: String?
  /// Whether the offer is free.
  package let isTrial: Bool
  /// Whether an upgrade replaced it.
  package let isUpgraded: Bool
  /// The date of the refund or of the end of sharing; `nil` without one.
  package let revoked: Instant?
  /// The type of the refund or of the end of sharing; `nil` without one.
  package let revocationType: RevocationType?
}

/// A time in which a payment had failed.
package struct FailedPaymentView: Hashable, Sendable {
  package let originalTransactionId: String
  /// Whether the customer had access, in the grace period.
  package let hasAccess: Bool
  /// The end of the paid period, or the change from the grace period to billing retry.
  package let since: Instant
  /// The next change of the state; the simulated time if there was none.
  package let until: Instant
}

/// A purchase that waits for a parent's approval.
package struct RequestView: Hashable, Sendable {
  /// The id that the actions `approve` and `decline` take.
  package let request: String
  package let productId: String
  /// When the child requested the purchase.
  package let date: Instant
}

/// An Apple account with its purchases in one app, for testers.
package struct AccountView: Hashable, Sendable {
  /// The name of the account, unique in the sandbox.
  package let name: String
  /// ISO 3166-1 alpha-3.
  package let storefront: String
  /// The name of its family; `nil` without one.
  package let family: String?
  /// The other accounts of the family.
  package let relatives: [String]
  /// Whether its card is declined.
  package let chargesFail: Bool
  /// The length of its subscription periods.
  package let rate: TimeScaleView
  /// Its purchases, in the order of their first transactions.
  package let purchases: [PurchaseView]
  /// Its purchases that wait for approval.
  package let requests: [RequestView]
  /// The number of transactions.
  package let transactionCount: Int
}

/// The rest of an account, which only its page shows.
package struct AccountHistoryView: Hashable, Sendable {
  /// The transactions, oldest first.
  package let transactions: [TransactionView]
  /// The failed payments of its subscriptions.
  package let failedPayments: [FailedPaymentView]
  /// The notifications about its purchases, oldest first.
  package let notifications: [NotificationView]
}

/// The length of periods.
package enum TimeScaleView: Hashable, Sendable {
  /// As in the calendar.
  case calendar
  /// A month takes that many milliseconds.
  case compressed(month: Int64)
  /// Every period takes a day.
  case testFlight
}
