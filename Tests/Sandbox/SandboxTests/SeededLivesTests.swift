import AppStore
import JSON
import Testing

@testable import Sandbox

/// 200 customers with random actions for two years.
@Suite struct SeededLivesTests {
  private static let customers = 200
  private static let days = 730

  /// One world for all tests that only read it.
  private static let life = Result { try live(seed: 1) }

  private static func live(seed: UInt64, days: Int = days) throws -> World {
    var life = try SeededLife(seed: seed, customers: customers)
    life.live(days: days)
    return life.demo.world
  }

  @Test("The same seed gives the same world including identifiers; another seed gives another")
  func deterministic() throws {
    let (once, again) = (try Self.live(seed: 1, days: 180), try Self.live(seed: 1, days: 180))
    #expect(once.transactions == again.transactions)
    #expect(once.lines == again.lines)
    #expect(once.notifications == again.notifications)
    #expect(try Self.live(seed: 2, days: 180).notifications != once.notifications)
  }

  @Test("Paid periods of one account and group never overlap")
  func oneAtATime() throws {
    let world = try Self.life.get()
    #expect(world.transactions.count > 2000)
    for line in world.lines.values where line.ownership == .purchased {
      let sold = world.purchases(of: line.account, in: "demo").filter { $0.originalID == line.id }
      // Added seats are parallel to the period.
      let periods = sold.filter { one in
        !one.hasSeatAdditions || !sold.contains { $0.id < one.id && $0.expiresDate == one.expiresDate }
      }
      for (period, next) in zip(periods, periods.dropFirst()) {
        // An upgrade, a refund or a purchase during billing retry cuts a period short.
        let isCut = period.isUpgraded || period.revocation != nil
        #expect(isCut || period.expiresDate.map { $0 <= next.purchaseDate } ?? false)
      }
    }
    let running = world.lines.values.filter { $0.ownership == .purchased && $0.isEntitling }
    #expect(Set(running.map { "\($0.account) \($0.group)" }).count == running.count)
  }

  @Test("Commitments are entered, paid to their end, refunded and upgraded")
  func commitments() throws {
    let payments = try Self.life.get().transactions.values.filter { $0.commitment != nil }
    #expect(Set(payments.compactMap { $0.commitment?.number }) == Set(1...12))
    #expect(payments.contains { $0.isUpgraded } && payments.contains { $0.revocation?.type == .refundFull })
    for payment in payments {
      let (end, commitmentEnd) = (try #require(payment.expiresDate), payment.commitment?.expiresDate)
      #expect(try end <= #require(commitmentEnd))
      #expect((payment.commitment?.number == 12) == (end == commitmentEnd))
    }
  }

  @Test("Members have an assigned seat of a running purchase, and never more than there are seats")
  func seats() throws {
    let world = try Self.life.get()
    let teams = world.lines.values.filter { $0.invitations != nil && $0.isEntitling }
    #expect(teams.contains { !world.assignedMembers(of: $0).isEmpty })
    for team in teams { #expect(Int64(world.assignedMembers(of: team).count) <= world.seats(of: team)) }
    let members = world.lines.values.filter { $0.source != nil && $0.isEntitling && !$0.leavesAtEnd }
    for member in members {
      let purchaser = try #require(member.source.flatMap { world.lines[$0] })
      #expect(purchaser.isEntitling && purchaser.expiresDate == member.expiresDate)
    }
    let added = world.transactions.values.filter(\.hasSeatAdditions)
    #expect(!added.isEmpty && added.allSatisfy { $0.ownership == .purchased && $0.seats != nil })
  }

  @Test("Only paid transactions of the purchaser are refunded")
  func refunds() throws {
    let refunded = try Self.life.get().transactions.values.filter { $0.revocation?.type == .refundFull }
    #expect(!refunded.isEmpty)
    #expect(refunded.allSatisfy { $0.price > 0 && $0.ownership == .purchased })
  }

  @Test("Every transaction has a notification, and the last one has the current status")
  func notifications() throws {
    let world = try Self.life.get()
    let introductions: Set<NotificationTypeV2> = [
      .subscribed, .didRenew, .oneTimeCharge, .didChangeRenewalPref, .offerRedeemed,
    ]
    var introduced: Set<Int64> = []
    var lastStatus: [Int64: SubscriptionStatus] = [:]
    for notification in world.notifications {
      guard case .purchase(let sold, let line, _) = notification.subject else { continue }
      if introductions.contains(notification.type) { introduced.insert(sold.id) }
      if let line { lastStatus[line.id] = line.appleStatus }
    }
    #expect(introduced == Set(world.transactions.keys))
    #expect(
      lastStatus == Dictionary(uniqueKeysWithValues: world.lines.values.map { ($0.id, $0.appleStatus) }))
    #expect(Set(world.notifications.map(\.uuid)).count == world.notifications.count)
  }
}

/// Customers with random actions, deterministic for a seed.
struct SeededLife {
  var demo = DemoWorld()
  private var random: SeededRandom
  private let customers: Int
  /// Whether most actions concern purchases with seats.
  private let isAboutTeams: Bool

