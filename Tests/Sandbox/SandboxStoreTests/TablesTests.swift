import AppStore
import Foundation
import JSON
import SQLite
import SandboxStore
import Synchronization
import Testing

@testable import Sandbox

@Suite("World tables")
struct TablesTests {
  private let folder = try! SandboxFolder()

  /// Changes every setting and lets customers act for some months.
  private func live(in store: AppStoreSimulator) async throws {
    try await store.post("clock", ["speed": 0])
    try await store.post("notification-url", ["app": "demo", "url": "http://service", "version": 2])
    try await store.post("grace-period", ["app": "demo", "days": 16])
    for product in ["monthly", "unlock"] {
      try await store.post("shareable", ["app": "demo", "productId": .string(product)])
    }
    try await store.post(
      "offers",
      [
        "app": "demo", "productId": "monthly", "id": "trial", "type": "INTRODUCTORY", "mode": "FREE_TRIAL",
        "period": "P1W",
      ])
    try await store.post("invitations", ["app": "demo", "productId": "yearly", "management": "DEVELOPER"])
    try await store.post("commitment-rules", ["app": "demo", "expiredSubtype": "NONE"])
    try await store.post("sharing-rules", ["app": "demo", "seatRevocation": "ASSIGNMENT_REVOCATION"])
    try await store.post("keys", ["keyId": "K", "publicKey": "pem"])
    try await store.post("faults", ["kind": "delay", "count": 3, "by": "2h"])
    try await store.post("live", ["app": "demo", "customers": 40, "by": "150d", "actionsPerDay": 6])
    try await store.post(
      "mass-extend", ["app": "demo", "productId": "monthly", "days": 3, "requestIdentifier": "R"])
    try await store.post(
      "price", ["app": "demo", "productId": "monthly", "price": 1990, "storefront": "DEU"])
    try await store.post("withdraw", ["app": "demo", "productId": "coins"])
    try await changeOtherSettings(store)
    try await store.post("clock/advance", ["by": "20d"])
  }

  private func changeOtherSettings(_ store: AppStoreSimulator) async throws {
    let bought = JSONValue.string(String(try await store.buy("season", "ann")))
    try await store.post(
      "report-consumption",
      ["transactionId": bought, "version": "v2", "information": ["customerConsented": true]])
    try await store.post(
      "purchases", ["app": "demo", "productId": "unlock", "account": "ann", "askToBuy": true])
    let order: JSONObject = ["app": "demo", "productId": "yearly", "account": "team", "seats": 2]
    let seats = try #require(try await store.post("purchases", order)["transactionId"])
    try await store.post("restore", ["app": "demo", "account": "team", "newDevice": true])
    try await store.post("claim-seat", ["transactionId": seats, "requestIdentifier": "first"])
    try await store.post("download", ["app": "demo", "account": "ann", "version": "2.0"])
    try await store.post("retention-image", ["app": "demo", "id": "I"])
    try await store.post("retention-message", ["app": "demo", "id": "M", "content": ["header": "Stay"]])
    try await store.post(
      "retention-default", ["app": "demo", "productId": "monthly", "locale": "en-US", "id": "M"])
    try await store.post("external-purchase-token", ["app": "demo", "tokenType": "SERVICES"])
    try await store.post("delivery", ["app": "demo", "rules": "PRODUCTION", "delays": true, "lost": 100])
    try await store.post("server-tokens", ["asDocumented": true])
    try await store.post(
      "external-purchase-report", ["app": "demo", "report": ["requestIdentifier": "E", "amount": 1]])
  }

  @Test("A restart restores the world, and updated tables equal recreated ones")
  func restart() async throws {
    var before: World
    do {
      let store = try folder.open(poster: FlakyPoster())
      try await live(in: store)
      before = await store.world
    }
    let kept = try folder.tables()
    let after = try await folder.open().world
    #expect(after.now == before.now)
    #expect(after.scale == before.scale)
    #expect(after.settings == before.settings)
    #expect(after.accounts == before.accounts)
    #expect(after.transactions == before.transactions)
    #expect(after.lines == before.lines)
    #expect(after.restored == before.restored)
    #expect(after.timing == before.timing)
    #expect(after.history == before.history)
    #expect(after.ownLines == before.ownLines)
    #expect(after.notifications == before.notifications)
    #expect(after.outbox == before.outbox)
    #expect(after.consumptionReports == before.consumptionReports)
    #expect(after.massExtensions == before.massExtensions)
    #expect(after.askToBuyRequests == before.askToBuyRequests)
    #expect(after.externalReports == before.externalReports)
    #expect(after.externalTokens == before.externalTokens)
    #expect(after.requiresDocumentedTokens)
    #expect(after.keys == before.keys)
    let again = try folder.tables()
    for table in World.tables {
      #expect(kept[table.name] == again[table.name], "\(table.name)")
      #expect(again[table.name]?.isEmpty == false, "nothing in \(table.name)")
    }
    #expect(after.transactions.values.contains { ($0.commitment?.number ?? 0) > 1 })
    #expect(again["purchase"]?.count == after.transactions.count)
    #expect(again["subscription"]?.count == after.lines.count)
    #expect(again["notification"]?.count == after.notifications.count)
    #expect(again["delivery"]?.count == after.notifications.map(\.attempts.count).reduce(0, +))
    #expect(again["account"]?.count == after.accounts.count)
  }

  @Test("Removed records are removed from the tables")
  func gone() async throws {
    let store = try folder.open()
    _ = try await store.buy("monthly", "ann")
    let response = try await store.post(
      "purchases", ["app": "demo", "productId": "unlock", "account": "ann", "askToBuy": true])
    let before = try folder.tables()
    #expect(before["purchase"]?.count == 1 && before["subscription"]?.count == 1)
    #expect(before["request_to_buy"]?.count == 1)
    let request = try #require(response["request"])
    try await store.post("ask-to-buy", ["request": request, "approved": false])
    try await store.post("clear-history", ["app": "demo", "account": "ann"])
    let after = try folder.tables()
    for table in ["purchase", "subscription", "request_to_buy"] { #expect(after[table]?.isEmpty == true) }
  }

  @Test("Renewals are written when the world is read, and a restart restores them")
  func passed() async throws {
    let later = SandboxFolder.start.advanced(byMilliseconds: 40 * 86_400_000)
    let machine = Machine(SandboxFolder.start)
    let seen: World
    do {
      let store = try AppStoreSimulator(
        apps: [SandboxFolder.app], storage: .directory(folder.path()), now: { machine.now })
      _ = try await store.buy("monthly", "ann")
      machine.now = later
      await store.catchUp()
      seen = await store.world
    }
    #expect(seen.transactions.count == 2)
    #expect(try folder.tables()["purchase"]?.count == 2)
    let after = try await folder.open(now: later).world
    #expect(after.transactions == seen.transactions)
  }
}

/// Rejects every third notification.
private final class FlakyPoster: NotificationPoster {
  private let count = Mutex(0)

  func exchange(_ body: [UInt8], with url: String) async -> ReceiverResponse {
    count.withLock { count in
      count += 1
      return ReceiverResponse(result: count % 3 == 0 ? .unsuccessfulHTTPResponseCode : .success)
    }
  }
}

/// A machine whose clock is set by hand.
private final class Machine: Sendable {
  private let time: Mutex<Instant>

  init(_ now: Instant) { time = Mutex(now) }

  var now: Instant {
    get { time.withLock { $0 } }
    set { time.withLock { $0 = newValue } }
  }
}
