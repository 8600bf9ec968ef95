internal import AppStore
internal import AppStoreClient
internal import AppleLookup
internal import Entitlements
internal import Ledger
internal import RPC
internal import Store
internal import Wire

/// `entitled.v1.AppStoreService`: Apple's App Store Server API for operators, within the rate limit. Signed data in
/// Apple's responses is verified and stored as evidence before it is returned.
///
/// A method that changes data at Apple runs within ``Idempotency/runExclusively(_:_:)`` and calls Apple in
/// `changeOnce`, which stores the request and Apple's response. A replica forwards each method that calls Apple to the
/// leader (``CallForwarder``), so that one process has Apple's rate limits.
struct AppStoreServiceHandler: AppStoreServiceMethods {
  let context: ServiceContext

  /// One call to Apple: the app, the environment and the timeout of the caller.
  struct Call: Sendable {
    /// The app of the request, from the catalog when the call began.
    let app: AppDefinition
    /// The environment of the request, which also selects Apple's host.
    let environment: AppStore.Environment
    /// Signs requests with the app's key, and counts them against Apple's limits.
    let client: AppStoreServerClient
    /// The caller's timeout, for all attempts of one request to Apple together; `nil`: none.
    let timeout: Duration?

    /// Verified transactions as messages.
    func messages(_ transactions: ArraySlice<JWSTransactionDecodedPayload>) -> [Wire.Transaction] {
      transactions.compactMap { try? TransactionFact($0) }
        .map { Wire.Transaction($0, of: app, environment: environment) }
    }
  }

  /// Prepares a call to Apple for a request: its app, environment and client.
  ///
  /// - Throws: `UNKNOWN_APP`, `WRONG_ENVIRONMENT`, and `NO_IN_APP_PURCHASE_KEY` if the app has no key.
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

  /// Sends a request that changes nothing. The client repeats it after temporary errors within the timeout.
  ///
  /// - Throws: the status of Apple's error, as `Status.init(_: AppStoreClientError)` maps it.
  func send<Response: DecodedPayload>(
    _ request: AppStoreRequest, _ call: Call
  ) async throws(Status) -> Response {
    do throws(AppStoreClientError) {
      return try await call.client.send(request, timeout: call.timeout)
    } catch {
      throw Status(error)
    }
  }

  /// The parameters under which documents of a call are ingested. `transactionID` is empty if the call names no
  /// transaction.
  func lookupRequest(_ transactionID: String, _ call: Call) -> PurchaseLookup.Request {
    var request = PurchaseLookup.Request(
      appID: call.app.id, environment: call.environment, transactionID: transactionID)
    request.timeout = call.timeout
    return request
  }

  /// The position of a page is Apple's revision. The transactions of each page are ingested, so a refund whose
  /// notification was lost takes effect here.
  /// Apple's page: *Get Refund History*, 20 transactions of the Apple Account, the oldest refund first.
  ///
  /// - Throws: `APP_STORE_RESPONSE_NOT_GENUINE` if a transaction of the page does not verify; the others are stored.
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
    let next = try nextPageToken(history, page)
    return .with {
      $0.transactions = call.messages(result.transactions[...])
      $0.nextPageToken = next
    }
  }

  /// The token of the page after one of Apple's; empty after the last one.
  ///
  /// - Throws: `APP_STORE_RESPONSE_MALFORMED` if Apple has more, and does not say where.
  func nextPageToken(_ answer: some PageResponse, _ page: RequestedPage) throws(Status) -> String {
    do throws(AppStoreClientError) { return try answer.nextPageToken.map(page.token(after:)) ?? "" } catch {
      throw Status(error)
    }
  }

  /// Looks an order up in Production, whatever the request says, because Apple has orders there only. The position of a
  /// page is the number of the transactions before it; Apple returns all of them to each page.
  /// Apple's page: *Look Up Order ID*. An unknown order is a response with `valid` false, not an error.
  func lookUpOrder(
    _ request: LookUpOrderRequest, _ call: CallContext
  ) async throws(Status) -> LookUpOrderResponse {
    try RequestValidation.given(request.orderId, "order_id")
    let (page, size) = try context.page(of: request)
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

  /// Returns the last 1,000 transactions in Apple's order; more are ingested. What was ingested before an error stays,
  /// and a repeated call is safe.
  ///
  /// - Throws: the status of the first call that fails, and `APP_STORE_RESPONSE_NOT_GENUINE`.
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
        $0.changed = Int32(clamping: result.newTransactions.count)
      }
    } catch {
      throw Status(error)
    }
  }

  /// Implements `GetTestNotificationStatus` of NotificationService. The payload is shown without verification, so that
  /// an operator sees what Apple sent even if the service rejects it.
  /// Apple's page: *Get Test Notification Status*. Apple has no status until it has tried to send the notification.
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

  /// Verifies and stores signed transactions of one of Apple's responses.
  ///
  /// - Throws: `APP_STORE_RESPONSE_NOT_GENUINE` if one of them does not verify; the others are stored.
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
