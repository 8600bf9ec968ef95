import AppStore
import AppStoreSupport
import Entitlements
import Foundation
import JSON
import Ledger
import Store
import Testing

@testable import Reconciliation
@testable import Sandbox

@Suite("Time of a status poll") struct PollTimeTests {
  private static let app = LivedWorld.definition
  private static let minute: Int64 = 60_000

  @Test("A poll whose response arrives after the next one was due settles only the time of its call")
  func slowResponse() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "poll-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let simulator = try AppStoreSimulator(
      apps: [LivedWorld.app], storage: .memory, now: { LivedWorld.start })
    _ = try await simulator.perform(.gracePeriod, Parameters(["app": "demo", "days": 16]))
    let service = try SimulatedAppStore(simulator, app: Self.app, folder: folder)
    let bought = try await simulator.purchase(
      PurchaseOrder(app: "demo", productId: "monthly", account: "ann"))
    _ = try await simulator.perform(.billing, Parameters(["account": "ann", "fails": true]))
    _ = try await service.ledger.submit(
      Submission(appID: "demo", customerID: "ann", signedTransaction: bought.signedTransactionInfo))
    let line = LineKey(appID: "demo", environment: .sandbox, lineID: bought.originalTransactionId)
    func facts() async throws -> CustomerFacts {
      try await service.store.read { snapshot throws(StoreError) in try snapshot.facts(of: line) }
    }
    let end = try #require(try await facts().transactions.first?.expiresDate)
    try await simulator.advanceClock(to: end.advanced(byMilliseconds: -20 * Self.minute))
    // While the response is on its way, the period ends, and the charge fails.
    let after = end.advanced(byMilliseconds: 2 * Self.minute)
    service.exchange.interruptNextResponse { try? await simulator.advanceClock(to: after) }
    let target = AppEnvironment(appID: "demo", environment: .sandbox)
    let polling = StatusPolling(
      store: service.store, ledger: service.ledger, lookup: service.lookup, app: Self.app, target: target,
      metrics: ReconciliationMetrics(target), now: { simulator.clock.now() })
    try await polling.run()
    #expect(simulator.clock.now() == after)
    #expect(evaluate(try await facts(), entitlement: "pro", in: Self.app, at: after).state == .gracePeriod)
    #expect(try await service.ledger.stillDue([line], by: after) == [])
    await service.store.close()
  }
}
