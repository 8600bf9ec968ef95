internal import AppStore
internal import Foundation
internal import JSON

/// The monthly subscriptions of `tools/bench/reports`: those that began up to a year ago, in several storefronts, and the
/// notifications of a day about them.
struct MonthlyLives {
  /// A notification about one period of the subscription of one customer.
  struct Notice {
    enum Kind {
      case period
      /// The customer turned auto-renew off in the period.
      case cancellation
      /// A customer without a past subscribed.
      case purchase
    }

    let kind: Kind
    let customer: Int
    /// The number of the month, from 0 to ``MonthlyLives/months``.
    let month: Int
  }

  let customers: Int
  /// The time of the last notifications, in milliseconds.
  let now: Int64
  /// When the last renewals begin: Apple charges them up to a day before.
  let end: Int64

  private static let months = 12
  private static let month: Int64 = 30 * 86_400_000
  private static let storefronts = [
    ("USA", "USD"), ("DEU", "EUR"), ("FRA", "EUR"), ("GBR", "GBP"), ("JPN", "JPY"), ("CAN", "CAD"),
  ]

  /// The purchases and renewals up to the running periods, in their order.
  var history: [Notice] {
    (0..<Self.months).flatMap { month in
      (0..<customers).filter { first(of: $0) <= month }
        .map { Notice(kind: .period, customer: $0, month: month) }
    }
  }

  /// In turn a renewal, a cancellation and a purchase.
  var day: [Notice] {
    (0..<customers).map { customer in
      switch customer % 3 {
      case 0: Notice(kind: .period, customer: customer, month: Self.months)
      case 1: Notice(kind: .cancellation, customer: customer, month: Self.months - 1)
      default: Notice(kind: .purchase, customer: customers + customer, month: Self.months)
      }
    }
  }

  private func first(of customer: Int) -> Int { customer < customers ? customer % Self.months : Self.months }

  /// Apple's type and subtype.
  func type(_ notice: Notice) -> (name: String, subtype: String?) {
    switch notice.kind {
    case .cancellation: ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED")
    case .period, .purchase:
      isPurchase(notice) ? ("SUBSCRIBED", "INITIAL_BUY") : ("DID_RENEW", nil)
    }
  }

  private func isPurchase(_ notice: Notice) -> Bool { notice.month == first(of: notice.customer) }

  /// When a period begins, in milliseconds.
  private func start(_ customer: Int, _ month: Int) -> Int64 {
    if customer >= customers { return now }
    return end + Int64(customer) - Int64(Self.months - month) * Self.month
  }

  /// When Apple signs the documents, in milliseconds.
  func signed(_ notice: Notice) -> Int64 {
    let isOfHistory = notice.kind == .period && notice.month < Self.months
    return isOfHistory ? start(notice.customer, notice.month) : now
  }

  func transaction(_ notice: Notice) -> JSONObject {
    let (storefront, currency) = Self.storefronts[notice.customer % Self.storefronts.count]
    let start = start(notice.customer, notice.month)
    let digits = String(notice.customer)
    let token = "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
    let number = notice.customer * (Self.months + 1) + notice.month
    let reason: JSONValue = isPurchase(notice) ? "PURCHASE" : "RENEWAL"
    return [
      "transactionId": .string(String(3_000_000_000_000_000 + number)),
      "originalTransactionId": .string(line(notice)),
      "webOrderLineItemId": .string(String(4_000_000_000_000_000 + number)),
      "bundleId": .string(PostedNotifications.bundleID), "productId": .string(Self.productID),
      "subscriptionGroupIdentifier": "pro", "purchaseDate": .number(JSONNumber(start)),
      "originalPurchaseDate": .number(JSONNumber(firstStart(notice))),
      "expiresDate": .number(JSONNumber(start + Self.month)), "quantity": 1,
      "type": "Auto-Renewable Subscription", "inAppOwnershipType": "PURCHASED",
      "signedDate": .number(JSONNumber(signed(notice))), "environment": "Sandbox",
      "transactionReason": reason, "storefront": .string(storefront),
      "storefrontId": "143443", "price": 4_990, "currency": .string(currency),
      "appAccountToken": .string(token), "appTransactionId": .string(install(notice)),
    ]
  }

  func renewalInfo(_ notice: Notice) -> JSONObject {
    let (_, currency) = Self.storefronts[notice.customer % Self.storefronts.count]
    let status: JSONValue = notice.kind == .cancellation ? 0 : 1
    return [
      "originalTransactionId": .string(line(notice)), "autoRenewProductId": .string(Self.productID),
      "productId": .string(Self.productID), "autoRenewStatus": status,
      "renewalPrice": 4_990, "currency": .string(currency),
      "signedDate": .number(JSONNumber(signed(notice))), "environment": "Sandbox",
      "recentSubscriptionStartDate": .number(JSONNumber(firstStart(notice))),
      "renewalDate": .number(JSONNumber(start(notice.customer, notice.month) + Self.month)),
      "appTransactionId": .string(install(notice)),
    ]
  }

  private static let productID = "pro.monthly"

  private func firstStart(_ notice: Notice) -> Int64 { start(notice.customer, first(of: notice.customer)) }

  /// The subscriptions in no order of time, as Apple's ids are.
  private func line(_ notice: Notice) -> String {
    String(2_000_000_000_000_000 + notice.customer * 7919 % (2 * customers))
  }

  private func install(_ notice: Notice) -> String { String(704_000_000_000_000 + notice.customer) }
}
