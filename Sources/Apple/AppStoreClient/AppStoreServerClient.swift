package import AppStore
internal import JSON
package import SignedData

/// Calls the App Store Server API on behalf of one app in one environment.
///
/// It keeps to Apple's limits, calls again only what may be called again and can succeed, and stops in time
/// for the caller's deadline. What it brings is read, but **not verified**: signed documents are for
/// `SignedData` to judge before they count.
package final class AppStoreServerClient: Sendable {
  /// The app that is asked about.
  package let app: AppIdentity
  /// Where its purchases were made.
  package let environment: Environment

  private let server: AppStoreServer
  private let tokens: ServerAPITokenSource
  private let exchange: any HTTPExchange
  private let clock: ClientClock
  private let budget: RateLimiter
  private let breaker: CircuitBreaker
  private let policy = RetryPolicy.standard

  private static let bodyLimit = 16 << 20
  private static let callTimeout = Duration.seconds(30)

  /// A client for `app`, whose calls `tokens` signs.
  package init(
    app: AppIdentity, environment: Environment, server: AppStoreServer, tokens: ServerAPITokenSource,
    exchange: any HTTPExchange, clock: ClientClock
  ) {
    self.app = app
    self.environment = environment
    self.server = server
    self.tokens = tokens
    self.exchange = exchange
    self.clock = clock
    budget = RateLimiter(share: server.rateLimitShare, clock: clock)
    breaker = CircuitBreaker(clock: clock)
  }

  /// Makes a call and reads its answer.
  ///
  /// - `priority`: who comes first if the budget is short.
  /// - `timeout`: how long the caller waits for all of it; `nil` for as long as it takes.
  package func send<Response: DecodedPayload>(
    _ request: AppStoreRequest, as type: Response.Type = Response.self,
    priority: CallPriority = .interactive, timeout: Duration? = nil
  ) async throws(AppStoreClientError) -> Response {
    let response = try await perform(request, priority, timeout) { response throws(AppStoreClientError) in
      try response.object()
    }
    do { return try Response(json: response) } catch { throw .malformed(error) }
  }

  /// Makes a call that is answered with nothing but success.
  package func send(
    _ request: AppStoreRequest, priority: CallPriority = .interactive, timeout: Duration? = nil
  ) async throws(AppStoreClientError) {
    try await perform(request, priority, timeout) { _ throws(AppStoreClientError) in }
  }

  /// How many calls its budgets allow at once now, of the kinds that were made before; 0: used up.
  package var availableCalls: [Endpoint: Double] { budget.levels() }

  /// When so much time will have passed: what several calls share that are made for one caller.
  ///
  /// - Returns: a moment for ``remainingTime(until:)``; `nil` for a caller who waits as long as it takes.
  package func deadline(after timeout: Duration?) -> Duration? { timeout.map { clock.uptime() + $0 } }

  /// What is left until such a moment; zero or less when it is over, and then no call is made.
  package func remainingTime(until deadline: Duration?) -> Duration? { deadline.map { $0 - clock.uptime() } }

  private func perform<Outcome: Sendable>(
    _ request: AppStoreRequest, _ priority: CallPriority, _ timeout: Duration?,
    _ read: (IncomingResponse) throws(AppStoreClientError) -> Outcome
  ) async throws(AppStoreClientError) -> Outcome {
    let deadline = deadline(after: timeout)
    var attempt = 1
    var hasNewToken = false
    while true {
      try await takeCall(of: request.endpoint, priority, deadline)
      let failure: AppStoreClientError
      do throws(AppStoreClientError) {
        let outcome = try read(try await answer(to: request, deadline))
        CallMetrics.count(request.endpoint, server.host, outcome: "ok")
        return outcome
      } catch {
        failure = error
        CallMetrics.count(request.endpoint, server.host, outcome: error.metricLabel)
      }
      if failure == .unauthorized, !hasNewToken {
        // The token may have been made with a clock that was set since, or just have expired.
        hasNewToken = true
        tokens.discard()
        continue
      }
      guard let wait = wait(after: failure, of: request, attempt), attempt < policy.attempts else {
        throw failure
      }
      if let deadline, clock.uptime() + wait > deadline { throw failure }
      attempt += 1
      do { try await clock.sleep(wait) } catch { throw .cancelled }
    }
  }

  /// Waits for a call of the budget.
  private func takeCall(
    of endpoint: Endpoint, _ priority: CallPriority, _ deadline: Duration?
  ) async throws(AppStoreClientError) {
    let began = clock.uptime()
    do throws(AppStoreClientError) {
      try await budget.take(endpoint, priority, deadline: deadline)
    } catch {
      CallMetrics.count(endpoint, server.host, outcome: error.metricLabel)
      throw error
    }
    CallMetrics.timeWaiting(for: endpoint, server.host, clock.uptime() - began)
  }

  /// How long to wait before the call is made again; `nil` if that cannot help.
  private func wait(
    after failure: AppStoreClientError, of request: AppStoreRequest, _ attempt: Int
  ) -> Duration? {
    let backoff = policy.wait(after: attempt, random: clock.random())
    switch failure {
    case .rateLimited(let duration): return duration + backoff
    case .refused(let code, _): return code.isRetryable ? backoff : nil
    case .serverFailed, .unreachable, .notJSON, .timedOut:
      return request.endpoint.isRepeatable ? backoff : nil
    case .unauthorized, .clockSkew, .localRateLimit, .circuitOpen, .cancelled, .malformed, .missing,
      .tooLarge,
      .pageLoop, .unexpectedStatus, .signingFailed:
      return nil
    }
  }

  /// One attempt.
  private func answer(
    to request: AppStoreRequest, _ deadline: Duration?
  ) async throws(AppStoreClientError) -> IncomingResponse {
    if let pause = breaker.pause() { throw .circuitOpen(host: server.host, retryAfter: pause) }
    let left = deadline.map { $0 - clock.uptime() } ?? Self.callTimeout
    guard left > .zero else {
      breaker.abandoned()
      throw .timedOut
    }
    let response: IncomingResponse
    let started = clock.uptime()
    defer { CallMetrics.set(isLeftAlone: breaker.isOpen, server.host) }
    do {
      response = try await exchange.send(
        try outgoing(request), timeout: min(left, Self.callTimeout), limit: Self.bodyLimit)
    } catch let error as AppStoreClientError {
      breaker.abandoned()
      throw error
    } catch {
      throw failure(error as? HTTPExchangeError ?? .unreachable("\(error)"))
    }
    CallMetrics.time(request.endpoint, server.host, clock.uptime() - started)
    if response.status >= 500 { breaker.failed() } else { breaker.succeeded() }
    try judge(response, of: request.endpoint)
    return response
  }

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

  private func failure(_ error: HTTPExchangeError) -> AppStoreClientError {
    switch error {
    case .cancelled:
      breaker.abandoned()
      return .cancelled
    case .tooLarge:
      breaker.succeeded()
      return .tooLarge(limit: Self.bodyLimit)
    case .timedOut:
      breaker.failed()
      return .timedOut
    case .unreachable(let problem):
      breaker.failed()
      return .unreachable(host: server.host, problem: problem)
    }
  }

  /// Returns for an answer that says that all went well.
  private func judge(_ response: IncomingResponse, of endpoint: Endpoint) throws(AppStoreClientError) {
    switch response.status {
    case 200..<300: return
    case 401: throw refusedToken(response)
    case 429:
      let wait = response.retryAfter(now: clock.now()) ?? .seconds(60)
      budget.close(endpoint, for: wait)
      throw .rateLimited(retryAfter: wait)
    case 400..<600:
      if let reason = response.refusal { throw reason }
      throw response.status >= 500
        ? .serverFailed(status: response.status) : .unexpectedStatus(response.status)
    default: throw .unexpectedStatus(response.status)
    }
  }

  private func refusedToken(_ response: IncomingResponse) -> AppStoreClientError {
    guard let date = response.header("date").flatMap(Instant.init(httpDate:)) else { return .unauthorized }
    let difference = (clock.now().millisecondsSince1970 - date.millisecondsSince1970) / 1_000
    return abs(difference) > 60 ? .clockSkew(seconds: difference) : .unauthorized
  }
}
