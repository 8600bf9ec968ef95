import AppStore
import HTTP
import JSON
import Pages
import Sandbox
import Testing

@testable import SandboxConsole

/// Non-renewing subscriptions in the picture of an account.
@Suite struct NonRenewingLanesTests {
  private static let app = SandboxApp(
    id: "ocean", identity: AppIdentity(bundleID: "com.example", appAppleID: 1),
    products: [
      SandboxProduct(
        productId: "season", type: .nonRenewingSubscription, duration: Period("P30D"), price: 990),
      SandboxProduct(productId: "pass", type: .nonRenewingSubscription, price: 990),
    ])

  private let simulator: AppStoreSimulator

  init() throws {
    let start = Instant(millisecondsSince1970: 1_767_225_600_000)
    simulator = try AppStoreSimulator(apps: [Self.app], storage: .memory, now: { start })
  }

  private func act(_ path: String, _ members: JSONObject) async -> HTTPResponse {
    await simulator.respond(
      to: HTTPRequest(method: "POST", target: "/sandbox/v1/\(path)", body: members.serialized()))
  }

  @Test("A non-renewing subscription ends after its duration, and later purchases add up")
  func nonRenewing() async throws {
    let app = JSONValue.string(Self.app.id)
    for _ in 0..<3 {
      _ = await act("purchases", ["app": app, "productId": "season", "account": "ann"])
      _ = await act("clock/advance", ["by": "10d"])
    }
    let (account, history) = try #require(await simulator.accountView("ann", in: Self.app.id))
    let first = try #require(history.transactions.first).date
    func seasons(_ account: AccountView, _ history: AccountHistoryView) -> [Lane] {
      AccountLanes.lanes(account, history).filter { $0.name == "season" }
    }
    let bars = seasons(account, history).flatMap(\.bars)
    #expect(bars.map(\.start) == [0, 30, 60].map { first.advanced(byDays: $0) })
    #expect(bars.map(\.end) == [30, 60, 90].map { first.advanced(byDays: $0) })
    // The last one is refunded before its time begins, so it gave nothing.
    let id = try #require(account.purchases.last?.transactionId)
    _ = await act("refund", ["transactionId": .string(id)])
    let refunded = try #require(await simulator.accountView("ann", in: Self.app.id))
    let lanes = seasons(refunded.account, refunded.history)
    #expect(lanes.map(\.bars.count) == [1, 1, 0] && lanes.map { $0.marks.map(\.sign) } == [[], [], ["↩"]])
  }

  @Test("The card of a non-renewing subscription names its end, and is no longer active after it")
  func card() async throws {
    for product in ["season", "season", "pass"] {
      _ = await act(
        "purchases", ["app": .string(Self.app.id), "productId": .string(product), "account": "ann"])
    }
    func cards() async throws -> [PurchaseView] {
      try #require(await simulator.accountView("ann", in: Self.app.id)).account.purchases
    }
    let bought = try #require(await simulator.accountView("ann", in: Self.app.id)).history.transactions
    let ends = [30, 60].map { bought[0].date.advanced(byDays: $0) } + [nil]
    #expect(try await cards().map(\.until) == ends)
    #expect(try await cards().map(\.state) == [.active, .active, .owned])
    _ = await act("clock/advance", ["by": "30d"])
    #expect(try await cards().map(\.until) == ends)
    #expect(try await cards().map(\.state) == [.ended, .active, .owned])
    _ = await act("refund", ["transactionId": .string(bought[1].transactionId)])
    #expect(try await cards().map(\.state) == [.ended, .refunded, .owned])
    #expect(try await cards().map(\.until) == [ends[0], nil, nil])
  }

  @Test("A purchase that is recorded with a date in the past comes before the others")
  func recordedLater() async throws {
    var order: JSONObject = ["app": .string(Self.app.id), "productId": "season", "account": "ann"]
    _ = await act("purchases", order)
    let first = try #require(await simulator.accountView("ann", in: Self.app.id)).history.transactions
    let bought = try #require(first.last).date
    order["purchaseDate"] = .string(bought.advanced(byDays: -90).description)
    _ = await act("purchases", order)
    let (account, history) = try #require(await simulator.accountView("ann", in: Self.app.id))
    let bars = AccountLanes.lanes(account, history).filter { $0.name == "season" }.flatMap(\.bars)
    #expect(bars.map(\.start) == [0, -90].map { bought.advanced(byDays: $0) })
    #expect(bars.map(\.end) == [30, -60].map { bought.advanced(byDays: $0) })
  }

  @Test("A non-renewing subscription without a duration is a mark, and has no bar")
  func withoutDuration() async throws {
    _ = await act("purchases", ["app": .string(Self.app.id), "productId": "pass", "account": "ann"])
    let (account, history) = try #require(await simulator.accountView("ann", in: Self.app.id))
    let lane = try #require(AccountLanes.lanes(account, history).first)
    #expect(lane.name == "pass" && lane.bars.isEmpty && lane.dots.count == 1)
  }
}
