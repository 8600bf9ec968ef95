import AppStore
import HTTP
import JSON
import Testing

@testable import Sandbox

@Suite struct ScenarioTests {
  private func simulator(_ products: [SandboxProduct] = DemoWorld.app.products) throws -> AppStoreSimulator {
    let app = SandboxApp(id: "demo", identity: DemoWorld.app.identity, products: products)
    return try AppStoreSimulator(apps: [app], storage: .memory, now: { DemoWorld.start })
  }

  private func run(_ name: String, _ store: AppStoreSimulator) async throws -> (Int, JSONObject) {
    let response = await store.respond(
      to: HTTPRequest(
        method: "POST", target: "/sandbox/v1/scenarios/\(name)", body: Array(#"{"app": "demo"}"#.utf8)))
    return (response.status, try #require(JSONValue(parsing: response.body).objectValue))
  }

  @Test("Every scenario runs to its last step", arguments: Scenario.all.map(\.name))
  func runs(name: String) async throws {
    let store = try simulator()
    let (status, json) = try await run(name, store)
    #expect(status == 200, "\(json.text)")
    let scenario = try #require(Scenario.named(name))
    #expect(json["steps"]?.arrayValue?.count == scenario.steps.count)
    #expect(json["accounts"]?.arrayValue?.map(\.stringValue) == scenario.accounts)
  }

  @Test("A scenario that runs again has other accounts")
  func again() async throws {
    let store = try simulator()
    _ = try await run("family", store)
    let (status, json) = try await run("family", store)
    #expect(status == 200, "\(json.text)")
    #expect(json["accounts"]?.arrayValue?.compactMap(\.stringValue) == ["maria-2", "noah-2", "olga-2"])
    let world = await store.world
    #expect(world.accounts["noah"]?.family == nil && world.accounts["olga-2"]?.family == "family-2")
  }

  @Test("A year in the life has a recovered payment, an upgrade, a cancellation and a refund")
  func year() async throws {
    let store = try simulator()
    _ = try await run("year-in-the-life", store)
    let names = await store.world.notifications.map(\.name)
    var rest = names[...]
    for expected in [
      "SUBSCRIBED/INITIAL_BUY", "DID_RENEW", "DID_FAIL_TO_RENEW/GRACE_PERIOD", "DID_RENEW/BILLING_RECOVERY",
      "DID_CHANGE_RENEWAL_PREF/UPGRADE", "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", "EXPIRED/VOLUNTARY",
      "SUBSCRIBED/RESUBSCRIBE", "CONSUMPTION_REQUEST", "REFUND",
    ] {
      let index = try #require(rest.firstIndex(of: expected), "\(expected) in \(names)")
      rest = rest[(index + 1)...]
    }
  }

  @Test("Refund abuse has three requests, two refunds, one refusal and a reversal")
  func abuse() async throws {
    let store = try simulator()
    _ = try await run("refund-abuse", store)
    let names = await store.world.notifications.map(\.name)
    #expect(names.filter { $0 == "CONSUMPTION_REQUEST" }.count == 3)
    #expect(names.filter { $0 == "REFUND" }.count == 2)
    #expect(names.suffix(2) == ["REFUND_DECLINED", "REFUND_REVERSED"])
  }

  @Test("In the family, each member loses access when sharing with it ends")
  func family() async throws {
    let store = try simulator()
    _ = try await run("family", store)
    let world = await store.world
    for account in ["maria", "noah", "olga"] {
      #expect(world.ownedProducts(of: account, in: "demo").isEmpty, "\(account)")
      #expect(!world.purchases(of: account, in: "demo").isEmpty, "\(account)")
    }
    #expect(world.notifications.filter { $0.name == "REVOKE" }.count >= 2)
  }

  @Test("A price increase keeps the subscriber who agrees, and restores the price")
  func price() async throws {
    let store = try simulator()
    _ = try await run("price-increase", store)
    let world = await store.world
    #expect(world.ownedProducts(of: "paula", in: "demo").count == 1)
    #expect(world.ownedProducts(of: "quinn", in: "demo").isEmpty)
    #expect(world.notifications.contains { $0.name == "EXPIRED/PRICE_INCREASE" })
    let renewal = try #require(world.purchases(of: "paula", in: "demo").last)
    let first = try #require(world.purchases(of: "paula", in: "demo").first)
    #expect(renewal.price == first.price * 160 / 100)
    let product = try #require(DemoWorld.app.products.first { $0.productId == first.productID })
    #expect(world.price(of: product, in: "demo", at: .usa) == product.price)
  }

  @Test("A scenario names the product that an app lacks")
  func missing() async throws {
    let store = try simulator([SandboxProduct(productId: "unlock", type: .nonConsumable, price: 4990)])
    let (status, json) = try await run("refund-abuse", store)
    #expect(status == 400)
    #expect(json["error"]?.objectValue?["message"]?.stringValue?.contains("needs a consumable") == true)
    let (unknown, _) = try await run("nothing", store)
    #expect(unknown == 400)
  }

  @Test("An app without levels skips the upgrade and runs the rest")
  func withoutLevels() async throws {
    let monthly = SandboxProduct(
      productId: "m", type: .autoRenewableSubscription, subscriptionGroupIdentifier: "g", level: 1,
      period: Period("P1M"), price: 990)
    let store = try simulator([monthly])
    let (status, json) = try await run("year-in-the-life", store)
    #expect(status == 200)
    let count = try #require(Scenario.named("year-in-the-life")).steps.count
    #expect(json["steps"]?.arrayValue?.count == count - 1)
  }
}
