internal import AppStore

/// What a developer sets up for an app beside its products.
struct AppSettings: Hashable, Sendable {
  /// Where notifications go, and in which version; `nil`: nowhere.
  struct NotificationTarget: Hashable, Sendable {
    let url: String
    let version: Int64
  }

  var notificationTarget: NotificationTarget?
  var sharedSecret: String?
  /// Days of grace after a failed charge; 0: none.
  var graceDays: Int64 = 0
  /// Offers by product.
  var offers: [String: [Offer]] = [:]
  /// Prices that differ from the catalog's, by product.
  var prices: [String: Int64] = [:]
  /// Products that are sold no longer.
  var withdrawn: Set<String> = []
  /// Prices in single storefronts, by storefront and product.
  var storefrontPrices: [String: [String: Int64]] = [:]
  /// Products that can be shared beside those of the catalog.
  var shareable: Set<String> = []
  /// Products to whose seats the developer invites, and not Apple.
  var invitedByDeveloper: Set<String> = []
  var messages = RetentionMessages()
}

/// An account's copy of an app.
struct AppInstall: Hashable, Sendable {
  var version = "1.0"
  var originalVersion = "1.0"
  var originalPurchaseDate: Instant
  var preorderDate: Instant?
}

/// One Apple account.
struct AppleAccount: Hashable, Sendable {
  var storefront = Storefront.usa
  var family: String?
  /// Its charges fail.
  var billingFails = false
  /// By app.
  var appInstalls: [String: AppInstall] = [:]
}
