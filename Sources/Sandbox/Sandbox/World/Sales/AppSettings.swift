internal import AppStore

/// A developer's settings for an app.
struct AppSettings: Hashable, Sendable {
  /// The URL and version of server notifications.
  struct NotificationTarget: Hashable, Sendable {
    let url: String
    let version: Int64
  }

  var notificationTarget: NotificationTarget?
  var sharedSecret: String?
  /// The length of Apple's grace period in days; 0 turns it off.
  var graceDays: Int64 = 0
  /// By product id.
  var offers: [String: [Offer]] = [:]
  /// Overrides of the catalog's prices by product id, in thousandths of the currency.
  var prices: [String: Int64] = [:]
  /// The ids of products that are not for sale.
  var withdrawn: Set<String> = []
  /// Prices by storefront and product id, in thousandths of the storefront's currency.
  var storefrontPrices: [String: [String: Int64]] = [:]
  /// The ids of products with Family Sharing.
  var shareable: Set<String> = []
  /// The ids of products whose seats are managed by the developer.
  var invitedByDeveloper: Set<String> = []
  var messages = RetentionMessages()
}

/// An Apple account's download of an app.
struct AppInstall: Hashable, Sendable {
  var version = "1.0"
  var originalVersion = "1.0"
  var originalPurchaseDate: Instant
  var preorderDate: Instant?
}

/// An Apple account.
struct AppleAccount: Hashable, Sendable {
  var storefront = Storefront.usa
  var family: String?
  /// Whether charges fail.
  var billingFails = false
  /// By app id.
  var appInstalls: [String: AppInstall] = [:]
}
