import AppStore
import JSON
import Testing

@testable import Sandbox

/// Tests of monthly subscriptions with a 12-month commitment, in a world that sells them. The rules are those of Apple's
/// articles "Supporting monthly subscriptions with a 12-month commitment" and "Managing the life cycle of monthly
/// subscriptions with a 12-month commitment" unless a test names another source.
protocol CommitmentSuite {
  var demo: DemoWorld { get set }
}

extension DemoWorld {
  private static let commitmentApp = SandboxApp(
    id: "demo", identity: AppIdentity(bundleID: "com.example", appAppleID: 1234),
    products: [
      subscription("top", 1, "P1Y", 99990, monthly: 9990), subscription("gold", 1, "P1M", 9990),
      subscription("yearly", 2, "P1Y", 39990, monthly: 3990),
      subscription("other", 2, "P1Y", 35990, monthly: 3590), subscription("monthly", 2, "P1M", 4990),
      subscription("basic", 3, "P1Y", 19990, monthly: 1990),
    ])

  private static func subscription(
    _ id: String, _ level: Int, _ period: String, _ price: Int64, monthly: Int64? = nil
  ) -> SandboxProduct {
    SandboxProduct(
      productId: id, type: .autoRenewableSubscription, subscriptionGroupIdentifier: "pro", level: level,
      period: Period(period), price: price, monthlyPrice: monthly)
  }

  /// A world on 31 January 2026 with two accounts in Germany.
  static func sellingCommitments() throws -> DemoWorld {
    var demo = DemoWorld()
    // Every second month has no day 31.
    let start = try #require(Instant(rfc3339: "2026-01-31T12:00:00Z"))
    demo.world = World(apps: [commitmentApp], start: start, firstNumber: 1000, seed: 7)
    demo.world.timing = .exact
    for account in ["ann", "bob"] {
      try demo.act(.storefront, ["account": .string(account), "storefront": "DEU"])
    }
    return demo
  }
}

extension CommitmentSuite {
  mutating func advance(to text: String) throws {
    demo.world.advance(to: try #require(Instant(rfc3339: "\(text)T13:00:00Z")))
  }

  func date(_ text: String) throws -> Instant { try #require(Instant(rfc3339: "\(text)T12:00:00Z")) }

  /// The signed transaction of the current period.
  func transaction(_ account: String = "ann") throws -> JWSTransactionDecodedPayload {
    let sold = try demo.sold(demo.line(account).current)
    return try JWSTransactionDecodedPayload(json: demo.world.payload(of: sold, signed: demo.world.now))
  }

  func renewal(_ account: String = "ann") throws -> JWSRenewalInfoDecodedPayload {
    let line = try demo.line(account)
    return try JWSRenewalInfoDecodedPayload(json: demo.world.payload(of: line, signed: demo.world.now))
  }

  mutating func setAutoRenewal(_ isOn: Bool) throws {
    try demo.act(
      .autoRenew, ["transactionId": .string(String(try demo.line().id)), "enabled": .bool(isOn)])
  }

  mutating func setBilling(fails: Bool) throws {
    try demo.act(.billing, ["account": "ann", "fails": .bool(fails)])
  }
}
