internal import AppStore
internal import JSON

/// The tables of purchases and notifications.
enum CustomerTables {
  static var all: [WorldTable] {
    [
      account.table, appInstall.table, purchase.table, restoredTransaction.table, subscription.table,
      seat.table, requestToBuy.table,
      notification.table, delivery.table, consumption.table,
    ]
  }

  static let account = RowEncoder<(name: String, account: AppleAccount)>(
    "account", "Apple accounts. Accounts with the same family share purchases.", key: 1,
    [
      .init("account") { $0.name }, .init("storefront") { $0.account.storefront.code },
      .init("family") { $0.account.family }, .init("billing_fails") { $0.account.billingFails },
      .init("is_testflight") { $0.account.scale == .testFlight },
      .init("milliseconds_per_month") { $0.account.scale?.compressedMonth },
    ])

  static let appInstall = RowEncoder<(account: String, app: String, install: AppInstall)>(
    "app_install", "The apps that accounts downloaded.", key: 2,
    [
      .init("account") { $0.account }, .init("app") { $0.app },
      .init("app_transaction_id") { appTransactionID(app: $0.app, account: $0.account) },
      .init("version") { $0.install.version }, .init("original_version") { $0.install.originalVersion },
      .init("original_purchase_date") { $0.install.originalPurchaseDate },
      .init("preorder_date") { $0.install.preorderDate },
    ])

  static let purchase = RowEncoder<SoldTransaction>(
    "purchase", "Transactions, including shared ones. Prices are thousandths of the currency.",
    key: 1,
    [
      .init("transaction_id") { $0.id }, .init("original_transaction_id") { $0.originalID },
      .init("app") { $0.app }, .init("account") { $0.account }, .init("product_id") { $0.productID },
      .init("reason") { $0.reason.rawValue }, .init("ownership") { $0.ownership.rawValue },
      .init("purchase_date") { $0.purchaseDate },
      .init("original_purchase_date") { $0.originalPurchaseDate },
      .init("expires_date") { $0.expiresDate }, .init("quantity") { $0.quantity },
      .init("price") { $0.price }, .init("storefront") { $0.storefront.code },
      .init("offer_type") { $0.offer?.type.rawValue }, .init("offer_id") { $0.offer?.id },
      .init("app_account_token") { $0.appAccountToken }, .init("order_id") { $0.orderID },
      .init("web_order_line_item_id") { $0.webOrderLineItemID },
      .init("billing_plan") { $0.billingPlan?.rawValue },
      .init("billing_period_number") { $0.commitment?.number },
      .init("commitment_expires_date") { $0.commitment?.expiresDate },
      .init("commitment_price") { $0.commitment?.total },
      .init("revocation_date") { $0.revocation?.date },
      .init("revocation_reason") { $0.revocation?.reason.rawValue },
      .init("revocation_type") { $0.revocation?.type.rawValue },
      .init("revocation_percentage") { $0.revocation?.percentage },
      .init("invitations") { $0.seats?.invitations.rawValue },
      .init("revoked_seats") { $0.seats?.revoked }, .init("has_seat_additions") { $0.hasSeatAdditions },
      .init("is_upgraded") { $0.isUpgraded }, .init("is_finished") { $0.isFinished },
    ])

  static let restoredTransaction = RowEncoder<(id: Int64, copy: RestoredTransaction)>(
    "restored_transaction", "Ids of transactions that were restored on another device.", key: 1,
    [
      .init("restored_transaction_id") { $0.id }, .init("transaction_id") { $0.copy.transaction },
      .init("restored_date") { $0.copy.date },
    ])

