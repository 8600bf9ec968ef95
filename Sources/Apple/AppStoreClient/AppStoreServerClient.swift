package import AppStore
internal import JSON
package import SignedData
internal import Telemetry
internal import Tracing

/// The address of the App Store Server API for one environment.
package struct AppStoreServer: Hashable, Sendable {
  /// Scheme and host of each URL, without a path.
  package let baseURL: String
  /// The host, for error texts and metrics.
  package let host: String
  /// The share of Apple's production rate limits that applies here.
  package let rateLimitShare: Double

  /// Creates a server; a trailing slash of `baseURL` is dropped.
  package init(baseURL: String, rateLimitShare: Double = 1) {
    self.baseURL = baseURL.hasSuffix("/") ? String(baseURL.dropLast()) : baseURL
    let rest = baseURL.split(separator: "://", maxSplits: 1).last ?? ""
    host = String(rest.prefix { $0 != "/" })
    self.rateLimitShare = rateLimitShare
  }

  /// Apple's server for an environment; `nil` for those that exist on a developer's machine only.
  ///
  /// App Store Server API, "Choose the right environment"; Apple's sandbox has a tenth of the rate limits.
  package init?(_ environment: Environment) {
    switch environment {
    case .production: self.init(baseURL: "https://api.storekit.apple.com")
    case .sandbox: self.init(baseURL: "https://api.storekit-sandbox.apple.com", rateLimitShare: 0.1)
    case .xcode, .localTesting: return nil
    }
  }
}

