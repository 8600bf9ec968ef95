import AppReceipt
import AppStore
import Bytes
import HTTP
import JSON
import Sandbox
import SignedData
import Testing

/// The documents of every kind.
@Suite final class SandboxDocumentTests {
  private let store: AppStoreSimulator
  private let verifier: SignedDataVerifier
  private let identity = AppIdentity(bundleID: "com.example", appAppleID: 1234)

  init() throws {
    let products = [
      SandboxProduct(productId: "unlock", type: .nonConsumable, price: 4990),
      SandboxProduct(
        productId: "monthly", type: .autoRenewableSubscription, subscriptionGroupIdentifier: "1", level: 2,
        period: Period("P1M"), price: 990),
      SandboxProduct(
        productId: "gold", type: .autoRenewableSubscription, subscriptionGroupIdentifier: "1",
        period: Period("P1M"), price: 1990),
    ]
    store = try AppStoreSimulator(
      apps: [SandboxApp(id: "demo", identity: identity, products: products)], storage: .memory,
      now: { Instant(rfc3339: "2026-01-01T00:00:00Z")! })
    verifier = try SignedDataVerifier(anchors: .apple().adding(store.root, for: .sandbox))
  }

  /// Requests a document about a purchase at a date, or now.
  private func post(_ kind: String, _ product: String = "monthly", at date: String? = nil) async throws
    -> (Int, JSONObject)
  {
    let date = date.map { #", "purchaseDate": "\#($0)""# } ?? ""
    let body = #"{"app": "demo", "productId": "\#(product)", "account": "ann"\#(date)}"#
    let response = await store.respond(
      to: HTTPRequest(method: "POST", target: "/sandbox/v1/documents/\(kind)", body: Array(body.utf8)))
    return (response.status, try #require(JSONValue(parsing: response.body).objectValue))
  }

  private func document(_ kind: String, _ product: String = "monthly", at date: String? = nil) async throws
    -> String
  {
    let (status, json) = try await post(kind, product, at: date)
    #expect(status == 200)
    return try #require(json["document"]?.stringValue)
  }

  @Test("Documents of every kind verify under the sandbox's root and are recognized by payload")
  func everyKind() async throws {
    let jws = try await document("transaction")
    let transaction = try verifier.verifyTransaction(jws, for: identity, environments: [.sandbox])
    #expect(transaction.payload.productId == "monthly")
    let renewal = try await verifier.verifyRenewalInfo(
      document("renewal-info"), for: identity, environments: [.sandbox])
    #expect(renewal.payload.autoRenewStatus == .on)
    let app = try await verifier.verifyAppTransaction(
      document("app-transaction"), for: identity, environments: [.sandbox])
    #expect(app.payload.appTransactionId == transaction.payload.appTransactionId)
    let request = try await verifier.verifyRealtimeRequest(
      document("retention-message-request"), for: identity, environments: [.sandbox])
    #expect(request.payload.appAppleId == 1234)
    #expect(SignedDocumentKind(payload: app.payload.json) == .appTransaction)
    #expect(SignedDocumentKind(payload: request.payload.json) == .retentionMessageRequest)
  }

  @Test("A notification carries the signed documents, and the status of a subscription")
  func notification() async throws {
    let first = try await verifier.verifyNotification(
      document("notification", at: "2025-06-01T00:00:00Z"), for: identity, environments: [.sandbox])
    #expect(first.notification.payload.subtype == .initialBuy)
    #expect(first.notification.payload.data?.status == .expired)
    let again = try await verifier.verifyNotification(
      document("notification"), for: identity, environments: [.sandbox])
    #expect(again.notification.payload.notificationType == .subscribed)
    #expect(again.notification.payload.subtype == .resubscribe)
    #expect(again.notification.payload.data?.status == .active)
    #expect(again.transaction?.payload.originalTransactionId == first.transaction?.payload.transactionId)
    let charged = try await verifier.verifyNotification(
      document("notification", "unlock"), for: identity, environments: [.sandbox])
    #expect(charged.notification.payload.notificationType == .oneTimeCharge)
    #expect(charged.renewalInfo == nil)
  }

  @Test("An app receipt verifies and contains the purchase")
  func appReceipt() async throws {
    var bought: Set<String?> = []
    for product in ["monthly", "unlock"] {
      bought.insert(product)
      let verified: Verified<AppReceiptPayload> = try await verifier.verifyReceipt(
        base64: document("app-receipt", product), for: identity, environments: [.sandbox])
      let receipt = verified.payload
      #expect(receipt.receiptType == .productionSandbox)
      #expect(receipt.originalApplicationVersion == "1.0" && receipt.unknownAttributes.isEmpty)
      #expect(receipt.creationDate == Instant(rfc3339: "2026-01-01T00:00:00Z"))
      #expect(receipt.originalPurchaseDate == Instant(rfc3339: "2013-08-01T07:00:00Z"))
      #expect(Set(receipt.purchases.map(\.productID)) == bought)
      let end = Instant(rfc3339: "2026-02-01T00:00:00Z")
      let purchase = receipt.purchases.first { $0.productID == product }
      #expect(purchase?.expirationDate == (product == "monthly" ? end : nil))
    }
  }

  @Test("In an app receipt, a period that was upgraded is cancelled at the upgrade")
  func upgrade() async throws {
    _ = try await document("transaction")
    let verified: Verified<AppReceiptPayload> = try await verifier.verifyReceipt(
      base64: document("app-receipt", "gold"), for: identity, environments: [.sandbox])
    let now = try #require(Instant(rfc3339: "2026-01-01T00:00:00Z"))
    let cancelled = Dictionary(
      uniqueKeysWithValues: verified.payload.purchases.map { ($0.productID, $0.cancellationDate) })
    #expect(cancelled == ["monthly": now, "gold": nil])
  }

  @Test("A transaction receipt names the purchase")
  func transactionReceipt() async throws {
    let text = try await document("transaction-receipt")
    let bytes = try #require(Base64.standard.decode(text))
    let receipt = try TransactionReceipt(parsing: bytes)
    #expect(receipt.productID == "monthly" && receipt.bundleID == "com.example")
    #expect(receipt.environment == .sandbox && receipt.hasSignature)
    #expect(receipt.transactionID == receipt.originalTransactionID)
    #expect(receipt.expirationDate == Instant(rfc3339: "2026-02-01T00:00:00Z"))
  }

  @Test("A version 1 notification carries the purchase and its receipt")
  func notificationV1() async throws {
    let text = try await document("notification-v1")
    let json = try #require(JSONValue(parsing: text).objectValue)
    let body = try ResponseBodyV1(json: json)
    #expect(body.notificationType == .initialBuy && body.environment == .sandbox)
    let unified = try #require(body.unifiedReceipt)
    #expect(unified.latestReceiptInfo?.first?.expiresDate == Instant(rfc3339: "2026-02-01T00:00:00Z"))
    #expect(unified.pendingRenewalInfo?.first?.productId == "monthly")
    let verified: Verified<AppReceiptPayload> = try verifier.verifyReceipt(
      base64: try #require(unified.latestReceipt), for: identity, environments: [.sandbox])
    #expect(
      verified.payload.purchases.map(\.transactionID) == unified.latestReceiptInfo?.map(\.transactionId))
  }

  @Test("Subscription documents of other products and unknown kinds are rejected")
  func refused() async throws {
    for kind in ["renewal-info", "retention-message-request", "notification-v1"] {
      let (status, json) = try await post(kind, "unlock")
      #expect(status == 400)
      #expect(json["error"]?.objectValue?["code"] == "NOT_A_SUBSCRIPTION")
    }
    let (status, json) = try await post("receipt")
    #expect(status == 404)
    #expect(json["error"]?.objectValue?["code"] == "UNKNOWN_DOCUMENT")
    let response = await store.respond(
      to: HTTPRequest(method: "GET", target: "/sandbox/v1/documents/transaction"))
    #expect(response.status == 405)
  }
}