  static let subscription = RowEncoder<SubscriptionLine>(
    "subscription",
    "Subscriptions: the current state with Apple's status code, and the next renewal, during a commitment the one after it.",
    key: 1,
    [
      .init("original_transaction_id") { $0.id }, .init("app") { $0.app }, .init("account") { $0.account },
      .init("subscription_group") { $0.group }, .init("product_id") { $0.productID },
      .init("transaction_id") { $0.current }, .init("state") { $0.status.name },
      .init("status") { $0.appleStatus.rawValue }, .init("expires_date") { $0.expiresDate },
      .init("state_ends_date") { $0.status.end },
      .init("expiration_intent") { $0.status.expirationIntent?.rawValue },
      .init("next_change_date") { $0.due }, .init("charge_failed") { $0.hasFailedCharge },
      .init("renews") { $0.autoRenews },
      .init("renewal_product_id") { $0.renewalProductID }, .init("renewal_quantity") { $0.renewalQuantity },
      .init("renewal_price") { $0.renewalPrice }, .init("renewal_billing_plan") { $0.renewalPlan.rawValue },
      .init("renewal_offer_id") { $0.nextOffer?.id },
      .init("billing_period_number") { $0.commitment?.number },
      .init("payment_price") { $0.commitment?.price },
      .init("commitment_expires_date") { $0.commitment?.expiresDate },
      .init("increased_price") { $0.priceIncrease?.price },
      .init("increase_state") { $0.priceIncrease?.state.rawValue },
      .init("increase_notice_date") { $0.priceIncrease?.noticeDate },
      .init("ownership") { $0.ownership.rawValue }, .init("shared_from") { $0.source },
      .init("is_shared") { $0.isShared }, .init("leaves_at_end") { $0.leavesAtEnd },
      .init("invitations") { $0.invitations?.rawValue }, .init("is_organization") { $0.isOrganization },
      .init("original_purchase_date") { $0.originalPurchaseDate },
      .init("recent_start_date") { $0.recentStart }, .init("renewals") { $0.renewals },
      .init("extensions") { $0.extensions.count }, .init("app_account_token") { $0.appAccountToken },
    ])

  static let seat = RowEncoder<(line: Int64, claim: SeatClaim)>(
    "seat", "Seats claimed by developers.", key: 2,
    [
      .init("original_transaction_id") { $0.line }, .init("seat_claim_id") { $0.claim.id },
      .init("request_identifier") { $0.claim.requestIdentifier },
      .init("app_transaction_id") { $0.claim.appTransactionID },
    ])

  static let requestToBuy = RowEncoder<(request: String, pending: AskToBuyRequest)>(
    "request_to_buy", "Purchases that wait for a parent's approval.", key: 1,
    [
      .init("request") { $0.request }, .init("app") { $0.pending.order.app },
      .init("product_id") { $0.pending.order.productId }, .init("account") { $0.pending.order.account },
      .init("asked_date") { $0.pending.date },
    ])

  static let notification = RowEncoder<(number: Int, notification: SandboxNotification)>(
    "notification",
    "Server notifications, in order. Undelivered ones have a next attempt.", key: 1,
    [
      .init("number") { $0.number }, .init("notification_uuid") { $0.notification.uuid },
      .init("app") { $0.notification.app }, .init("version") { $0.notification.version },
      .init("type") { $0.notification.typeV1?.rawValue ?? $0.notification.type.rawValue },
      .init("subtype") { $0.notification.typeV1 == nil ? $0.notification.subtype?.rawValue : nil },
      .init("date") { $0.notification.date },
      .init("transaction_id") { $0.notification.transaction?.id },
      .init("original_transaction_id") { $0.notification.transaction?.originalID },
      .init("account") { $0.notification.transaction?.account },
      .init("attempts") { $0.notification.attempts.count },
      .init("last_result") { $0.notification.attempts.last?.result.rawValue },
      .init("next_attempt_date") { $0.notification.nextAttempt },
    ])

  static let delivery = RowEncoder<(number: Int, attempt: Int, made: SandboxNotification.Attempt)>(
    "delivery", "Delivery attempts and their results.", key: 2,
    [
      .init("number") { $0.number }, .init("attempt") { $0.attempt }, .init("date") { $0.made.date },
      .init("result") { $0.made.result.rawValue },
    ])

  static let consumption = RowEncoder<(number: Int, report: ConsumptionReport)>(
    "consumption", "Consumption information of developers.", key: 1,
    [
      .init("number") { $0.number }, .init("transaction_id") { $0.report.transaction },
      .init("date") { $0.report.date }, .init("version") { $0.report.version },
      .init("information") { $0.report.information },
    ])
}

extension SubscriptionLine.Status {
  /// The status as the tables name it.
  fileprivate var name: String {
    switch self {
    case .active: "active"
    case .grace: "grace"
    case .retry: "retry"
    case .ended: "ended"
    case .revoked: "revoked"
    }
  }

  /// The end of the grace period or billing retry.
  var end: Instant? {
    switch self {
    case .grace(let end), .retry(let end): end
    case .active, .ended, .revoked: nil
    }
  }

  /// The reason of the end, in Apple's code.
  fileprivate var expirationIntent: ExpirationIntent? {
    if case .ended(let intent) = self { intent } else { nil }
  }
}
