internal import AppStore

/// A developer's settings for an app, as App Store Connect has them, and the tester's choices where Apple's behavior is
/// open.
struct AppSettings: Hashable, Sendable {
  /// The URL and version of server notifications.
  struct NotificationTarget: Hashable, Sendable {
    let url: String
    /// 1 or 2.
    let version: Int64
  }

  /// `nil` sends no notifications; they are recorded all along.
  var notificationTarget: NotificationTarget?
  var delivery = DeliverySettings()
  var futureDocuments = FutureDocuments()
  /// The shared secret for `verifyReceipt` and version 1; `nil` for none.
  var sharedSecret: String?
  var gracePeriod = GracePeriod()
  /// By product id.
  var offers: [String: [Offer]] = [:]
  /// Overrides of the catalog's prices.
  var prices = PriceList()
  /// Overrides of the catalog's prices of a payment of the monthly plan.
  var monthlyPrices = PriceList()
  var commitmentRules = CommitmentRules()
  var sharingRules = SharingRules()
  /// The time that a mass extension takes, in milliseconds.
  var massExtensionTime: Int64 = 0
  /// The ids of products that are not for sale.
  var withdrawn: Set<String> = []
  /// The ids of products with Family Sharing.
  var shareable: Set<String> = []
  /// The ids of products whose seats are managed by the developer.
  var invitedByDeveloper: Set<String> = []
  /// The volume discounts by product id, in order of seats.
  var priceBands: [String: [PriceBand]] = [:]
  var messages = RetentionMessages()
}

/// Changed prices.
struct PriceList: Hashable, Sendable {
  /// By product id, in thousandths of the product's currency.
  var everywhere: [String: Int64] = [:]
  /// By storefront and product id, in thousandths of the storefront's currency.
  var byStorefront: [String: [String: Int64]] = [:]
}

/// The setting of Apple's billing grace period (Apple: subscriptionGracePeriods).
struct GracePeriod: Hashable, Sendable {
  /// The `renewalType`.
  enum Scope: String, Hashable, Sendable, CaseIterable {
    /// Each renewal has one.
    case allRenewals = "ALL_RENEWALS"
    /// No grace period if a free trial does not convert.
    case paidToPaidOnly = "PAID_TO_PAID_ONLY"
  }

  /// The lengths that App Store Connect offers, in days; 0 turns the grace period off.
  static let lengths: [Int64] = [0, 3, 16, 28]

  /// One of ``lengths``.
  var days: Int64 = 0
  var scope = Scope.allRenewals

  /// Returns the length in days for a subscription whose renewal failed.
  ///
  /// Weekly subscriptions have 3 days with the setting of 3, otherwise 6 (Apple: "Reducing Involuntary Subscriber
  /// Churn").
  func days(for product: SandboxProduct?, after period: SoldTransaction?) -> Int64 {
    if scope == .paidToPaidOnly, period?.isTrial == true { return 0 }
    return product?.isWeekly == true ? min(days, 6) : days
  }
}

/// An Apple account's download of an app.
struct AppInstall: Hashable, Sendable {
  /// The version that runs now.
  var version = "1.0"
  /// The version of the first download.
  var originalVersion = "1.0"
  var originalPurchaseDate: Instant
  /// `nil` if the app was not ordered before its release.
  var preorderDate: Instant?
}

/// An Apple account.
struct AppleAccount: Hashable, Sendable {
  /// Decides about prices and currency.
  var storefront = Storefront.usa
  /// The name of the family; `nil` without Family Sharing.
  var family: String?
  /// Whether charges fail.
  var billingFails = false
  /// The renewal rate of a tester account; `nil` for the rate of the world.
  var scale: TimeScale?
  /// By app id.
  var appInstalls: [String: AppInstall] = [:]
}
