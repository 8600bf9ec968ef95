internal import AppStore
internal import Foundation
internal import JSON
internal import SignedData

/// The purchases of `tools/bench/large-customers`: as many for each of a few customers, whose ids are the
/// `appAccountToken`s of the purchases.
struct TokenPurchases {
  enum Shape: String {
    /// Each purchase is a separate line and grants nothing.
    case consumables
    /// Each purchase is a separate subscription. Their periods overlap.
    case subscriptions
    /// All purchases of a customer are periods of one subscription.
    case renewals
  }

  let shape: Shape
  let customers: Int
  /// The time of the first purchase and of the first signature, in milliseconds.
  let start: Int64
  let signedFrom: Int64

  private static let hour: Int64 = 3_600_000

  /// The purchase with a number: all customers buy in turn.
  func transaction(_ number: Int) -> JSONObject {
    var payload: JSONObject = [
      "transactionId": .string(String(3_000_000_000_000_000 + number)),
      "originalTransactionId": .string(line(number)), "bundleId": .string(PostedNotifications.bundleID),
      "purchaseDate": .number(JSONNumber(bought(number))), "originalPurchaseDate": .number(JSONNumber(start)),
      "quantity": 1, "inAppOwnershipType": "PURCHASED", "signedDate": .number(JSONNumber(signed(number))),
      "environment": "Sandbox", "storefront": "DEU", "storefrontId": "143443", "price": 39_990,
      "currency": "EUR", "appAccountToken": .string(token(number % customers)),
    ]
    guard shape != .consumables else {
      payload["productId"] = "shells.100"
      payload["type"] = "Consumable"
      return payload
    }
    payload["productId"] = "pro.yearly"
    payload["type"] = "Auto-Renewable Subscription"
    payload["subscriptionGroupIdentifier"] = "pro"
    payload["webOrderLineItemId"] = .string(String(4_000_000_000_000_000 + number))
    payload["expiresDate"] = .number(JSONNumber(end(number)))
    payload["transactionReason"] = shape == .renewals && number >= customers ? "RENEWAL" : "PURCHASE"
    return payload
  }

  /// The renewal info; `nil` for a consumable.
  func renewalInfo(_ number: Int) -> JSONObject? {
    guard shape != .consumables else { return nil }
    return [
      "originalTransactionId": .string(line(number)), "autoRenewProductId": "pro.yearly",
      "productId": "pro.yearly", "autoRenewStatus": 1, "renewalPrice": 39_990, "currency": "EUR",
      "signedDate": .number(JSONNumber(signed(number))), "environment": "Sandbox",
      "recentSubscriptionStartDate": .number(JSONNumber(start)),
      "renewalDate": .number(JSONNumber(end(number))),
    ]
  }

  var notificationType: String { shape == .consumables ? "ONE_TIME_CHARGE" : "DID_RENEW" }

  func signed(_ number: Int) -> Int64 { signedFrom + Int64(number) }

  private func line(_ number: Int) -> String {
    String(2_000_000_000_000_000 + (shape == .renewals ? number % customers : number))
  }

  private func bought(_ number: Int) -> Int64 { start + Int64(number / customers) * Self.hour }

  private func end(_ number: Int) -> Int64 { bought(number) + Self.hour * (shape == .renewals ? 1 : 24) }

  private func token(_ customer: Int) -> String {
    let digits = String(customer)
    return "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
  }
}
