internal import AppStore
internal import JSON

/// The tables of developer settings.
enum AppTables {
  static var all: [WorldTable] {
    [
      storefront.table, app.table, product.table, price.table, offer.table, retentionImage.table,
      retentionMessage.table, retentionDefault.table, serverKey.table, massExtension.table,
      externalReport.table, externalToken.table,
    ]
  }

  static let storefront = RowEncoder<Storefront>(
    "storefront", "Storefronts.", key: 1,
    [
      .init("storefront") { $0.code }, .init("storefront_id") { $0.id }, .init("currency") { $0.currency },
      .init("thousandths_per_dollar") { $0.perDollar },
    ])

  /// An app and its settings.
  typealias App = (app: SandboxApp, settings: AppSettings)

  static let app = RowEncoder<App>(
    "app", "Apps and their settings.", key: 1,
    [
      .init("app") { $0.app.id }, .init("bundle_id") { $0.app.identity.bundleID },
      .init("app_apple_id") { $0.app.identity.appAppleID },
      .init("notification_url") { $0.settings.notificationTarget?.url },
      .init("notification_version") { $0.settings.notificationTarget?.version },
      .init("delivery_rules") { $0.settings.delivery.rules.rawValue },
      .init("has_delays") { $0.settings.delivery.delays != nil },
      .init("has_shared_secret") { $0.settings.sharedSecret != nil },
      .init("grace_days") { $0.settings.gracePeriod.days },
      .init("grace_renewal_type") { $0.settings.gracePeriod.scope.rawValue },
      .init("commitment_expired_subtype") { $0.settings.commitmentRules.expiredSubtype.rawValue },
      .init("last_period_auto_renew_status") { $0.settings.commitmentRules.staysOnInLastPeriod },
      .init("added_seats") { $0.settings.sharingRules.addedSeats.rawValue },
      .init("purchaser_needs_seat") { $0.settings.sharingRules.purchaserNeedsSeat },
      .init("seat_revocation") { $0.settings.sharingRules.seatRevocation.rawValue },
      .init("revoked_by_upgrade") { $0.settings.sharingRules.revokedByUpgrade.rawValue },
      .init("realtime_url") { $0.settings.messages.realtimeURL },
    ])

  /// A product with its current settings.
  struct Product: Sendable {
    let app: String
    let product: SandboxProduct
    let settings: AppSettings
    /// The price in storefront `USA`.
    let price: Int64
    /// The price of one payment of the monthly plan in storefront `USA`.
    let monthlyPrice: Int64?

    var isSubscription: Bool { product.type == .autoRenewableSubscription }
    /// The volume discounts, as the action `volume-pricing` sets them.
    var priceBands: String? {
      settings.priceBands[product.productId].map { bands in
        bands.map { "\($0.after):\($0.price)" }.joined(separator: ",")
      }
    }
    /// Whether the developer manages the invitations to the product's seats.
    var isInvitedToByDeveloper: Bool { settings.invitedByDeveloper.contains(product.productId) }
  }

  static let product = RowEncoder<Product>(
    "product",
    "Products. Level 1 is a group's highest; prices are thousandths of the currency.", key: 2,
    [
      .init("app") { $0.app }, .init("product_id") { $0.product.productId },
      .init("type") { $0.product.type.rawValue },
      .init("subscription_group") { $0.isSubscription ? $0.product.group : nil },
      .init("level") { $0.isSubscription ? $0.product.level : nil },
      .init("period") { $0.product.period?.description },
      .init("duration") { $0.product.duration?.description },
      .init("price") { $0.price }, .init("monthly_price") { $0.monthlyPrice },
      .init("currency") { $0.product.currency },
      .init("is_sold") { !$0.settings.withdrawn.contains($0.product.productId) },
      .init("is_shareable") { $0.settings.shareable.contains($0.product.productId) },
      .init("price_bands") { $0.priceBands },
      .init("invitations") {
        ($0.isInvitedToByDeveloper ? InvitationManagement.developer : .apple).rawValue
      },
    ])

