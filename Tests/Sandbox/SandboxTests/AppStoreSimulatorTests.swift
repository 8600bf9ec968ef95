import AppStore
import JSON
import Sandbox
import SignedData
import Testing

@Suite struct AppStoreSimulatorTests {
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

  private func open() throws -> AppStoreSimulator {
    try AppStoreSimulator(apps: [app], storage: .memory, now: { Self.start })
  }

  private func verified(_ purchase: Purchase, by store: AppStoreSimulator) throws
    -> Verified<JWSTransactionDecodedPayload>
  {
    let verifier = try SignedDataVerifier(anchors: try .apple().adding(store.root, for: .sandbox))
    return try verifier.verifyTransaction(
      purchase.signedTransactionInfo, for: app.identity, environments: [.sandbox])
  }

  @Test("Sandboxes in memory have different roots")
  func inMemory() async throws {
    let stores = try (0..<2).map { _ in try open() }
    let purchase = try await stores[0].purchase(PurchaseOrder(app: "demo", productId: "monthly"))
    #expect(try verified(purchase, by: stores[0]).payload.productId == "monthly")
    try await stores[0].setBaseURL("http://127.0.0.1:8090")
    #expect(stores[0].root.der != stores[1].root.der)
    #expect(throws: (any Error).self) { try verified(purchase, by: stores[1]) }
  }

  @Test("A subscription's transaction verifies under the sandbox's root and has Apple's members")
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

  @Test("A subscription has a renewal info, which is expired for a purchase long ago")
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

  @Test("An account has one original transaction per subscription group and per non-consumable")
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

  @Test("A product without price or period is rejected by name")
  func incompleteProducts() async throws {
    let products = [
      SandboxProduct(productId: "free", type: .consumable),
      SandboxProduct(productId: "monthly", type: .autoRenewableSubscription, price: 990),
    ]
    let store = try AppStoreSimulator(
      apps: [SandboxApp(id: "demo", identity: app.identity, products: products)], storage: .memory,
      now: { Self.start })
    for (product, missing) in [("free", "price"), ("monthly", "period")] {
      await #expect(throws: SandboxError.actionFailed(.incompleteProduct(product, missing: missing))) {
        try await store.purchase(PurchaseOrder(app: "demo", productId: product))
      }
    }
  }

  @Test("Documents fail verification for Production and without the sandbox's root")
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
