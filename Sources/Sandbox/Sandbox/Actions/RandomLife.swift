internal import AppStore
internal import JSON

/// Customers who do anything that customers do, at random and the same for the same seed.
struct RandomLife {
  /// What somebody does. That the App Store refuses some of it is part of life.
  struct RandomAction {
    let action: Action
    let members: JSONObject
  }

  private let app: SandboxApp
  private let customers: Int
  private var random: SeededRandom

  init(app: SandboxApp, customers: Int, seed: UInt64) {
    self.app = app
    self.customers = customers
    random = SeededRandom(seed: seed)
  }

  /// How many deeds there are in a quarter of a day, if `perDay` are to be expected in all of it.
  mutating func count(perDay: Int) -> Int {
    let quarters = Int.random(in: 0...(2 * perDay), using: &random)
    return quarters / 4 + (Int.random(in: 0..<4, using: &random) < quarters % 4 ? 1 : 0)
  }

  /// What is done next.
  mutating func next(in world: World) -> RandomAction {
    let number = Int.random(in: 1...customers, using: &random)
    let account = JSONValue.string(Self.account(number))
    let bought = world.purchases(of: Self.account(number), in: app.id).randomElement(using: &random)
    guard let bought else { return purchase(number, world) }
    let id = JSONValue.string(String(bought.id))
    let isYes = JSONValue.bool(Bool.random(using: &random))
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<35: return purchase(number, world)
    case 35..<47: return RandomAction(action: .autoRenew, members: ["transactionId": id, "enabled": isYes])
    case 47..<61: return RandomAction(action: .billing, members: ["account": account, "fails": isYes])
    case 61..<69: return refund(id)
    case 69..<72: return RandomAction(action: .reverseRefund, members: ["transactionId": id])
    case 72..<74: return RandomAction(action: .declineRefund, members: ["transactionId": id])
    case 74..<76: return RandomAction(action: .requestConsumption, members: ["transactionId": id])
    case 76..<80: return RandomAction(action: .extend, members: ["transactionId": id, "days": 20])
    case 80..<84: return RandomAction(action: .priceConsent, members: ["transactionId": id, "agreed": isYes])
    case 84..<89:
      let family = JSONValue.string("family-\(number / 4)")
      return RandomAction(action: .joinFamily, members: ["account": account, "family": family])
    case 89..<91: return RandomAction(action: .leaveFamily, members: ["account": account])
    case 91..<93:
      return RandomAction(action: isYes == true ? .share : .stopSharing, members: ["transactionId": id])
    case 93..<98: return seats(id)
    default:
      let storefront = Storefront.known.randomElement(using: &random) ?? .usa
      return RandomAction(
        action: .storefront, members: ["account": account, "storefront": .string(storefront.code)])
    }
  }

  /// What a customer is called.
  static func account(_ number: Int) -> String { "customer-\(number)" }

  /// The UUID with which the app of a customer buys.
  static func appAccountToken(_ number: Int) -> String {
    let digits = String(number)
    return "00000000-0000-4000-8000-" + String(repeating: "0", count: max(0, 12 - digits.count)) + digits
  }

  private mutating func purchase(_ number: Int, _ world: World) -> RandomAction {
    let product = app.products.randomElement(using: &random)
    var order: JSONObject = [
      "app": .string(app.id), "productId": .string(product?.productId ?? ""),
      "account": .string(Self.account(number)), "appAccountToken": .string(Self.appAccountToken(number)),
    ]
    let offers = product.flatMap { world.settings[app.id]?.offers[$0.productId] } ?? []
    if let offer = offers.randomElement(using: &random), Bool.random(using: &random) {
      order["offer"] = .string(offer.id)
    }
    if product?.type == .autoRenewableSubscription, Int.random(in: 0..<10, using: &random) == 0 {
      order["seats"] = 3
    }
    return RandomAction(action: .purchases, members: order)
  }

  private mutating func refund(_ id: JSONValue) -> RandomAction {
    var members: JSONObject = ["transactionId": id]
    if Int.random(in: 0..<4, using: &random) == 0 { members["percent"] = 40 }
    return RandomAction(action: .refund, members: members)
  }

  private mutating func seats(_ id: JSONValue) -> RandomAction {
    let other = JSONValue.string(Self.account(Int.random(in: 1...customers, using: &random)))
    switch Int.random(in: 0..<4, using: &random) {
    case 0: return RandomAction(action: .assignSeat, members: ["transactionId": id, "account": other])
    case 1: return RandomAction(action: .unclaimSeat, members: ["transactionId": id, "account": other])
    case 2: return RandomAction(action: .refundSeats, members: ["transactionId": id, "seats": 1])
    default:
      let count = JSONValue(Int64.random(in: 1...4, using: &random))
      return RandomAction(action: .seats, members: ["transactionId": id, "seats": count])
    }
  }
}