/// Calls the App Store Server API for one app in one environment.
///
/// It stays below Apple's rate limits, retries only calls that are repeatable and can succeed, and returns before
/// the caller's deadline. Responses are decoded but **not verified**: `SignedData` verifies signed documents.
package final class AppStoreServerClient: AppleClient {
  /// The app for which the tokens are.
  package let app: AppIdentity
  /// The environment whose server is called; a transaction of another one is not found there.
  package let environment: Environment

  private let server: AppStoreServer
  private let tokens: ServerAPITokenSource
  private let host: AppleHost
  private let clock: ClientClock
  private let rateLimiter: RateLimiter
  private let policy = RetryPolicy.standard

  /// In bytes; a page of twenty transactions has some hundred kilobytes.
  private static let maxBodySize = 16 << 20

  /// Creates a client for `app` whose calls carry tokens of `tokens`.
  package init(
    app: AppIdentity, environment: Environment, server: AppStoreServer, tokens: ServerAPITokenSource,
    exchange: any HTTPExchange, clock: ClientClock
  ) {
    self.app = app
    self.environment = environment
    self.server = server
    self.tokens = tokens
    self.clock = clock
    host = AppleHost(server.host, exchange: exchange, clock: clock, bodyLimit: Self.maxBodySize)
    rateLimiter = RateLimiter(share: server.rateLimitShare, clock: clock)
  }

  /// Signs with the credentials of `other` from the next call on; the state of Apple's rate limits stays.
  package func adoptCredentials(of other: AppStoreServerClient) {
    tokens.adoptCredentials(of: other.tokens)
  }

  /// Makes a call and decodes its response. `timeout` covers waiting for the rate limit and all attempts; `nil`
  /// for no timeout.
  ///
  /// - Throws: ``AppStoreClientError``, after the retries that it allows; ``AppStoreClientError/malformed(_:)`` for a
  ///   response of another form.
  package func send<Response: DecodedPayload>(
    _ request: AppStoreRequest, as type: Response.Type = Response.self,
    priority: CallPriority = .interactive, timeout: Duration? = nil
  ) async throws(AppStoreClientError) -> Response {
    let response = try await perform(request, priority, timeout) { response throws(AppStoreClientError) in
      try response.object()
    }
    do { return try Response(json: response) } catch { throw .malformed(error) }
  }

  /// Makes a call whose response has no content; see ``send(_:as:priority:timeout:)``.
  ///
  /// - Throws: as ``send(_:as:priority:timeout:)``.
  package func send(
    _ request: AppStoreRequest, priority: CallPriority = .interactive, timeout: Duration? = nil
  ) async throws(AppStoreClientError) {
    try await perform(request, priority, timeout) { _ throws(AppStoreClientError) in }
  }

  /// The remainder of the rate limits, for each endpoint called so far.
  package var rateLimitLevels: [Endpoint: RateLimitLevel] { rateLimiter.levels() }

  /// Returns the deadline that several calls for one caller share, as an instant of the client's uptime for
  /// ``remainingTime(until:)``; `nil` without a timeout.
  package func deadline(after timeout: Duration?) -> Duration? { timeout.map { clock.uptime() + $0 } }

  /// Returns the timeout that is left until a deadline, `nil` without one; with zero or less, no call is made.
  package func remainingTime(until deadline: Duration?) -> Duration? { deadline.map { $0 - clock.uptime() } }

  /// Makes the attempts of a call: waits for the rate limit before each, renews a token that Apple rejected once, and
  /// backs off as the failure demands. Ends with the last failure when the attempts or the time are used up.
  private func perform<Value: Sendable>(
    _ request: AppStoreRequest, _ priority: CallPriority, _ timeout: Duration?,
    _ decode: (IncomingResponse) throws(AppStoreClientError) -> Value
  ) async throws(AppStoreClientError) -> Value {
    let deadline = deadline(after: timeout)
    var attempts = 1
    var hasNewToken = false
    var mayHaveArrived = false
    var last: AppStoreClientError?
    while true {
      try await waitForRateLimit(of: request.endpoint, priority, deadline)
      let failure: AppStoreClientError
      do throws(AppStoreClientError) {
        return try await counted(request, attempts, deadline, mayHaveArrived: mayHaveArrived, decode)
      } catch {
        failure = error
      }
      // The attempt before may have opened the circuit, and its failure says more about this call, unless a new token
      // repairs it.
      if case .circuitOpen = failure, let last, last != .unauthorized { throw last }
      last = failure
      mayHaveArrived = mayHaveArrived || failure.mayHaveHadEffect
      if failure == .unauthorized, !hasNewToken {
        // The token may have just expired, or the clock was set since it was made.
        hasNewToken = true
        tokens.discard()
        continue
      }
      guard let wait = backoff(after: failure, of: request, attempts), attempts < policy.maxAttempts else {
        throw failure
      }
      if let deadline, clock.uptime() + wait > deadline { throw failure }
      attempts += 1
      do { try await clock.sleep(wait) } catch { throw .cancelled }
    }
  }

  /// Makes one attempt, decodes its response and counts its outcome. If an earlier attempt may have arrived, the error
  /// about a repetition means that it succeeded, without a content in its response.
  private func counted<Value: Sendable>(
    _ request: AppStoreRequest, _ number: Int, _ deadline: Duration?, mayHaveArrived: Bool,
    _ decode: (IncomingResponse) throws(AppStoreClientError) -> Value
  ) async throws(AppStoreClientError) -> Value {
    do throws(AppStoreClientError) {
      let value = try decode(try await traced(request, number, deadline))
      CallMetrics.count(request.endpoint, host.name, outcome: "ok")
      return value
    } catch {
      guard mayHaveArrived, case .refused(let code, _) = error, code == request.repetitionError else {
        CallMetrics.count(request.endpoint, host.name, outcome: error.metricLabel)
        throw error
      }
      CallMetrics.count(request.endpoint, host.name, outcome: "ok")
      return try decode(IncomingResponse(status: 200, headers: [], body: []))
    }
  }

  private func waitForRateLimit(
    of endpoint: Endpoint, _ priority: CallPriority, _ deadline: Duration?
  ) async throws(AppStoreClientError) {
    let start = clock.uptime()
    do throws(AppStoreClientError) {
      try await rateLimiter.acquire(endpoint, priority, deadline: deadline)
    } catch {
      CallMetrics.count(endpoint, host.name, outcome: error.metricLabel)
      throw error
    }
    CallMetrics.recordRateLimitWait(endpoint, host.name, clock.uptime() - start)
  }

  /// Returns the time to wait before the call is retried; `nil` if a retry cannot succeed or is not allowed.
  private func backoff(
    after failure: AppStoreClientError, of request: AppStoreRequest, _ attempts: Int
  ) -> Duration? {
    let backoff = policy.backoff(after: attempts, random: clock.random())
    switch failure {
    case .rateLimited(let duration): return duration + backoff
    case .refused(let code, _): return code.isRetryable ? backoff : nil
    case .serverFailed, .unreachable, .notJSON, .timedOut:
      return request.isRepeatable ? backoff : nil
    case .unauthorized, .clockSkew, .localRateLimit, .circuitOpen, .cancelled, .malformed, .missing,
      .tooLarge,
      .pageLoop, .unexpectedStatus, .signingFailed:
      return nil
    }
  }

  /// One attempt as a span: with its number, because the first ones may have failed.
  private func traced(
    _ request: AppStoreRequest, _ number: Int, _ deadline: Duration?
  ) async throws(AppStoreClientError) -> IncomingResponse {
    try await tracedAsRoot(
      "app_store \(request.endpoint.rawValue)", .client,
      attributes: [
        "http.request.method": "\(request.method.rawValue)", "server.address": "\(host.name)",
        "entitled.bundle_id": "\(app.bundleID)", "entitled.environment": "\(environment.rawValue)",
        "http.request.resend_count": .int(Int64(number - 1)),
      ]
    ) { span throws(AppStoreClientError) in
      let response = try await attempt(request, deadline)
      span?.set("http.response.status_code", .int(Int64(response.status)))
      return response
    }
  }

  private func attempt(
    _ request: AppStoreRequest, _ deadline: Duration?
  ) async throws(AppStoreClientError) -> IncomingResponse {
    let start = clock.uptime()
    defer { CallMetrics.record(isCircuitOpen: host.isCircuitOpen, host.name) }
    let response = try await host.send(by: deadline, about: request.subject) {
      () throws(AppStoreClientError) in
      try outgoing(request)
    }
    CallMetrics.recordDuration(request.endpoint, host.name, clock.uptime() - start)
    try check(response, of: request.endpoint)
    return response
  }

  /// Builds the request with a token that is valid now.
  private func outgoing(_ request: AppStoreRequest) throws(AppStoreClientError) -> OutgoingRequest {
    let token: String
    do { token = try tokens.token() } catch { throw .signingFailed("\(error)") }
    var headers = [
      ("authorization", "Bearer \(token)"), ("accept", "application/json"), ("user-agent", "entitled"),
    ]
    var body: [UInt8] = []
    switch request.body {
    case .none: break
    case .json(let object):
      headers.append(("content-type", "application/json"))
      body = JSONValue.object(object).serialized()
    case .png(let bytes):
      headers.append(("content-type", "image/png"))
      body = bytes
    }
    return OutgoingRequest(
      method: request.method.rawValue, url: server.baseURL + request.target, headers: headers, body: body)
  }

  /// Throws the error that the response's status stands for; returns for 2xx.
  private func check(_ response: IncomingResponse, of endpoint: Endpoint) throws(AppStoreClientError) {
    switch response.status {
    case 200..<300: return
    case 401: throw response.clockSkew(at: clock.now()).map { .clockSkew(seconds: $0) } ?? .unauthorized
    case 429:
      let wait = response.retryAfter(now: clock.now()) ?? .seconds(60)
      rateLimiter.close(endpoint, for: wait)
      throw .rateLimited(retryAfter: wait)
    case 400..<600:
      if let error = response.apiError { throw error }
      throw response.status >= 500
        ? .serverFailed(status: response.status) : .unexpectedStatus(response.status)
    default: throw .unexpectedStatus(response.status)
    }
  }
}
