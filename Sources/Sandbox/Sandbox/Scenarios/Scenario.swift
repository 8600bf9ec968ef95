internal import AppStore
internal import JSON

/// A story of customers as data: actions and advances of the clock, in order. The steps are journaled as single actions,
/// so that a restart does not depend on the scenario.
package struct Scenario: Sendable {
  /// The name in `POST /sandbox/v1/scenarios/NAME`.
  package let name: String
  /// The name for people.
  package let title: String
  /// The story, in a sentence or two.
  package let summary: String
  /// The names of its accounts; a number is added if they exist.
  let accounts: [String]
  /// In the order in which they are performed.
  package let steps: [Step]

  /// One step.
  package struct Step: Sendable {
    /// The meaning of the step, in a sentence.
    package let meaning: String
    let instruction: Instruction
    /// The name under which later steps know the transaction of the step.
    let label: String?

    init(_ meaning: String, _ instruction: Instruction, as label: String? = nil) {
      self.meaning = meaning
      self.instruction = instruction
      self.label = label
    }
  }

  /// What a step does.
  enum Instruction: Sendable {
    /// An action with its members, whose values depend on the run.
    case perform(Action, [(name: String, value: Value)])
    /// A duration such as `35d`.
    case advance(String)
  }

  /// The value of a member, which depends on the app and on earlier steps.
  enum Value: Sendable {
    case text(String)
    case number(Int64)
    case flag(Bool)
    /// The app in which the scenario runs.
    case app
    /// The name of the account with this place in ``Scenario/accounts``.
    case account(Int)
    /// A name with the same number as the accounts.
    case unique(String)
    /// The id of the product that the app has for a role.
    case product(Role)
    /// The price of a product before the scenario, in percent.
    case price(Role, percent: Int64)
    /// The transaction of an earlier step.
    case transaction(String)
    /// The latest transaction of the subscription of an earlier step.
    case latest(String)
  }

  /// The role of a product in a scenario.
  enum Role: String, Sendable {
    /// A subscription with the lowest level of its group.
    case subscription
    /// A higher level of the same group.
    case upgrade
    /// A product that can be bought again.
    case consumable
  }

  /// All scenarios, in the order of pages.
  package static let all = [yearInTheLife, refundAbuse, family, priceIncrease]

  /// The scenario with a name; `nil` if there is none.
  package static func named(_ name: String) -> Scenario? { all.first { $0.name == name } }
}

/// The products and accounts with which a scenario runs.
struct ScenarioCast: Sendable {
  let app: String
  let accounts: [String]
  /// Empty for the first run in a world, otherwise `-2`, `-3` and so on.
  let suffix: String
  private let products: [Scenario.Role: (id: String, price: Int64)]

  /// Selects the app's products for the roles that the scenario has.
  ///
  /// - Throws: ``ActionError/notPossible(_:)`` if the app sells no such product.
  init(_ scenario: Scenario, app: SandboxApp, in world: World) throws(ActionError) {
    self.app = app.id
    let sold = app.products.filter { product in
      let isForSale = world.settings[app.id]?.withdrawn.contains(product.productId) != true
      let hasPrice = world.price(of: product, in: app.id, at: .usa) > 0
      return isForSale && hasPrice && (product.type != .autoRenewableSubscription || product.period != nil)
    }
    let subscriptions = sold.filter { $0.type == .autoRenewableSubscription }
    let pair = Self.upgrade(among: subscriptions)
    var products: [Scenario.Role: (id: String, price: Int64)] = [:]
    for role in scenario.roles {
      let product: SandboxProduct? =
        switch role {
        case .subscription: pair?.from ?? subscriptions.min { $0.lengthOrder < $1.lengthOrder }
        case .upgrade: pair?.to
        case .consumable: sold.first { $0.type == .consumable }
        }
      guard let product else {
        // An app without levels skips the steps of an upgrade.
        if role == .upgrade { continue }
        throw .notPossible(
          "the scenario '\(scenario.name)' needs a \(role.rawValue) with a price, and \(app.id) has none")
      }
      products[role] = (product.productId, world.price(of: product, in: app.id, at: .usa))
    }
    self.products = products
    let number = (1...).first { number in
      scenario.accounts.allSatisfy { world.accounts[$0 + Self.suffix(number)] == nil }
    }
    let suffix = Self.suffix(number ?? 1)
    self.suffix = suffix
    accounts = scenario.accounts.map { $0 + suffix }
  }

  /// The suffix of the accounts of a run.
  private static func suffix(_ number: Int) -> String { number == 1 ? "" : "-\(number)" }

  /// The shortest subscription that has a higher level in its group, with the next higher level.
  private static func upgrade(among products: [SandboxProduct]) -> (from: SandboxProduct, to: SandboxProduct)?
  {
    for product in products.sorted(by: { $0.lengthOrder < $1.lengthOrder }) {
      let higher = products.filter { $0.group == product.group && $0.level < product.level }
      if let next = higher.max(by: { $0.level < $1.level }) { return (product, next) }
    }
    return nil
  }

  /// The members of a step; `nil` if the app has no product for it, or an earlier step was left out.
  func members(
    _ values: [(name: String, value: Scenario.Value)], _ labels: [String: Int64], in world: World
  ) -> JSONObject? {
    var json = JSONObject()
    for (name, value) in values {
      switch value {
      case .text(let text): json[name] = .string(text)
      case .number(let number): json[name] = JSONValue(number)
      case .flag(let flag): json[name] = .bool(flag)
      case .app: json[name] = .string(app)
      case .account(let index): json[name] = .string(accounts[index])
      case .unique(let text): json[name] = .string(text + suffix)
      case .product(let role):
        guard let product = products[role] else { return nil }
        json[name] = .string(product.id)
      case .price(let role, let percent):
        guard let product = products[role] else { return nil }
        json[name] = JSONValue(product.price * percent / 100)
      case .transaction(let label):
        guard let id = labels[label] else { return nil }
        json[name] = .string(String(id))
      case .latest(let label):
        guard let id = labels[label].flatMap({ world.transaction($0) }) else { return nil }
        json[name] = .string(String(world.lines[id.originalID]?.current ?? id.id))
      }
    }
    return json
  }
}

extension Scenario {
  /// The roles of its steps.
  var roles: [Role] {
    var roles: [Role] = []
    for step in steps {
      guard case .perform(_, let values) = step.instruction else { continue }
      for (_, value) in values {
        switch value {
        case .product(let role), .price(let role, _): if !roles.contains(role) { roles.append(role) }
        default: break
        }
      }
    }
    return roles
  }
}

extension SandboxProduct {
  /// Shorter periods first; monthly ones before others, because the advances of scenarios are months.
  fileprivate var lengthOrder: Int64 {
    guard let period else { return .max }
    return period.months == 1 ? 0 : period.months * 30 + period.days
  }
}
