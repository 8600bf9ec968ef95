import AppStore
import AppStoreSupport
import Entitlements
import Foundation
import Ledger
import Store
import Testing

@testable import Reconciliation
@testable import Sandbox

@Suite("Status query of one purchase") struct StatusQueryTests {
  private static let app = LivedWorld.definition

  /// Advances the time to the charge for the second period, before the first one ends.
  private func renewEarly(_ simulator: AppStoreSimulator) async throws {
    for hour in Int64(28 * 24)...32 * 24 {
      try await simulator.advanceClock(to: LivedWorld.start.advanced(byMilliseconds: hour * 3_600_000))
      if await simulator.world.transactions.count == 2 { return }
    }
  }

  @Test("A renewal that is the only known period, and yet to start, gets the running period from the history")
  func renewedEarly() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "query-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let simulator = try AppStoreSimulator(
      apps: [LivedWorld.app], storage: .memory, now: { LivedWorld.start })
    let service = try SimulatedAppStore(simulator, app: Self.app, folder: folder)
    let order = PurchaseOrder(app: "demo", productId: "monthly", account: "ann")
    let bought = try await simulator.purchase(order)
    try await renewEarly(simulator)
    let now = simulator.clock.now()
    // The product is owned, so the app gets the latest transaction.
    let renewed = try await simulator.purchase(order)
    #expect(renewed.transactionId != bought.transactionId)
    _ = try await service.ledger.submit(
      Submission(
        appID: "demo", customerID: "ann", signedTransaction: renewed.signedTransactionInfo))
    let line = LineKey(appID: "demo", environment: .sandbox, lineID: bought.originalTransactionId)
    func facts() async throws -> CustomerFacts {
      try await service.store.read { snapshot throws(StoreError) in try snapshot.facts(of: line) }
    }
    let before = try await facts()
    #expect(before.transactions.map(\.transactionID) == [renewed.transactionId])
    #expect(before.transactions[0].purchaseDate > now)
    #expect(evaluate(before, entitlement: "pro", in: Self.app, at: now).isEntitled)
    #expect(try await service.ledger.stillDue([line], by: now) == [line])

    try await PurchaseStatusQuery(line, before).run(through: service.lookup)
    let after = try await facts()
    #expect(after.transactions.map(\.transactionID) == [bought.transactionId, renewed.transactionId])
    let answer = evaluate(after, entitlement: "pro", in: Self.app, at: now)
    #expect(answer.isEntitled && answer.deciding?.transactionID == bought.transactionId)
    try await service.ledger.recordPolls(of: [line], at: now)
    #expect(try await service.ledger.stillDue([line], by: now) == [])
    let events = try await service.store.read { snapshot throws(StoreError) in
      try snapshot.events(ofApp: Self.app.id, after: 0, limit: 10)
    }
    #expect(events.map(\.event.change.kind) == [.started])
    let calls = service.exchange.paths.count
    try await PurchaseStatusQuery(line, after).run(through: service.lookup)
    #expect(service.exchange.paths.count == calls + 1, "the statuses are enough")
    await service.store.close()
  }

  @Test("Of several upgrades without a notification, all periods are stored")
  func upgrades() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "query-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let products = ["gold", "silver", "bronze"]
    let simulator = try AppStoreSimulator(
      apps: [
        SandboxApp(
          id: "demo", identity: LivedWorld.app.identity,
          products: products.enumerated().map { position, product in
            SandboxProduct(
              productId: product, type: .autoRenewableSubscription, subscriptionGroupIdentifier: "pro",
              level: position + 1, period: Period("P1M"), price: 4990)
          })
      ], storage: .memory, now: { LivedWorld.start })
    let service = try SimulatedAppStore(simulator, app: Self.app, folder: folder)
    var bought: [Purchase] = []
    for (week, product) in products.reversed().enumerated() {
      try await simulator.advanceClock(
        to: LivedWorld.start.advanced(byMilliseconds: Int64(week) * 7 * 86_400_000))
      bought.append(
        try await simulator.purchase(PurchaseOrder(app: "demo", productId: product, account: "ann")))
    }
    #expect(Set(bought.map(\.originalTransactionId)).count == 1)
    _ = try await service.ledger.submit(
      Submission(appID: "demo", customerID: "ann", signedTransaction: bought[0].signedTransactionInfo))
    let line = LineKey(appID: "demo", environment: .sandbox, lineID: bought[0].originalTransactionId)
    func facts() async throws -> CustomerFacts {
      try await service.store.read { snapshot throws(StoreError) in try snapshot.facts(of: line) }
    }
    try await PurchaseStatusQuery(line, try await facts()).run(through: service.lookup)
    #expect(try await facts().transactions.map(\.transactionID) == bought.map(\.transactionId))
    await service.store.close()
  }
}
