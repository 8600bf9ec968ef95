internal import AppStore
internal import JSON

/// Customers who behave as those of a business: their number grows, most of them subscribe by month, some try for free
/// first, a few percent leave each month and some of these return, cards are declined and recover, and few purchases
/// are refunded. The plans are deterministic for a seed.
struct TypicalLives {
  /// A decision of a customer, which becomes an action when its time has come.
  private enum Step {
    case move(Storefront)
    case buy(SandboxProduct)
    case joinFamily(String)
    case turnOff
    case decline
    case pay
    case askForRefund
    case refund
  }

  /// A step at a time.
  private struct PlannedStep {
    let at: Instant
    let number: Int
    let step: Step
  }

  private let app: SandboxApp
  /// The subscriptions, the shortest period first.
  private let subscriptions: [SandboxProduct]
  private let end: Instant
  private var random: SeededRandom
  private var plan: [PlannedStep] = []
  private var done = 0

  /// Plans the lives of `customers` accounts from `start` on, for `length` milliseconds.
  init(app: SandboxApp, customers: Int, from start: Instant, length: Int64, seed: UInt64) {
    self.app = app
    subscriptions = app.products
      .filter { $0.type == .autoRenewableSubscription && $0.price != nil && $0.period != nil }
      .sorted { ($0.days, $0.productId) < ($1.days, $1.productId) }
    end = start.advanced(byMilliseconds: length)
    random = SeededRandom(seed: seed)
    for number in 1...customers {
      // Later weeks have more newcomers.
      let arrival = Int64(Double(length) * Double.random(in: 0..<1, using: &random).squareRoot())
      planLife(of: number, from: start.advanced(byMilliseconds: arrival))
    }
    plan.sort { ($0.at, $0.number) < ($1.at, $1.number) }
  }

  /// Returns the next action that is due at `now`; `nil` if there is none.
  mutating func next(in world: World, at now: Instant) -> GeneratedAction? {
    while done < plan.count, plan[done].at <= now {
      done += 1
      if let action = action(plan[done - 1], in: world) { return action }
    }
    return nil
  }

  // MARK: Plans

  /// Plans what one customer does: storefront, family, a subscription or another purchase, and consumables.
  private mutating func planLife(of number: Int, from arrival: Instant) {
    add(.move(storefront()), number, arrival)
    if number > 1, happens(in: 4) {
      let family = "family-\(number / 2)"
      add(.joinFamily(family), number - 1, arrival)
      add(.joinFamily(family), number, arrival)
    }
    let others = app.products.filter { $0.type != .autoRenewableSubscription && $0.price != nil }
    if !subscriptions.isEmpty, others.isEmpty || happens(in: 88) {
      planSubscription(of: number, from: arrival)
    } else if let product = others.randomElement(using: &random) {
      add(.buy(product), number, arrival)
    }
    let consumables = app.products.filter { $0.type == .consumable && $0.price != nil }
    if happens(in: 20), let consumable = consumables.randomElement(using: &random) {
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        add(.buy(consumable), number, arrival, days: Double.random(in: 0..<200, using: &random))
      }
    }
  }

  /// Plans a subscription and what follows: declined cards, a refund, another period length, the end, the return.
  private mutating func planSubscription(of number: Int, from start: Instant) {
    guard let product = happens(in: 72) ? subscriptions.first : subscriptions.randomElement(using: &random)
    else { return }
    add(.buy(product), number, start)
    // Each month 6 percent turn renewal off; of those with longer periods, fewer.
    let monthly = product.days <= 31 ? 6 : 3
    var stay = Double.random(in: 0..<12, using: &random)
    while !happens(in: monthly) { stay += 30 }
    if happens(in: 3) {
      add(.askForRefund, number, start, days: 1.5)
      add(.refund, number, start, days: 3)
    }
    if happens(in: 16) {
      let declined = stay * Double.random(in: 0..<1, using: &random)
      add(.decline, number, start, days: declined)
      if happens(in: 75) {
        add(.pay, number, start, days: declined + Double.random(in: 20..<50, using: &random))
      }
    }
    if happens(in: 8), let other = subscriptions.last, other != product, stay > 60 {
      add(.buy(other), number, start, days: 45)
    }
    add(.turnOff, number, start, days: stay)
    let back = Self.time(start, days: stay + Double.random(in: 40..<180, using: &random))
    if happens(in: 25), back < end { planSubscription(of: number, from: back) }
  }

  /// Plans a step some days after `start`; one beyond the end of the time is left out.
  private mutating func add(_ step: Step, _ number: Int, _ start: Instant, days: Double = 0) {
    let at = Self.time(start, days: days)
    if at < end { plan.append(PlannedStep(at: at, number: number, step: step)) }
  }

  private static func time(_ start: Instant, days: Double) -> Instant {
    start.advanced(byMilliseconds: Int64(days * 86_400_000))
  }

  /// Whether an event happens that has a probability of `percent`.
  private mutating func happens(in percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

  /// Nearly half of the customers are in the United States; the others are spread over the known storefronts.
  private mutating func storefront() -> Storefront {
    happens(in: 45) ? .usa : Storefront.known.randomElement(using: &random) ?? .usa
  }

  // MARK: Actions

  /// The action of a planned step; `nil` for a step about a purchase that was not made.
  private mutating func action(_ planned: PlannedStep, in world: World) -> GeneratedAction? {
    let name = RandomLife.account(planned.number)
    let account = JSONValue.string(name)
    let bought = world.purchases(of: name, in: app.id).last.map { JSONValue.string(String($0.id)) }
    func onPurchase(_ action: Action, _ more: JSONObject = [:]) -> GeneratedAction? {
      guard let bought else { return nil }
      var members = more
      members["transactionId"] = bought
      return GeneratedAction(action: action, members: members)
    }
    switch planned.step {
    case .move(let storefront):
      return GeneratedAction(
        action: .storefront, members: ["account": account, "storefront": .string(storefront.code)])
    case .buy(let product): return order(product, planned.number, in: world)
    case .joinFamily(let family):
      return GeneratedAction(action: .joinFamily, members: ["account": account, "family": .string(family)])
    case .turnOff: return onPurchase(.autoRenew, ["enabled": false])
    case .decline: return GeneratedAction(action: .billing, members: ["account": account, "fails": true])
    case .pay: return GeneratedAction(action: .billing, members: ["account": account, "fails": false])
    case .askForRefund: return onPurchase(.requestConsumption)
    case .refund: return onPurchase(.refund)
    }
  }

  /// An order; the first subscription begins with an introductory offer if the app has one.
  private mutating func order(_ product: SandboxProduct, _ number: Int, in world: World) -> GeneratedAction {
    let account = RandomLife.account(number)
    var members: JSONObject = [
      "app": .string(app.id), "productId": .string(product.productId), "account": .string(account),
      "appAccountToken": .string(RandomLife.appAccountToken(number)),
    ]
    let offers = world.settings[app.id]?.offers[product.productId] ?? []
    if let offer = offers.first(where: { $0.type == .introductory }), happens(in: 60),
      world.subscriptions(of: account, in: app.id).isEmpty
    {
      members["offer"] = .string(offer.id)
    }
    return GeneratedAction(action: .purchases, members: members)
  }
}

extension SandboxProduct {
  /// The approximate length of a period, for comparisons.
  fileprivate var days: Int64 { period.map { $0.months * 30 + $0.days } ?? 0 }
}
