import AppStore
import JSON
import Testing

@testable import Sandbox

/// Customers who do anything, the same for the same seed.
struct SeededLife {
  var demo = DemoWorld()
  private var random: SeededRandom
  private let customers: Int

  init(seed: UInt64, customers: Int) throws {
    random = SeededRandom(seed: seed)
    self.customers = customers
    try demo.act(.gracePeriod, ["days": 16])
    for product in ["monthly", "unlock"] { try demo.act(.shareable, ["productId": .string(product)]) }
    try demo.act(
      .offers,
      ["productId": "monthly", "id": "trial", "type": "INTRODUCTORY", "mode": "FREE_TRIAL", "period": "P1W"])
  }

  mutating func live(days: Int) {
    for _ in 0..<days {
      for _ in 0..<Int.random(in: 0...12, using: &random) {
        // What is refused is part of life.
        _ = try? step()
      }
      demo.pass(days: 1)
    }
  }

  private mutating func step() throws {
    let number = Int.random(in: 0..<customers, using: &random)
    let account = "customer-\(number)"
    let products = DemoWorld.app.products.map(\.productId)
    let mine = demo.world.purchases(of: account, in: "demo")
    let id = JSONValue.string(mine.randomElement(using: &random).map { String($0.id) } ?? "0")
    let name = JSONValue.string(account)
    let isOn = JSONValue.bool(Bool.random(using: &random))
    switch Int.random(in: 0..<12, using: &random) {
    case 0...3: try demo.buy(products.randomElement(using: &random) ?? "", account)
    case 4: try demo.buy("monthly", account, offer: "trial")
    case 5: try demo.act(.autoRenew, ["transactionId": id, "enabled": isOn])
    case 6: try demo.act(.billing, ["account": name, "fails": isOn])
    case 7: try demo.act(.refund, ["transactionId": id])
    case 8: try demo.act(.reverseRefund, ["transactionId": id])
    case 9: try demo.act(.extend, ["transactionId": id, "days": 20])
    case 10: try demo.act(.joinFamily, ["account": name, "family": .string("family-\(number / 4)")])
    default: try demo.act(.leaveFamily, ["account": name])
    }
  }
}
