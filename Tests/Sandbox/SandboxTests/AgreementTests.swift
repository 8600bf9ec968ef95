import AppStore
import Entitlements
import JSON
import Testing

@testable import Sandbox

/// Compares the answers of the entitlement rules with the simulator's own ownership.
@Suite struct AgreementTests {
  private static let catalog = AppDefinition(
    id: "demo", identity: DemoWorld.app.identity, environments: [.sandbox],
    products: [
      ProductDefinition(
        productID: "weekly", type: .autoRenewableSubscription, subscriptionGroup: "pro", level: 2,
        entitlements: ["pro"]),
      ProductDefinition(
        productID: "monthly", type: .autoRenewableSubscription, subscriptionGroup: "pro", level: 2,
        entitlements: ["pro"]),
      ProductDefinition(
        productID: "gold", type: .autoRenewableSubscription, subscriptionGroup: "pro", level: 1,
        entitlements: ["pro"]),
      ProductDefinition(
        productID: "yearly", type: .autoRenewableSubscription, subscriptionGroup: "pro", level: 2,
        entitlements: ["pro"]),
      ProductDefinition(productID: "unlock", type: .nonConsumable, entitlements: ["pro"]),
    ])

  /// Whether the account owns the entitlement, by the simulator's state.
  private static func isEntitled(_ account: String, in world: World) -> Bool {
    let owned = world.purchases(of: account, in: "demo")
    return owned.contains { $0.productID == "unlock" && $0.revocation == nil }
      || world.subscriptions(of: account, in: "demo").contains {
        $0.group == "pro" && world.usablePeriod(of: $0) != nil
      }
  }

  /// Inserts the documents of a notification into the facts of its account.
  private static func take(
    _ notification: SandboxNotification, of world: World, into facts: inout [String: CustomerFacts]
  )
    throws
  {
    guard case .purchase(let sold, let line, _) = notification.subject else { return }
    let transaction = world.payload(of: sold, signed: notification.date)
    facts[sold.account, default: CustomerFacts()]
      .insert(try TransactionFact(JWSTransactionDecodedPayload(json: transaction)))
    guard let line else { return }
    let renewal = world.payload(of: line, signed: notification.date)
    facts[sold.account]?.insert(try RenewalFact(JWSRenewalInfoDecodedPayload(json: renewal)))
  }

  @Test(
    "The entitlement rules agree with the simulator at fifty times of two years, from notifications")
  func notifications() throws {
    var life = try SeededLife(seed: 11, customers: 100)
    var facts: [String: CustomerFacts] = [:]
    var taken = 0
    var answers = 0
    for _ in 0..<50 {
      life.live(days: 15)
      let world = life.demo.world
      for notification in world.notifications[taken...] {
        try Self.take(notification, of: world, into: &facts)
      }
      taken = world.notifications.count
      for (account, known) in facts {
        let status = evaluate(known, entitlement: "pro", in: Self.catalog, at: world.now)
        let truth = Self.isEntitled(account, in: world)
        #expect(status.isEntitled == truth, "\(account) at \(world.now)")
        answers += truth ? 1 : 0
      }
    }
    #expect(answers > 1000)
  }

  @Test("The entitlement rules agree with the simulator after two years, from history and statuses alone")
  func histories() throws {
    var life = try SeededLife(seed: 12, customers: 100)
    life.live(days: 730)
    let world = life.demo.world
    for account in world.accounts.keys {
      var facts = CustomerFacts()
      for sold in world.purchases(of: account, in: "demo") {
        let payload = world.payload(of: sold, signed: world.now)
        facts.insert(try TransactionFact(JWSTransactionDecodedPayload(json: payload)))
      }
      for line in world.subscriptions(of: account, in: "demo") {
        let payload = world.payload(of: line, signed: world.now)
        facts.insert(try RenewalFact(JWSRenewalInfoDecodedPayload(json: payload)))
      }
      let status = evaluate(facts, entitlement: "pro", in: Self.catalog, at: world.now)
      #expect(status.isEntitled == Self.isEntitled(account, in: world), "\(account)")
    }
  }
}
