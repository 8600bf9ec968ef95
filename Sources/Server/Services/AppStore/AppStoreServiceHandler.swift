internal import AppStore
internal import AppStoreClient
internal import AppleLookup
internal import Entitlements
internal import Ledger
internal import RPC
internal import Store
internal import Wire

/// `entitled.v1.AppStoreService`: Apple's App Store Server API for operators, within the rate limit. Signed
/// data in Apple's responses is verified and stored as evidence before it is returned.
struct AppStoreServiceHandler: AppStoreServiceMethods {
  let context: ServiceContext

  /// One call to Apple: the app, the environment and the timeout of the caller.
  struct Call: Sendable {
    let app: AppDefinition
    let environment: AppStore.Environment
    let client: AppStoreServerClient
    let timeout: Duration?

    /// Verified transactions as messages.
    func messages(_ transactions: ArraySlice<JWSTransactionDecodedPayload>) -> [Wire.Transaction] {
      transactions.compactMap { try? TransactionFact($0) }
        .map { Wire.Transaction($0, of: app, environment: environment) }
    }
  }

  func call(
    _ appID: String, _ environment: Wire.Environment, _ call: CallContext
  ) throws(Status) -> Call {
    let app = try context.catalog.value.app(appID)
    let environment = try app.environment(environment)
    do throws(LookupError) {
      return Call(
        app: app, environment: environment,
        client: try context.apple.lookup.client(for: appID, in: environment),
        timeout: call.remainingTime)
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

  func lookupRequest(_ transactionID: String, _ call: Call) -> PurchaseLookup.Request {
    var request = PurchaseLookup.Request(
      appID: call.app.id, environment: call.environment, transactionID: transactionID)
    request.timeout = call.timeout
    return request
  }

  func getRefundHistory(
    _ request: GetRefundHistoryRequest, _ call: CallContext
  ) async throws(Status) -> GetRefundHistoryResponse {
    try RequestValidation.given(request.transactionId, "transaction_id")
    let page = try context.pageTokens.page(request)
    let call = try self.call(request.app, request.environment, call)
    let history: RefundHistoryResponse = try await send(
      .refundHistory(of: request.transactionId, revision: page.position), call)
    let result = try await ingest(
      history.signedTransactions ?? [], lookupRequest(request.transactionId, call))
    return .with {
      $0.transactions = call.messages(result.transactions[...])
      if history.hasMore == true { $0.nextPageToken = history.revision.map(page.token(after:)) ?? "" }
    }
  }

  /// The position of a page is the number of the transactions before it.
  func lookUpOrder(
    _ request: LookUpOrderRequest, _ call: CallContext
  ) async throws(Status) -> LookUpOrderResponse {
    try RequestValidation.given(request.orderId, "order_id")
    let size = try RequestValidation.pageSize(request.pageSize)
    let page = try context.pageTokens.page(request)
    let first = Int(clamping: try page.number ?? 0)
    // Apple looks up orders in Production only.
    let call = try self.call(request.app, .production, call)
    let order: OrderLookupResponse = try await send(.lookUpOrder(request.orderId), call)
    let result = try await ingest(order.signedTransactions ?? [], lookupRequest("", call))
    CallScope.show(result.customerIDs, of: "order \(request.orderId)")
    return .with {
      $0.valid = order.status == .valid
      $0.transactions = call.messages(result.transactions.dropFirst(first).prefix(size))
      $0.customerIds = result.customerIDs
      if result.transactions.count - first > size { $0.nextPageToken = page.token(after: first + size) }
    }
  }

  func refreshPurchase(
    _ request: RefreshPurchaseRequest, _ call: CallContext
  ) async throws(Status) -> RefreshPurchaseResponse {
    try RequestValidation.given(request.transactionId, "transaction_id")
    let call = try self.call(request.app, request.environment, call)
    do throws(LookupError) {
      let result = try await context.apple.lookup.fetchAll(lookupRequest(request.transactionId, call))
      try result.requireVerified()
      return .with {
        $0.transactions = call.messages(result.transactions.suffix(1_000))
        $0.changed = Int32(clamping: result.newDocuments)
      }
    } catch {
      throw Status(error)
    }
  }

  func testNotificationStatus(
    _ request: GetTestNotificationStatusRequest, _ call: CallContext
  ) async throws(Status) -> GetTestNotificationStatusResponse {
    try RequestValidation.given(request.testNotificationToken, "test_notification_token")
    let call = try self.call(request.app, request.environment, call)
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

  /// Verifies and stores signed transactions.
  func ingest(
    _ documents: [String], _ request: PurchaseLookup.Request
  ) async throws(Status) -> PurchaseLookup.Result {
    do throws(LookupError) {
      let result = try await context.apple.lookup.ingest(signedTransactions: documents, request)
      try result.requireVerified()
      return result
    } catch {
      throw Status(error)
    }
  }
}
