import AppStore
import Foundation
import HTTP
import JSON
import Sandbox
import SignedData
import Testing

@Suite final class AppStoreSimulatorTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "sandbox-\(UUID().uuidString)")

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private static let start = Instant(rfc3339: "2026-01-31T12:00:00Z")!
  private let app = SandboxApp(
    id: "demo", identity: AppIdentity(bundleID: "com.example", appAppleID: 1234),
    products: [
      SandboxProduct(
        productId: "monthly", type: .autoRenewableSubscription, subscriptionGroupIdentifier: "group",
        level: 2,
        period: Period("P1M"), price: 9990),
      SandboxProduct(
        productId: "yearly", type: .autoRenewableSubscription, subscriptionGroupIdentifier: "group",
        period: Period("P1Y"), price: 99990),
      SandboxProduct(productId: "unlock", type: .nonConsumable, price: 4990),
      SandboxProduct(productId: "coins", type: .consumable, price: 990),
    ])

  private func open(_ name: String = "store", now: Instant = start) throws -> AppStoreSimulator {
    try AppStoreSimulator(apps: [app], directory: folder.appending(path: name).path, now: { now })
  }

  private func verified(_ purchase: Purchase, by store: AppStoreSimulator) throws
    -> Verified<JWSTransactionDecodedPayload>
  {
    let verifier = try SignedDataVerifier(anchors: try .apple().adding(store.root, for: .sandbox))
    return try verifier.verifyTransaction(
      purchase.signedTransactionInfo, for: app.identity, environments: [.sandbox])
  }

  @Test("Without a directory it sells and signs as well, and forgets: the next one is another App Store")
  func inMemory() async throws {
    let stores = try (0..<2).map { _ in
      try AppStoreSimulator(apps: [app], directory: nil, now: { Self.start })
    }
    let purchase = try await stores[0].purchase(PurchaseOrder(app: "demo", productId: "monthly"))
    #expect(try verified(purchase, by: stores[0]).payload.productId == "monthly")
    try await stores[0].isServed(at: "http://127.0.0.1:8090")
    #expect(stores[0].root.der != stores[1].root.der)
    #expect(throws: (any Error).self) { try verified(purchase, by: stores[1]) }
  }

  @Test("A subscription's transaction has what a real one has, and verifies under the sandbox's root")
  func subscription() async throws {
    let store = try open()
    let token = "7E3FB20B-4CDB-47CC-936D-99D65F608138"
    let purchase = try await store.purchase(
      PurchaseOrder(app: "demo", productId: "monthly", appAccountToken: token))
    let payload = try verified(purchase, by: store).payload
    #expect(payload.transactionId == purchase.transactionId)
    #expect(payload.originalTransactionId == purchase.transactionId)
    #expect(payload.transactionId?.count == 16)
    #expect(payload.webOrderLineItemId != nil)
    #expect(payload.appTransactionId?.count == 18)
    #expect(payload.appAccountToken == token.lowercased())
    #expect(payload.subscriptionGroupIdentifier == "group")
    #expect(payload.type == .autoRenewableSubscription)
    #expect(payload.inAppOwnershipType == .purchased)
    #expect(payload.transactionReason == .purchase)
    #expect(payload.environment == .sandbox)
    #expect(payload.purchaseDate == Self.start)
    #expect(payload.expiresDate == Instant(rfc3339: "2026-02-28T12:00:00Z"))
    #expect(payload.signedDate == Self.start)
    #expect(payload.quantity == 1)
    #expect(payload.price == 9990)
    #expect(payload.currency == "USD")
    #expect(payload.storefront == "USA")
    #expect(payload.storefrontId == "143441")
  }

  @Test("A subscription comes with its renewal info; one bought long ago is over")
  func renewalInfo() async throws {
    let store = try open()
    let verifier = try SignedDataVerifier(anchors: try .apple().adding(store.root, for: .sandbox))
    let current = try await store.purchase(PurchaseOrder(app: "demo", productId: "monthly"))
    let renewing = try verifier.verifyRenewalInfo(
      try #require(current.signedRenewalInfo), for: app.identity, environments: [.sandbox]
    ).payload
    #expect(renewing.originalTransactionId == current.originalTransactionId)
    #expect(renewing.autoRenewStatus == .on)
    #expect(renewing.renewalDate == Instant(rfc3339: "2026-02-28T12:00:00Z"))

    let past = Instant(rfc3339: "2025-01-01T00:00:00Z")
    let old = try await store.purchase(
      PurchaseOrder(app: "demo", productId: "monthly", purchaseDate: past))
    #expect(try verified(old, by: store).payload.expiresDate == Instant(rfc3339: "2025-02-01T00:00:00Z"))
    let over = try verifier.verifyRenewalInfo(
      try #require(old.signedRenewalInfo), for: app.identity, environments: [.sandbox]
    ).payload
    #expect(over.autoRenewStatus == .off)
    #expect(over.expirationIntent == .customerCancelled)
  }

  @Test("One account has one line for a subscription group and one for a non-consumable")
  func lines() async throws {
    let store = try open()
    func buy(_ product: String, _ account: String?) async throws -> Purchase {
      try await store.purchase(PurchaseOrder(app: "demo", productId: product, account: account))
    }
    let monthly = try await buy("monthly", "anna")
    let yearly = try await buy("yearly", "anna")
    #expect(yearly.originalTransactionId == monthly.transactionId)
    #expect(yearly.transactionId != monthly.transactionId)
    let unlock = try await buy("unlock", "anna")
    #expect(try await buy("unlock", "anna").originalTransactionId == unlock.transactionId)
    #expect(try await buy("unlock", "berta").originalTransactionId != unlock.transactionId)
    let coins = try await buy("coins", "anna")
    #expect(try await buy("coins", "anna").originalTransactionId != coins.transactionId)
    let stranger = try await buy("monthly", nil)
    #expect(stranger.originalTransactionId == stranger.transactionId)
    let ids = try [monthly, unlock].map { try verified($0, by: store).payload.appTransactionId }
    #expect(ids[0] == ids[1])
    #expect(try verified(stranger, by: store).payload.appTransactionId != ids[0])
  }

  @Test("A restart keeps the chain and repeats no transaction id, and neither does a crash")
  func restart() async throws {
    var ids: Set<String> = []
    var root: [UInt8] = []
    do {
      let store = try open()
      root = store.root.der
      for _ in 0..<3 {
        ids.insert(try await store.purchase(PurchaseOrder(app: "demo", productId: "coins")).transactionId)
      }
      // What a crash would leave behind, while the first is still running.
      try FileManager.default.copyItem(
        at: folder.appending(path: "store"), to: folder.appending(path: "crashed"))
    }
    for name in ["store", "crashed"] {
      let store = try open(name)
      #expect(store.root.der == root)
      let purchase = try await store.purchase(PurchaseOrder(app: "demo", productId: "coins"))
      #expect(!ids.contains(purchase.transactionId))
      #expect(try verified(purchase, by: store).signer?.anchor.contains("Sandbox Root CA - G3") == true)
    }
  }

  @Test("An account is remembered over a restart, also when a crash cut its last purchase short")
  func accounts() async throws {
    let order = PurchaseOrder(app: "demo", productId: "unlock", account: "anna")
    let first = try await open().purchase(order)
    let file = try FileHandle(forUpdating: folder.appending(path: "store/journal"))
    try file.seekToEnd()
    try file.write(contentsOf: Data("\n{\"app\": \"de".utf8))
    try file.close()
    for _ in 0..<2 {
      let store = try open()
      #expect(try await store.purchase(order).originalTransactionId == first.transactionId)
      let subscription = PurchaseOrder(app: "demo", productId: "monthly", account: "anna")
      _ = try await store.purchase(subscription)
    }
  }

  @Test("Two sandboxes cannot use one directory at a time")
  func inUse() throws {
    let store = try open()
    #expect(throws: SandboxError.inUse(path: folder.appending(path: "store").path)) { try open() }
    #expect(store.apps.count == 1)
  }

  @Test("A leaf that has run out is replaced under the same root")
  func newLeaf() async throws {
    let root = try open().root.der
    let later = Instant(rfc3339: "2048-01-01T00:00:00Z")!
    let store = try open(now: later)
    #expect(store.root.der == root)
    let purchase = try await store.purchase(PurchaseOrder(app: "demo", productId: "unlock"))
    #expect(try verified(purchase, by: store).payload.signedDate == later)
  }

  @Test("A missing key is damage, and never a reason for a new root")
  func damaged() throws {
    _ = try open()
    try FileManager.default.removeItem(at: folder.appending(path: "store/leaf.key.pem"))
    #expect(throws: SandboxError.self) { try open() }
  }

  @Test("Keys are for their owner's eyes only")
  func modes() throws {
    _ = try open()
    func mode(_ path: String) throws -> Int {
      let attributes = try FileManager.default.attributesOfItem(atPath: folder.appending(path: path).path)
      return try #require(attributes[.posixPermissions] as? Int)
    }
    #expect(try mode("store") == 0o700)
    for name in ["root", "intermediate", "leaf"] {
      #expect(try mode("store/\(name).key.pem") == 0o600)
    }
  }

  @Test("What it signs is nothing in Production, nor where its root is not configured")
  func production() async throws {
    let store = try open()
    let purchase = try await store.purchase(PurchaseOrder(app: "demo", productId: "unlock"))
    for anchors in [try TrustAnchors.apple(), try .apple().adding(store.root, for: .production)] {
      let verifier = try SignedDataVerifier(anchors: anchors)
      #expect {
        try verifier.verifyTransaction(
          purchase.signedTransactionInfo, for: app.identity, environments: [.production, .sandbox])
      } throws: {
        ($0 as? VerificationError)?.reason == "UNTRUSTED_ROOT"
      }
    }
  }
}
