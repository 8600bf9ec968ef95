import AppStore
import Entitlements
import FamilySharing
import JSON
import Reports
import TestSupport
import Testing

@testable import Sandbox

/// Compares the answers of the entitlement rules with the simulator's own ownership.
///
/// `ENTITLED_LIVES` says how many worlds with teams; 200 take two minutes.
@Suite struct AgreementTests {
  private static let teamSeeds = UInt64(lifeCount(short: 4))

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
    let entitled = try compare(SeededLife(seed: 11, customers: 100), steps: 50, days: 15)
    #expect(entitled > 1000)
  }

  @Test(
    "The entitlement rules agree with the simulator about teams that add seats and are refunded, every three days",
    arguments: 0..<teamSeeds)
  func teams(seed: UInt64) throws {
    let entitled = try compare(SeededLife(seed: seed, customers: 20, isAboutTeams: true), steps: 120, days: 3)
    #expect(entitled > 200)
  }

  /// Lets customers live and compares the answers and the number of seats after each step.
  ///
  /// - Returns: the number of answers with access.
  private func compare(_ life: SeededLife, steps: Int, days: Int) throws -> Int {
    var life = life
    var facts: [String: CustomerFacts] = [:]
    var taken = 0
    var entitled = 0
    for step in 1...steps {
      life.live(days: days)
      let world = life.demo.world
      for notification in world.notifications[taken...] {
        try Self.take(notification, of: world, into: &facts)
      }
      taken = world.notifications.count
      for (account, known) in facts {
        let status = evaluate(known, entitlement: "pro", in: Self.catalog, at: world.now)
        let truth = Self.isEntitled(account, in: world)
        #expect(status.isEntitled == truth, "\(account) at \(world.now): \(status.reason)")
        entitled += truth ? 1 : 0
      }
      expectSeats(facts, in: world)
      if step % 10 == 0 { try expectAgreement(with: world) }
    }
    return entitled
  }

  private func expectSeats(_ facts: [String: CustomerFacts], in world: World) {
    for line in world.lines.values where line.source == nil && line.invitations != nil {
      let known = facts[line.account]?.ofLine(String(line.id)) ?? CustomerFacts()
      #expect(SeatCapacity(known).current == world.seats(of: line), "\(line.id) at \(world.now)")
    }
  }

  /// Compares answers from histories and statuses alone, in which every document has the latest state.
  private func expectAgreement(with world: World) throws {
    var known: [String: CustomerFacts] = [:]
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
      #expect(
        status.isEntitled == Self.isEntitled(account, in: world),
        "\(account) at \(world.now), from its history: \(status.reason)")
      known[account] = facts
    }
    expectSeats(known, in: world)
  }

  @Test("Answers agree after an upgrade between the charge of a renewal and its start, also for members")
  func upgradeAfterCharge() throws {
    var demo = DemoWorld()
    demo.world.timing = RenewalTiming()
    for product in ["monthly", "gold"] { try demo.act(.shareable, ["productId": .string(product)]) }
    for account in ["ann", "bob"] { try demo.act(.joinFamily, ["account": .string(account), "family": "a"]) }
    try demo.buy("monthly")
    demo.world.advance(to: try demo.line().chargeDate)
    demo.pass(seconds: 1)
    try demo.buy("gold")
    var facts: [String: CustomerFacts] = [:]
    var taken = 0
    for _ in 1...40 {
      for notification in demo.world.notifications[taken...] {
        try Self.take(notification, of: demo.world, into: &facts)
      }
      taken = demo.world.notifications.count
      let now = demo.world.now
      for (account, known) in facts {
        let status = evaluate(known, entitlement: "pro", in: Self.catalog, at: now)
        #expect(status.isEntitled, "\(account) at \(now): \(status.reason)")
        #expect(account != "ann" || status.deciding?.productID == "gold", "at \(now)")
      }
      try expectAgreement(with: demo.world)
      demo.pass(days: 1)
    }
  }

  // WWDC26-391: 50 seats in three price bands cost 789.50.
  @Test("The price of seats is the sum of their bands, and a refund of seats is their share of it")
  func money() throws {
    var demo = DemoWorld()
    try demo.act(.price, ["productId": "monthly", "price": 19990])
    try demo.act(.volumePricing, ["productId": "monthly", "bands": "20:13990,40:10990"])
    let bought = try demo.act(.purchases, ["productId": "monthly", "account": "boss", "seats": 50])
    let id = JSONValue.string(String(try #require(bought.transactions.first)))
    demo.pass(days: 3)
    try demo.act(.seats, ["transactionId": id, "seats": 52])
    demo.pass(days: 3)
    try demo.act(.refundSeats, ["transactionId": id, "seats": 7])
    var facts: [String: CustomerFacts] = [:]
    for notification in demo.world.notifications {
      try Self.take(notification, of: demo.world, into: &facts)
    }
    let payments = PayerPostings(facts["boss"] ?? CustomerFacts(), in: Self.catalog, at: day(30)).postings
      .filter { $0.kind == .charge || $0.kind == .refund }
    #expect(payments.map(\.amount) == [789_500, -78_950, 21_980, -21_980])
    // Apple states no date of these refunds, so that of the signature counts.
    let second = day(6).advanced(byMilliseconds: 1)
    #expect(payments.map(\.effectiveAt) == [day(0), second, day(3), day(6)])
  }

  @Test("The entitlement rules agree with the simulator after two years, from history and statuses alone")
  func histories() throws {
    var life = try SeededLife(seed: 12, customers: 100)
    life.live(days: 730)
    try expectAgreement(with: life.demo.world)
  }
}
