import AppStore
import JSON
import Testing

@testable import Sandbox

/// A world with one app and shorthand functions.
struct DemoWorld {
  static let start = Instant(rfc3339: "2026-01-01T00:00:00Z")!
  static let app = SandboxApp(
    id: "demo", identity: AppIdentity(bundleID: "com.example", appAppleID: 1234),
    products: [
      SandboxProduct(
        productId: "weekly", type: .autoRenewableSubscription, subscriptionGroupIdentifier: "pro", level: 2,
        period: Period("P1W"), price: 1990),
      SandboxProduct(
        productId: "monthly", type: .autoRenewableSubscription, subscriptionGroupIdentifier: "pro", level: 2,
        period: Period("P1M"), price: 4990),
      SandboxProduct(
        productId: "gold", type: .autoRenewableSubscription, subscriptionGroupIdentifier: "pro", level: 1,
        period: Period("P1M"), price: 9990),
      SandboxProduct(
        productId: "yearly", type: .autoRenewableSubscription, subscriptionGroupIdentifier: "pro", level: 2,
        period: Period("P1Y"), price: 39990, monthlyPrice: 3990),
      SandboxProduct(
        productId: "news", type: .autoRenewableSubscription, subscriptionGroupIdentifier: "news", level: 1,
        period: Period("P1Y"), price: 29990),
      SandboxProduct(productId: "unlock", type: .nonConsumable, price: 14990),
      SandboxProduct(productId: "season", type: .nonRenewingSubscription, price: 7990),
      SandboxProduct(productId: "coins", type: .consumable, price: 990),
    ])

  var world = World(apps: [app], start: start, firstNumber: 1000, seed: 7)

  /// Creates a world in which charges and announcements of failures happen exactly at the end of a period.
  init() { world.timing = .exact }

  /// Performs an action; adds the app to the members.
  @discardableResult
  mutating func act(_ action: Action, _ members: JSONObject = [:]) throws -> Outcome {
    var members = members
    if action.members.contains("app") { members["app"] = "demo" }
    return try world.perform(action, Parameters(members))
  }

  /// Buys a product; returns the transaction id.
  @discardableResult
  mutating func buy(
    _ product: String, _ account: String = "ann", offer: String? = nil, plan: BillingPlan = .billedUpfront
  ) throws -> Int64 {
    var order: JSONObject = [
      "productId": .string(product), "account": .string(account), "billingPlanType": .string(plan.rawValue),
    ]
    order["offer"] = offer.map(JSONValue.string)
    return try #require(try act(.purchases, order).transactions.first)
  }

  mutating func pass(days: Int64) { pass(seconds: days * 86_400) }

  mutating func pass(seconds: Int64) {
    world.advance(to: world.now.advanced(byMilliseconds: seconds * 1000))
  }

  /// Returns the names of an account's notifications from index `first` on.
  func notifications(_ account: String = "ann", since first: Int = 0) -> [String] {
    world.notifications.dropFirst(first).filter { $0.transaction?.account == account }.map(\.name)
  }

  func line(_ account: String = "ann", _ group: String = "pro") throws -> SubscriptionLine {
    let owner = World.GroupOwnership(app: "demo", account: account, group: group)
    return try #require(world.ownLines[owner].flatMap { world.lines[$0] })
  }

  func sold(_ id: Int64) throws -> SoldTransaction { try #require(world.transactions[id]) }
}

extension RenewalTiming {
  /// Charges and announcements of failures exactly at the end of a period.
  static let exact = RenewalTiming(chargeLead: 0, failureDelay: 0, staleFailures: 0)
}

/// Returns the start of a day of the world, counted from 0.
func day(_ days: Int64) -> Instant { DemoWorld.start.advanced(byMilliseconds: days * 86_400_000) }
