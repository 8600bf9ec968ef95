package import AppStore
internal import JSON
internal import Telemetry
internal import Tracing

/// Sends app receipts to Apple's `verifyReceipt`: to one environment first, and to the other if the first reports
/// the wrong environment (verifyReceipt, "Verify first with production").
package final class VerifyReceiptClient: Sendable {
  private let production: VerifyReceiptServer
  private let sandbox: VerifyReceiptServer
  private let clock: ClientClock

  /// Apple's own addresses.
  package static let productionURL = "https://buy.itunes.apple.com/verifyReceipt"
  package static let sandboxURL = "https://sandbox.itunes.apple.com/verifyReceipt"

  /// Creates a client with a rate limit and a circuit breaker for each of the two hosts; the sandbox has a tenth of
  /// the rate.
  package init(
    productionURL: String = VerifyReceiptClient.productionURL,
    sandboxURL: String = VerifyReceiptClient.sandboxURL, exchange: any HTTPExchange,
    clock: ClientClock
  ) {
    self.clock = clock
    production = VerifyReceiptServer(url: productionURL, share: 1, exchange: exchange, clock: clock)
    sandbox = VerifyReceiptServer(url: sandboxURL, share: 0.1, exchange: exchange, clock: clock)
  }

  /// Verifies a receipt, given in base64.
  ///
  /// - `sharedSecret`: the app's; `nil` if it has no auto-renewable subscriptions.
  /// - `first`: the environment to call first.
  /// - `timeout`: for all attempts in both environments together; `nil` for none.
  ///
  /// Returns the response, whatever its status, and the environment that sent it.
  ///
  /// - Throws: ``AppStoreClientError`` if Apple gave no response with a status, after the retries that it allows.
  package func verify(
    _ receipt: String, sharedSecret: String?, first: Environment = .production,
    priority: CallPriority = .interactive, timeout: Duration? = nil
  ) async throws(AppStoreClientError) -> (response: VerifyReceiptResponse, environment: Environment) {
    var body: JSONObject = ["receipt-data": .string(receipt)]
    if let sharedSecret { body["password"] = .string(sharedSecret) }
    let start = first == .production ? production : sandbox
    let deadline = timeout.map { clock.uptime() + $0 }
    let response = try await start.send(body, priority, by: deadline)
    switch response.status {
    case .sandboxReceiptInProduction where first == .production:
      return (try await sandbox.send(body, priority, by: deadline), .sandbox)
    case .productionReceiptInSandbox where first != .production:
      return (try await production.send(body, priority, by: deadline), .production)
    default: return (response, first == .production ? .production : .sandbox)
    }
  }
}

/// The client of one of the two hosts.
private final class VerifyReceiptServer: Sendable {
  private let url: String
  private let host: AppleHost
  private let clock: ClientClock
  private let rateLimiter: RateLimiter
  private let policy = RetryPolicy.standard

  /// In bytes; Apple repeats each purchase of a receipt twice, so the response is several times its size.
  private static let maxBodySize = 64 << 20

  init(url: String, share: Double, exchange: any HTTPExchange, clock: ClientClock) {
    self.url = url
    self.clock = clock
    host = AppleHost(
      AppStoreServer(baseURL: url).host, exchange: exchange, clock: clock, bodyLimit: Self.maxBodySize)
    rateLimiter = RateLimiter(share: share, clock: clock)
  }

  /// Sends the request until the response is one that a retry would not change.
  func send(
    _ body: JSONObject, _ priority: CallPriority, by deadline: Duration?
  ) async throws(AppStoreClientError) -> VerifyReceiptResponse {
    let bytes = JSONValue.object(body).serialized()
    var attempts = 1
    while true {
      try await rateLimiter.acquire(.verifyReceipt, priority, deadline: deadline)
      let result: Result<VerifyReceiptResponse, AppStoreClientError>
      do throws(AppStoreClientError) {
        result = .success(try await traced(bytes, attempts, deadline))
      } catch {
        result = .failure(error)
      }
      let wait = policy.backoff(after: attempts, random: clock.random())
      let hasTime = deadline.map { clock.uptime() + wait <= $0 } ?? true
      guard result.isRetryable, attempts < policy.maxAttempts, hasTime else { return try result.get() }
      attempts += 1
      do { try await clock.sleep(wait) } catch { throw .cancelled }
    }
  }

  private func traced(
    _ body: [UInt8], _ number: Int, _ deadline: Duration?
  ) async throws(AppStoreClientError) -> VerifyReceiptResponse {
    try await tracedAsRoot(
      "app_store verifyReceipt", .client,
      attributes: [
        "http.request.method": "POST", "server.address": "\(host.name)",
        "http.request.resend_count": .int(Int64(number - 1)),
      ]
    ) { _ throws(AppStoreClientError) in try await attempt(body, deadline) }
  }

  /// Makes one attempt. Apple answers an invalid receipt with 200 and its own `status` code; any other HTTP status is an
  /// error.
  private func attempt(
    _ body: [UInt8], _ deadline: Duration?
  ) async throws(AppStoreClientError) -> VerifyReceiptResponse {
    let response = try await host.send(by: deadline) { () throws(AppStoreClientError) in
      OutgoingRequest(
        method: "POST", url: url, headers: [("content-type", "application/json")], body: body)
    }
    CallMetrics.count(.verifyReceipt, host.name, outcome: "\(response.status)")
    guard response.status == 200 else {
      throw response.status >= 500
        ? .serverFailed(status: response.status) : .unexpectedStatus(response.status)
    }
    do { return try VerifyReceiptResponse(json: try response.object()) } catch let error as PayloadError {
      throw .malformed(error)
    } catch let error as AppStoreClientError {
      throw error
    } catch {
      throw .notJSON(status: response.status, problem: "\(error)")
    }
  }
}

extension Result<VerifyReceiptResponse, AppStoreClientError> {
  /// Whether a retry may return another response.
  fileprivate var isRetryable: Bool {
    switch self {
    case .success(let response): response.isRetryable ?? response.status?.isRetryable ?? false
    case .failure(let error): error.retryAfter != nil
    }
  }
}