  init(seed: UInt64, customers: Int, isAboutTeams: Bool = false) throws {
    random = SeededRandom(seed: seed)
    self.customers = customers
    self.isAboutTeams = isAboutTeams
    demo.world.timing = RenewalTiming()
    try demo.act(.gracePeriod, ["days": 16])
    // The monthly plan is not sold in the USA.
    for number in 0..<customers / 2 {
      try demo.act(.storefront, ["account": .string("customer-\(number)"), "storefront": "DEU"])
    }
    try demo.act(.invitations, ["productId": "weekly", "management": "DEVELOPER"])
    try demo.act(.volumePricing, ["productId": "gold", "bands": "2:7990"])
    for product in ["monthly", "unlock"] { try demo.act(.shareable, ["productId": .string(product)]) }
    try demo.act(
      .offers,
      ["productId": "monthly", "id": "trial", "type": "INTRODUCTORY", "mode": "FREE_TRIAL", "period": "P1W"])
  }

  mutating func live(days: Int) {
    for _ in 0..<days {
      for _ in 0..<Int.random(in: 0...12, using: &random) {
        // Some actions are rejected. Apple does not sign two truths in one millisecond.
        _ = try? step()
        demo.pass(seconds: 1)
      }
      demo.pass(days: 1)
    }
    // Periods end at the same time of day, and their failures are announced within a minute.
    demo.pass(seconds: 60)
  }

  private mutating func step() throws {
    let number = Int.random(in: 0..<customers, using: &random)
    let account = "customer-\(number)"
    let products = DemoWorld.app.products.map(\.productId)
    let mine = demo.world.purchases(of: account, in: "demo")
    let id = JSONValue.string(mine.randomElement(using: &random).map { String($0.id) } ?? "0")
    let name = JSONValue.string(account)
    let isOn = JSONValue.bool(Bool.random(using: &random))
    if isAboutTeams, Int.random(in: 0..<4, using: &random) > 0 { return try seatStep(number, products) }
    switch Int.random(in: 0..<17, using: &random) {
    case 0...2: try demo.buy(products.randomElement(using: &random) ?? "", account)
    case 3: try demo.buy("yearly", account, plan: .monthly)
    case 4: try demo.buy("monthly", account, offer: "trial")
    case 5: try demo.act(.autoRenew, ["transactionId": id, "enabled": isOn])
    case 6: try demo.act(.billing, ["account": name, "fails": isOn])
    case 7: try demo.act(.refund, ["transactionId": id])
    case 8: try demo.act(.reverseRefund, ["transactionId": id])
    case 9: try demo.act(.extend, ["transactionId": id, "days": 20])
    case 10: try demo.act(.joinFamily, ["account": name, "family": .string("family-\(number / 4)")])
    case 11 where number % 20 == 0: try changePriceOrRate(of: name)
    case 11: try demo.act(.restore, ["account": name, "newDevice": true])
    case 12: try demo.act(.leaveFamily, ["account": name])
    case 13:
      try demo.act(isOn == true ? .share : .stopSharing, ["transactionId": id])
    default: try seatStep(number, products)
    }
  }

  private mutating func seatStep(_ number: Int, _ products: [String]) throws {
    let teams = demo.world.purchases(of: "customer-\(number)", in: "demo").filter { $0.seats != nil }
    guard let team = teams.randomElement(using: &random) else {
      let order: JSONObject = [
        "productId": .string(products.randomElement(using: &random) ?? ""),
        "account": .string("customer-\(number)"), "seats": JSONValue(Int64.random(in: 1...4, using: &random)),
      ]
      try demo.act(.purchases, order)
      return
    }
    let id = JSONValue.string(String(team.id))
    let other = JSONValue.string("customer-\(Int.random(in: 0..<customers, using: &random))")
    let seats = JSONValue(Int64.random(in: 1...5, using: &random))
    switch Int.random(in: 0..<(isAboutTeams ? 13 : 7), using: &random) {
    case 0...2: try demo.act(.assignSeat, ["transactionId": id, "account": other])
    case 3:
      let holders = demo.world.lines[team.originalID].map(demo.world.assignedMembers) ?? []
      let holder = JSONValue.string(holders.randomElement(using: &random)?.account ?? "")
      try demo.act(.unclaimSeat, ["transactionId": id, "account": holder])
    case 4: try demo.act(.refundSeats, ["transactionId": id, "seats": 1])
    case 5: try demo.act(.refund, ["transactionId": id])
    case 7: try demo.act(.reverseRefund, ["transactionId": id])
    case 8: try demo.act(.extend, ["transactionId": id, "days": 20])
    case 9...10:
      let fails = JSONValue.bool(Int.random(in: 0..<3, using: &random) == 0)
      try demo.act(.billing, ["account": .string("customer-\(number)"), "fails": fails])
    case 11:
      try demo.act(.autoRenew, ["transactionId": id, "enabled": .bool(Bool.random(using: &random))])
    default: try demo.act(.seats, ["transactionId": id, "seats": seats])
    }
  }

  private mutating func changePriceOrRate(of account: JSONValue) throws {
    let product = DemoWorld.app.products.randomElement(using: &random)
    let price = (product?.price ?? 0) * Int64.random(in: 100...180, using: &random) / 100
    try demo.act(
      .price, ["productId": .string(product?.productId ?? ""), "price": JSONValue(price)])
    try demo.act(.periods, ["account": account, "testFlight": .bool(Bool.random(using: &random))])
  }
}
