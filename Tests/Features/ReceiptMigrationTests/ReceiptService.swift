import AppStore
import AppStoreClient
import AppStoreSupport
import Entitlements
import Foundation
import Ledger
import SQLiteStore
import Sandbox
import SignedData
import Store

@testable import ReceiptMigration

/// A receipt intake over the simulated App Store.
struct ReceiptService {
  static let secret = "shared"

  let appStore: SimulatedAppStore
  let intake: ReceiptIntake
  let folder: URL

  private init(_ policy: ReceiptPolicy, _ environments: [AppStore.Environment], folder: URL) throws {
    self.folder = folder
    let appStore = try SimulatedAppStore.demo(in: environments, folder: folder)
    self.appStore = appStore
    let clock = appStore.simulator.clock
    let client = VerifyReceiptClient(
      productionURL: "http://sandbox/verifyReceipt", sandboxURL: "http://sandbox/verifyReceipt",
      exchange: appStore.exchange,
      clock: ClientClock(now: { clock.now() }, uptime: { .zero }, sleep: { _ in }, random: { 0 }))
    intake = ReceiptIntake(
      ledger: appStore.ledger, lookup: appStore.lookup, catalog: appStore.catalog,
      verifier: ReceiptVerifier(
        verifier: appStore.verifier,
        endpoints: ["demo": VerifyReceiptSettings(client: client, secrets: SharedSecrets([:]))]),
      policies: ["demo": policy], uptime: appStore.uptime)
  }

  static func run(
    _ policy: ReceiptPolicy = ReceiptPolicy(), in environments: [AppStore.Environment] = [.sandbox],
    _ body: (ReceiptService) async throws -> Void
  ) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "receipts-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let service = try ReceiptService(policy, environments, folder: folder)
    try await body(service)
    await service.appStore.store.close()
  }

  /// Buys a subscription and returns the account's receipt, in base64.
  func receipt(of account: String = "a") async throws -> String {
    try await appStore.simulator.document(.appReceipt, about: order(account))
  }

  func purchase(of account: String = "a") async throws -> Purchase {
    try await appStore.simulator.purchase(order(account))
  }

  private func order(_ account: String) -> PurchaseOrder {
    PurchaseOrder(app: "demo", productId: "monthly", account: account)
  }

  func submit(_ content: IncomingReceipt.Content, for customer: String? = "ana")
    async throws(ReceiptError) -> ReceiptOutcome
  {
    try await intake.submit(IncomingReceipt(appID: "demo", customerID: customer, content: content))
  }
}
