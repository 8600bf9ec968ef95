internal import AppStore
internal import AppStoreClient
internal import AppleLookup
internal import Entitlements
internal import Ledger
internal import RPC
internal import Store
internal import Wire

/// `entitled.v1.AppStoreService`: Apple's API for operators, within the rate budget. What Apple signs in its
/// answers is verified and kept as evidence before it is passed on.
struct AppStoreService: Sendable {
  let lookup: PurchaseLookup
  let ledger: EvidenceLedger
  let store: any EntitlementStore
  let catalog: CurrentCatalog
  let now: @Sendable () -> Instant

  static let name = "entitled.v1.AppStoreService"

  /// One call: for which app and where, and how long its caller waits.
  struct Call: Sendable {
    let app: AppDefinition
    let environment: AppStore.Environment
    let client: AppStoreServerClient
    let timeout: Duration?
  }

  var methods: [Method] {
    [
      .waitingUnary("/\(Self.name)/GetRefundHistory") {
        (request: GetRefundHistoryRequest, context) async throws(Status) in
        try await refundHistory(request, context)
      },
      .waitingUnary("/\(Self.name)/LookUpOrder") {
        (request: LookUpOrderRequest, context) async throws(Status) in
        try await lookUpOrder(request, context)
      },
      .waitingUnary("/\(Self.name)/RefreshPurchase") {
        (request: RefreshPurchaseRequest, context) async throws(Status) in
        try await refresh(request, context)
      },
      .waitingUnary("/\(Self.name)/GetTestNotificationStatus") {
        (request: GetTestNotificationStatusRequest, context) async throws(Status) in
        try await testNotificationStatus(request, context)
      },
    ] + changingMethods + consumptionMethods
  }

  func call(
    _ appID: String, _ environment: Wire.Environment, _ context: CallContext
  ) throws(Status) -> Call {
    let app = try catalog.value.app(appID)
    let environment = try app.environment(environment)
    do throws(LookupError) {
      return Call(
        app: app, environment: environment, client: try lookup.client(for: appID, in: environment),
        timeout: context.patience)
    } catch {
      throw Status(error)
    }
  }

  func send<Response: DecodedPayload>(
    _ request: AppStoreRequest, _ call: Call
  ) async throws(Status) -> Response {
    do throws(AppStoreClientError) {
      return try await call.client.send(request, timeout: call.timeout)
    } catch {
      throw Status(error)
    }
  }

  private func question(_ transactionID: String, _ call: Call) -> PurchaseLookup.Request {
    var question = PurchaseLookup.Request(
      appID: call.app.id, environment: call.environment, transactionID: transactionID)
    question.timeout = call.timeout
    return question
  }

  private func refundHistory(
    _ request: GetRefundHistoryRequest, _ context: CallContext
  ) async throws(Status) -> GetRefundHistoryResponse {
    try RequestValidation.given(request.transactionId, "transaction_id")
    let call = try call(request.app, request.environment, context)
    let page: RefundHistoryResponse = try await send(
      .refundHistory(of: request.transactionId, revision: request.pageToken.given), call)
    let findings = try await hand(
      page.signedTransactions ?? [], question(request.transactionId, call))
    return .with {
      $0.transactions = findings.transactions.map(Wire.Transaction.init)
      if page.hasMore == true { $0.nextPageToken = page.revision ?? "" }
    }
  }

  private func lookUpOrder(
    _ request: LookUpOrderRequest, _ context: CallContext
  ) async throws(Status) -> LookUpOrderResponse {
    try RequestValidation.given(request.orderId, "order_id")
    // Apple looks orders up in Production alone.
    let call = try call(request.app, .production, context)
    let order: OrderLookupResponse = try await send(.lookUpOrder(request.orderId), call)
    let findings = try await hand(order.signedTransactions ?? [], question("", call))
    return .with {
      $0.valid = order.status == .valid
      $0.transactions = findings.transactions.map(Wire.Transaction.init)
      $0.customerIds = findings.customerIDs
    }
  }

  private func refresh(
    _ request: RefreshPurchaseRequest, _ context: CallContext
  ) async throws(Status) -> RefreshPurchaseResponse {
    try RequestValidation.given(request.transactionId, "transaction_id")
    let call = try call(request.app, request.environment, context)
    do throws(LookupError) {
      let findings = try await lookup.fetchAll(question(request.transactionId, call))
      try findings.requireVerified()
      return .with {
        $0.transactions = findings.transactions.map(Wire.Transaction.init)
        $0.changed = Int32(clamping: findings.changed)
      }
    } catch {
      throw Status(error)
    }
  }

  private func testNotificationStatus(
    _ request: GetTestNotificationStatusRequest, _ context: CallContext
  ) async throws(Status) -> GetTestNotificationStatusResponse {
    try RequestValidation.given(request.testNotificationToken, "test_notification_token")
    let call = try call(request.app, request.environment, context)
    let status: CheckTestNotificationResponse = try await send(
      .testNotificationStatus(token: request.testNotificationToken), call)
    return .with {
      $0.payloadJson = status.signedPayload.flatMap(Self.payloadJSON) ?? ""
      $0.sendAttempts = (status.sendAttempts ?? []).map { attempt in
        .with {
          $0.attemptDate = attempt.attemptDate.map(GoogleProtobuf.Timestamp.init)
          $0.result = attempt.sendAttemptResult?.rawValue ?? ""
        }
      }
    }
  }

  private func hand(
    _ documents: [String], _ question: PurchaseLookup.Request
  ) async throws(Status) -> PurchaseLookup.Result {
    do throws(LookupError) {
      let findings = try await lookup.ingest(signedTransactions: documents, question)
      try findings.requireVerified()
      return findings
    } catch {
      throw Status(error)
    }
  }
}
