package import AppStore
package import JSON

/// The next event if the clock runs.
package struct NextEventView: Hashable, Sendable {
  /// The kind of an event. The raw values are part of the sandbox's HTTP interface.
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    /// A subscription is charged for its next period.
    case renewal = "RENEWAL"
    /// A subscription that is not renewed ends.
    case endOfPeriod = "END_OF_PERIOD"
    /// Access ends; Apple retries the charge.
    case endOfGracePeriod = "END_OF_GRACE_PERIOD"
    /// Apple gives up.
    case endOfBillingRetry = "END_OF_BILLING_RETRY"
    /// `DID_FAIL_TO_RENEW` is sent.
    case failureNotice = "FAILURE_NOTICE"
    /// The subscriber is informed of a price increase.
    case priceNotice = "PRICE_NOTICE"
    /// An extension for all subscribers is completed.
    case massExtension = "MASS_EXTENSION"
    /// A notification about an external purchase token is due.
    case externalToken = "EXTERNAL_TOKEN"
    /// A notification is sent.
    case delivery = "DELIVERY"
  }

  /// Simulated time.
  package let at: Instant
  /// The kind of the event.
  package let kind: Kind
  /// `nil` if it concerns no single account.
  package let account: String?
  /// `nil` if it concerns no single product.
  package let productId: String?
}

/// The simulated clock.
package struct ClockView: Hashable, Sendable {
  /// Simulated time.
  package let now: Instant
  /// 1 is real time, 0 stopped.
  package let speed: Int64
  /// `nil` if nothing is scheduled.
  package let next: NextEventView?
}

/// An attempt to deliver a notification.
package struct AttemptView: Hashable, Sendable {
  /// Simulated time.
  package let date: Instant
  /// The result, as Apple's notification history names it.
  package let result: SendAttemptResult
  /// The HTTP status; `nil` without a response, and for attempts that are no longer logged.
  package let status: Int?
  /// Machine time from the request to the response.
  package let milliseconds: Int64?
  /// The beginning of the response.
  package let response: String?
  /// The URL of the attempt; `nil` for attempts that are no longer logged.
  package let url: String?
}

/// A server notification with its delivery, for testers.
package struct NotificationView: Hashable, Sendable {
  /// Apple's `notificationUUID`.
  package let uuid: String
  /// The app's id in the configuration.
  package let app: String
  /// The type and subtype, such as `DID_RENEW/BILLING_RECOVERY`.
  package let name: String
  /// 1 or 2.
  package let version: Int64
  /// Simulated time of the signature.
  package let date: Instant
  /// The account that it concerns; `nil` if it concerns none, such as a test notification.
  package let account: String?
  package let productId: String?
  package let transactionId: String?
  package let originalTransactionId: String?
  /// The attempts to deliver it, oldest first.
  package let attempts: [AttemptView]
  /// `nil` if it was delivered or given up, or if no URL is set.
  package let nextAttempt: Instant?
}

/// The content of a notification.
package struct NotificationBodyView: Hashable, Sendable {
  /// The body as it was sent last, or as it would be sent now.
  package let body: String
  /// Whether ``body`` is the one that was sent.
  package let wasSent: Bool
  /// The payload, with the signed documents in it decoded.
  package let payload: JSONObject
}

/// One entry of the journal.
package struct JournalLineView: Hashable, Sendable {
  /// The action of a tester, or what happened by itself.
  package enum Entry: Hashable, Sendable {
    /// A process opened the world, or it was reset or restored.
    case opened
    /// With its members as another sandbox takes them: references in place of ids.
    case action(Action, JSONObject)
    /// The clock was advanced.
    case advanced(to: Instant)
    /// The clock has another speed; 0 stopped it.
    case speed(Int64)
    /// Time passed by itself, with effects.
    case passed
    /// A notification was sent, with the result.
    case attempt(uuid: String, SendAttemptResult)
    /// A fault delayed a notification.
    case postponed(uuid: String, to: Instant)
  }

  /// Counted from 1.
  package let number: Int
  /// Simulated time.
  package let at: Instant
  /// The action or the effect.
  package let entry: Entry
  /// The notifications that it caused.
  package let notifications: [NotificationView]
}

/// An offer of a subscription.
package struct OfferView: Hashable, Sendable {
  /// The id with which purchases name the offer; unique for a product.
  package let id: String
  /// A value of the action `offers`.
  package let type: String
  /// The payment mode.
  package let mode: OfferDiscountType
  /// The length of one period.
  package let period: Period
  /// The number of periods for which the offer applies.
  package let periods: Int
  /// The price of one period; 0 for a free trial.
  package let price: MoneyView
}

/// A product with its present price and settings.
package struct ProductView: Hashable, Sendable {
  /// The product as it is configured.
  package let product: SandboxProduct
  /// The price in the default storefront; `nil` if it cannot be sold.
  package let price: MoneyView?
  /// The price of a payment of the monthly plan; `nil` without that plan.
  package let monthlyPrice: MoneyView?
  /// The offers with which it can be bought.
  package let offers: [OfferView]
  /// Whether Family Sharing is on.
  package let isShareable: Bool
  /// Whether it is not for sale.
  package let isWithdrawn: Bool
  /// Whether the developer manages the invitations to its seats.
  package let isInvitedByDeveloper: Bool
}

/// The settings of an app and of the whole sandbox.
package struct SettingsView: Hashable, Sendable {
  /// `nil`: nothing is sent.
  package let notificationURL: String?
  /// 1 or 2.
  package let notificationVersion: Int64
  /// The rules of retries: those of production or of Apple's sandbox.
  package let rules: String
  /// Whether deliveries are delayed at random, as Apple's are.
  package let hasDelays: Bool
  /// The length of the billing grace period; 0 turns it off.
  package let graceDays: Int64
  /// The renewals to which the grace period applies.
  package let graceScope: String
  /// Whether `verifyReceipt` requires a secret.
  package let hasSharedSecret: Bool
  /// The URL of the Retention Messaging API; `nil` without one.
  package let realtimeURL: String?
  /// The length of subscription periods.
  package let rate: TimeScaleView
  /// The longest time between a charge and the end of the paid period, in milliseconds.
  package let chargeLead: Int64
  /// The longest time from the end of a period to `DID_FAIL_TO_RENEW`, in milliseconds.
  package let failureDelay: Int64
  /// The percentage of recoveries before the end of the period after which `DID_FAIL_TO_RENEW` is sent anyway.
  package let staleFailures: Int64
}

/// A fault that a tester has set.
package struct FaultView: Hashable, Sendable {
  /// The kind of the fault.
  package let kind: Faults.Kind
  /// The number of opportunities to which it still applies.
  package let left: Int64
  /// The fault applies to every n-th opportunity.
  package let every: Int64
  /// The duration of a delay, a slow response or a wrong clock.
  package let milliseconds: Int64
}

/// The calls of one kind that Apple's APIs received.
package struct CallCountView: Hashable, Sendable {
  /// The call by version and name, such as `v1/history`.
  package let kind: String
  /// The number of calls since the start of the process.
  package let calls: Int64
  /// Those that were rejected for the rate limit.
  package let limited: Int64
}
