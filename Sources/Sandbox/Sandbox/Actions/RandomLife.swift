internal import AppStore
internal import JSON

/// A generator of customer actions that is deterministic for a seed and a world. It finds sequences of actions that no
/// test was written for.
struct RandomLife {
  private let app: SandboxApp
  private let customers: Int
  private var random: SeededRandom

  /// Accounts are `customer-1` to `customer-N`.
  init(app: SandboxApp, customers: Int, seed: UInt64) {
    self.app = app
    self.customers = customers
    random = SeededRandom(seed: seed)
  }

  /// Returns the number of actions in a quarter of a day; the expected number for a whole day is `perDay`.
  mutating func count(perDay: Int) -> Int {
    let quarters = Int.random(in: 0...(2 * perDay), using: &random)
    return quarters / 4 + (Int.random(in: 0..<4, using: &random) < quarters % 4 ? 1 : 0)
  }

  /// The next action: possible or not in this world, so that refusals are tested too.
  mutating func next(in world: World) -> GeneratedAction {
    if let rare = rareAction(in: world) { return rare }
    let number = Int.random(in: 1...customers, using: &random)
    let account = JSONValue.string(Self.account(number))
    let bought = world.purchases(of: Self.account(number), in: app.id).randomElement(using: &random)
    guard let bought else { return purchase(number, world) }
    let id = JSONValue.string(String(bought.id))
    let isYes = JSONValue.bool(Bool.random(using: &random))
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<33: return purchase(number, world)
    case 33: return restoreOrChangeRate(account)
    case 34: return Int.random(in: 0..<5, using: &random) == 0 ? changePrice() : purchase(number, world)
    case 35..<47:
      return GeneratedAction(action: .autoRenew, members: ["transactionId": id, "enabled": isYes])
    case 47..<61: return GeneratedAction(action: .billing, members: ["account": account, "fails": isYes])
    case 61..<69: return refund(id)
    case 69..<72: return GeneratedAction(action: .reverseRefund, members: ["transactionId": id])
    case 72..<74: return GeneratedAction(action: .declineRefund, members: ["transactionId": id])
    case 74..<76: return GeneratedAction(action: .requestConsumption, members: ["transactionId": id])
    case 76..<80: return GeneratedAction(action: .extend, members: ["transactionId": id, "days": 20])
    case 80..<84:
      return GeneratedAction(action: .priceConsent, members: ["transactionId": id, "agreed": isYes])
    case 84..<89:
      let family = JSONValue.string("family-\(number / 4)")
      return GeneratedAction(action: .joinFamily, members: ["account": account, "family": family])
    case 89..<91: return GeneratedAction(action: .leaveFamily, members: ["account": account])
    case 91..<93:
      return GeneratedAction(action: isYes == true ? .share : .stopSharing, members: ["transactionId": id])
    case 93..<98: return seats(number, id, world)
    default: return move(number)
    }
  }

  /// Returns an action that concerns no customer or all of them, in a few of a thousand cases.
  private mutating func rareAction(in world: World) -> GeneratedAction? {
    let app = JSONValue.string(app.id)
    switch Int.random(in: 0..<1000, using: &random) {
    case 0:
      let subscriptions = self.app.products.filter { $0.type == .autoRenewableSubscription }
      guard let product = subscriptions.randomElement(using: &random) else { return nil }
      return GeneratedAction(
        action: .massExtend,
        members: [
          "app": app, "productId": .string(product.productId), "days": 5,
          "requestIdentifier": .string("live-\(world.massExtensions.count + 1)"),
        ])
    case 1..<5:
      let kind = ExternalToken.Kind.allCases.randomElement(using: &random) ?? .services
      return GeneratedAction(
        action: .externalPurchaseToken,
        members: ["app": app, "tokenType": .string(kind.rawValue), "expires": "90d"])
    case 5..<7:
      guard let id = world.externalTokens.keys.sorted().randomElement(using: &random) else { return nil }
      let status: JSONValue = Bool.random(using: &random) ? "NO_LINE_ITEM" : "DUPLICATE_TOKEN"
      return GeneratedAction(
        action: .externalPurchaseReport,
        members: [
          "app": app,
          "report": [
            "requestIdentifier": .string("live-\(id)"), "externalPurchaseId": .string(id), "status": status,
          ],
        ])
    default: return nil
    }
  }

  /// The name of a customer's account.
  static func account(_ number: Int) -> String { "customer-\(number)" }

  /// The `appAccountToken` of a customer's purchases.
  static func appAccountToken(_ number: Int) -> String {
    let digits = String(number)
    return "00000000-0000-4000-8000-" + String(repeating: "0", count: max(0, 12 - digits.count)) + digits
  }

  /// Buys any product, sometimes with an offer, the monthly plan or seats.
  private mutating func purchase(_ number: Int, _ world: World) -> GeneratedAction {
    let product = app.products.randomElement(using: &random)
    var order: JSONObject = [
      "app": .string(app.id), "productId": .string(product?.productId ?? ""),
      "account": .string(Self.account(number)), "appAccountToken": .string(Self.appAccountToken(number)),
    ]
    var plan = BillingPlan.billedUpfront
    if product?.monthlyPrice != nil, Bool.random(using: &random) {
      plan = .monthly
      let storefront = world.accounts[Self.account(number)]?.storefront ?? .usa
      if Commitment.excludedStorefronts.contains(storefront.code) { return move(number) }
      order["billingPlanType"] = .string(plan.rawValue)
    }
    let offers = product.flatMap { world.settings[app.id]?.offers[$0.productId] } ?? []
    if let offer = offers.filter({ $0.plan == plan }).randomElement(using: &random),
      Bool.random(using: &random)
    {
      order["offer"] = .string(offer.id)
    }
    if product?.type == .autoRenewableSubscription, Int.random(in: 0..<10, using: &random) == 0 {
      order["seats"] = JSONValue(Int64.random(in: 2...5, using: &random))
      if Int.random(in: 0..<3, using: &random) == 0 { order["organization"] = true }
    }
    return GeneratedAction(action: .purchases, members: order)
  }

  /// Moves a customer to any storefront.
  private mutating func move(_ number: Int) -> GeneratedAction {
    let storefront = Storefront.known.randomElement(using: &random) ?? .usa
    return GeneratedAction(
      action: .storefront,
      members: ["account": .string(Self.account(number)), "storefront": .string(storefront.code)])
  }

  /// Restores purchases, or changes the renewal rate of the account.
  private mutating func restoreOrChangeRate(_ account: JSONValue) -> GeneratedAction {
    switch Int.random(in: 0..<6, using: &random) {
    case 0: GeneratedAction(action: .periods, members: ["account": account, "testFlight": true])
    case 1: GeneratedAction(action: .periods, members: ["account": account])
    default:
      GeneratedAction(
        action: .restore, members: ["app": .string(app.id), "account": account, "newDevice": true])
    }
  }

  /// The developer sets a price of up to 80 percent above the catalog's.
  private mutating func changePrice() -> GeneratedAction {
    let product = app.products.randomElement(using: &random)
    let percent = Int64.random(in: 100...180, using: &random)
    let price = (product?.price ?? 0) * percent / 100
    return GeneratedAction(
      action: .price,
      members: [
        "app": .string(app.id), "productId": .string(product?.productId ?? ""), "price": JSONValue(price),
      ])
  }

  /// Refunds a purchase, in one of four cases by 40 percent.
  private mutating func refund(_ id: JSONValue) -> GeneratedAction {
    var members: JSONObject = ["transactionId": id]
    if Int.random(in: 0..<4, using: &random) == 0 { members["percent"] = 40 }
    return GeneratedAction(action: .refund, members: members)
  }

  /// Returns an action about the seats of a purchase, preferably of one that has seats.
  private mutating func seats(_ number: Int, _ id: JSONValue, _ world: World) -> GeneratedAction {
    let teams = world.purchases(of: Self.account(number), in: app.id).filter { $0.seats != nil }
    let team = teams.randomElement(using: &random)
    let id = team.map { JSONValue.string(String($0.id)) } ?? id
    let other = JSONValue.string(Self.account(Int.random(in: 1...customers, using: &random)))
    let step = Int.random(in: 0..<6, using: &random)
    if step < 4, let line = team.flatMap({ world.lines[$0.originalID] }), line.invitations == .developer {
      return claim(id, of: line)
    }
    switch step {
    case 0..<3: return GeneratedAction(action: .assignSeat, members: ["transactionId": id, "account": other])
    case 3:
      // Most accounts have no seat of this purchase.
      let members = team.flatMap { world.lines[$0.originalID] }.map(world.assignedMembers) ?? []
      let holder = members.randomElement(using: &random).map { JSONValue.string($0.account) } ?? other
      return GeneratedAction(action: .unclaimSeat, members: ["transactionId": id, "account": holder])
    case 4: return GeneratedAction(action: .refundSeats, members: ["transactionId": id, "seats": 1])
    default:
      let count = JSONValue(Int64.random(in: 1...6, using: &random))
      return GeneratedAction(action: .seats, members: ["transactionId": id, "seats": count])
    }
  }

  /// Returns a claim of a seat, or its end by the developer or by the purchaser.
  private mutating func claim(_ id: JSONValue, of line: SubscriptionLine) -> GeneratedAction {
    guard let seat = line.claims.randomElement(using: &random), Int.random(in: 0..<3, using: &random) == 0
    else {
      let request = "request-\(random.next())"
      return GeneratedAction(
        action: .claimSeat, members: ["transactionId": id, "requestIdentifier": .string(request)])
    }
    return GeneratedAction(
      action: Bool.random(using: &random) ? .releaseSeat : .unclaimSeat,
      members: ["transactionId": id, "seatClaimId": .string(seat.id)])
  }
}