  /// The prices of a product in one storefront.
  struct Price: Sendable {
    let app: String
    let product: SandboxProduct
    let storefront: Storefront
    let price: Int64
    let monthlyPrice: Int64?
  }

  static let price = RowEncoder<Price>(
    "price", "Prices in each storefront, in thousandths of its currency.", key: 3,
    [
      .init("app") { $0.app }, .init("product_id") { $0.product.productId },
      .init("storefront") { $0.storefront.code }, .init("price") { $0.price },
      .init("monthly_price") { $0.monthlyPrice },
      .init("currency") { $0.storefront.currency(of: $0.product) },
    ])

  /// An offer with the product to which it belongs.
  typealias ProductOffer = (app: String, productID: String, offer: Offer)

  static let offer = RowEncoder<ProductOffer>(
    "offer",
    "Subscription offers by Apple's codes: 1 introductory, 2 promotional, 3 code, 4 win-back, 5 retention.",
    key: 3,
    [
      .init("app") { $0.app }, .init("product_id") { $0.productID }, .init("offer_id") { $0.offer.id },
      .init("type") { $0.offer.type.rawValue }, .init("mode") { $0.offer.mode.rawValue },
      .init("billing_plan") { $0.offer.plan.rawValue },
      .init("period") { $0.offer.period.description }, .init("periods") { $0.offer.periods },
      .init("price") { $0.offer.price },
    ])

  static let retentionImage = RowEncoder<(app: String, id: String, image: RetentionMessages.Image)>(
    "retention_image", "Images of retention messages.", key: 2,
    [
      .init("app") { $0.app }, .init("image_id") { $0.id }, .init("size") { $0.image.size },
      .init("state") { $0.image.state.rawValue },
    ])

  static let retentionMessage = RowEncoder<(app: String, id: String, message: RetentionMessages.Message)>(
    "retention_message", "Retention messages as uploaded.", key: 2,
    [
      .init("app") { $0.app }, .init("message_id") { $0.id }, .init("state") { $0.message.state.rawValue },
      .init("content") { $0.message.content },
    ])

  static let retentionDefault = RowEncoder<(app: String, key: RetentionMessages.DefaultKey, message: String)>(
    "retention_default", "Default retention messages.", key: 3,
    [
      .init("app") { $0.app }, .init("product_id") { $0.key.productID },
      .init("locale") { $0.key.locale }, .init("message_id") { $0.message },
    ])

  static let serverKey = RowEncoder<(id: String, pem: String)>(
    "server_key", "Public keys for Server API tokens and offer signatures.", key: 1,
    [.init("key_id") { $0.id }, .init("public_key") { $0.pem }])

  static let massExtension = RowEncoder<(number: Int, extension: MassExtension)>(
    "mass_extension", "Renewal date extensions for all subscribers of a product.", key: 1,
    [
      .init("number") { $0.number }, .init("request_identifier") { $0.extension.requestIdentifier },
      .init("app") { $0.extension.app }, .init("product_id") { $0.extension.productID },
      .init("storefronts") { $0.extension.storefronts.joined(separator: ",") },
      .init("due_date") { $0.extension.due }, .init("completed_date") { $0.extension.completed },
      .init("succeeded") { $0.extension.succeeded },
      .init("failed") { $0.extension.failed },
    ])

  static let externalReport = RowEncoder<(name: World.ReportName, report: JSONObject)>(
    "external_report", "External purchase reports.", key: 2,
    [
      .init("app") { $0.name.app }, .init("request_identifier") { $0.name.identifier },
      .init("report") { $0.report },
    ])

  static let externalToken = RowEncoder<ExternalToken>(
    "external_token", "External purchase tokens.", key: 1,
    [
      .init("external_purchase_id") { $0.id }, .init("app") { $0.app },
      .init("token_type") { $0.kind?.rawValue }, .init("created_date") { $0.created },
      .init("expires_date") { $0.expires }, .init("is_reported") { $0.report != .missing },
      .init("is_duplicate") { $0.report == .duplicate }, .init("reminders") { $0.reminders },
    ])
}
