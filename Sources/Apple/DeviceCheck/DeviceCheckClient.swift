internal import AppStore
package import AppStoreClient
internal import JSON
internal import SignedData
internal import Telemetry
internal import Tracing

/// Calls Apple's DeviceCheck servers for one app in one environment: two bits for each device, which survive a
/// reinstallation of the app ("Accessing and modifying per-device data").
///
/// All calls are repeatable: they read, or set values. It limits its rate, retries calls that can succeed, and returns
/// before the caller's deadline, like ``AppStoreServerClient``.
package final class DeviceCheckClient: AppleClient {
  private let server: AppStoreServer
  private let tokens: DeviceCheckTokenSource
  private let host: AppleHost
  private let clock: ClientClock
  private let rateLimiter: RateLimiter
  private let policy = RetryPolicy.standard

  /// In bytes; Apple's responses have less than a hundred.
  private static let maxBodySize = 1 << 16
  /// Apple's texts for a device without bits; the second one is of older documents.
  private static let unknownStates = ["Failed to find bit state", "Bit State Not Found"]

  /// Creates a client whose calls carry tokens of `tokens`.
  package init(
    server: AppStoreServer, tokens: DeviceCheckTokenSource, exchange: any HTTPExchange, clock: ClientClock
  ) {
    self.server = server
    self.tokens = tokens
    self.clock = clock
    host = AppleHost(server.host, exchange: exchange, clock: clock, bodyLimit: Self.maxBodySize)
    rateLimiter = RateLimiter(share: server.rateLimitShare, clock: clock)
  }

  /// The team that the bits of a device belong to.
  package var teamID: String { tokens.teamID }

  /// Signs with the credentials of `other` from the next call on.
  package func adoptCredentials(of other: DeviceCheckClient) { tokens.adoptCredentials(of: other.tokens) }

  /// Validates a device token.
  ///
  /// - Throws: ``DeviceCheckError/refused(_:)`` if it is not valid.
  package func validate(_ request: DeviceCheckRequest, timeout: Duration?) async throws(DeviceCheckError) {
    _ = try await perform("validate_device_token", request, timeout)
  }

  /// Returns the bits of a device; `nil` if they were never set.
  ///
  /// - Throws: ``DeviceCheckError``; ``DeviceCheckError/refused(_:)`` for a token that is not valid.
  package func bits(
    of request: DeviceCheckRequest, timeout: Duration?
  ) async throws(DeviceCheckError) -> DeviceBits? {
    let response = try await perform("query_two_bits", request, timeout)
    let text = response.trimmedText
    if Self.unknownStates.contains(where: { $0.lowercased() == text.lowercased() }) { return nil }
    guard let object = try? JSONValue(parsing: response.body).objectValue else {
      throw .call(.notJSON(status: response.status, problem: "neither bits nor '\(Self.unknownStates[0])'"))
    }
    guard let bits = DeviceBits(object) else { throw .call(.missing(field: "bit0 or bit1")) }
    return bits
  }

  /// Sets both bits of a device.
  ///
  /// - Throws: as ``bits(of:timeout:)``. Without ``DeviceCheckError/hadNoEffect`` the bits may be set.
  package func update(
    _ bits: DeviceBits, of request: DeviceCheckRequest, timeout: Duration?
  ) async throws(DeviceCheckError) {
    _ = try await perform(
      "update_two_bits", request, timeout, ["bit0": .bool(bits.bit0), "bit1": .bool(bits.bit1)])
  }

  /// Makes the attempts of a call as the client of the Server API does: rate limit, one new token, backoff. A change ends
  /// with the failure of the last attempt that may have had an effect, if there was one.
  private func perform(
    _ method: String, _ request: DeviceCheckRequest, _ timeout: Duration?, _ members: JSONObject = [:]
  ) async throws(DeviceCheckError) -> IncomingResponse {
    let deadline = timeout.map { clock.uptime() + $0 }
    var attempts = 1
    var hasNewToken = false
    var uncertain: DeviceCheckError?
    while true {
      do throws(AppStoreClientError) {
        try await rateLimiter.acquire(.deviceCheck, .interactive, deadline: deadline)
      } catch {
        throw uncertain ?? .call(error)
      }
      let failure: DeviceCheckError
      do throws(DeviceCheckError) {
        let response = try await traced(method, request, members, attempts, deadline)
        CallMetrics.count(.deviceCheck, host.name, outcome: "ok")
        return response
      } catch {
        failure = error
        CallMetrics.count(.deviceCheck, host.name, outcome: error.metricLabel)
      }
      if !members.isEmpty, !failure.hadNoEffect { uncertain = failure }
      if case .keyRejected = failure, !hasNewToken {
        // The token may have just expired, or the clock was set since it was made.
        hasNewToken = true
        tokens.discard()
        continue
      }
      let wait = policy.backoff(after: attempts, random: clock.random())
      guard let wait = failure.retryDelay(wait), attempts < policy.maxAttempts else {
        throw uncertain ?? failure
      }
      if let deadline, clock.uptime() + wait > deadline { throw uncertain ?? failure }
      attempts += 1
      do { try await clock.sleep(wait) } catch { throw .call(.cancelled) }
    }
  }

  private func traced(
    _ method: String, _ request: DeviceCheckRequest, _ members: JSONObject, _ number: Int,
    _ deadline: Duration?
  ) async throws(DeviceCheckError) -> IncomingResponse {
    try await tracedAsRoot(
      "device_check \(method)", .client,
      attributes: [
        "http.request.method": "POST", "server.address": "\(host.name)",
        "http.request.resend_count": .int(Int64(number - 1)),
      ]
    ) { span throws(DeviceCheckError) in
      let response = try await attempt(method, request, members, deadline)
      span?.set("http.response.status_code", .int(Int64(response.status)))
      return response
    }
  }

  private func attempt(
    _ method: String, _ request: DeviceCheckRequest, _ members: JSONObject, _ deadline: Duration?
  ) async throws(DeviceCheckError) -> IncomingResponse {
    let start = clock.uptime()
    defer { CallMetrics.record(isCircuitOpen: host.isCircuitOpen, host.name) }
    let response: IncomingResponse
    do throws(AppStoreClientError) {
      response = try await host.send(by: deadline) { () throws(AppStoreClientError) in
        try outgoing(method, request, members)
      }
    } catch {
      throw .call(error)
    }
    CallMetrics.recordDuration(.deviceCheck, host.name, clock.uptime() - start)
    try check(response)
    return response
  }

  /// Builds the request with a token that is valid now, and with a new timestamp: Apple rejects an old one.
  private func outgoing(
    _ method: String, _ request: DeviceCheckRequest, _ members: JSONObject
  ) throws(AppStoreClientError) -> OutgoingRequest {
    let token: String
    do { token = try tokens.token() } catch { throw .signingFailed("\(error)") }
    var body = members
    body["device_token"] = .string(request.deviceToken)
    body["transaction_id"] = .string(request.transactionID)
    body["timestamp"] = .number(JSONNumber(clock.now().millisecondsSince1970))
    return OutgoingRequest(
      method: "POST", url: "\(server.baseURL)/v1/\(method)",
      headers: [
        ("authorization", "Bearer \(token)"), ("content-type", "application/json"),
        ("user-agent", "entitled"),
      ], body: JSONValue.object(body).serialized())
  }

  /// Throws the error that the response's status stands for; returns for 200.
  private func check(_ response: IncomingResponse) throws(DeviceCheckError) {
    switch response.status {
    case 200: return
    case 400 where !response.isAboutToken: throw .refused(response.trimmedText)
    case 400, 401:
      if let seconds = response.clockSkew(at: clock.now()) { throw .call(.clockSkew(seconds: seconds)) }
      throw .keyRejected(response.trimmedText)
    case 429:
      let wait = response.retryAfter(now: clock.now()) ?? .seconds(60)
      rateLimiter.close(.deviceCheck, for: wait)
      throw .call(.rateLimited(retryAfter: wait))
    case 500...: throw .call(.serverFailed(status: response.status))
    default: throw .call(.unexpectedStatus(response.status))
    }
  }
}

extension DeviceCheckError {
  /// The time to wait before a retry with the backoff `wait`; `nil` if a retry cannot succeed.
  fileprivate func retryDelay(_ wait: Duration) -> Duration? {
    switch self {
    case .call(.rateLimited(let delay)): delay + wait
    case .call(.serverFailed), .call(.unreachable), .call(.timedOut): wait
    case .call, .refused, .keyRejected, .noKey: nil
    }
  }
}

extension IncomingResponse {
  /// Whether a response with 400 is about the bearer token ("Missing or badly formatted authorization token") instead of the
  /// device token.
  fileprivate var isAboutToken: Bool { trimmedText.lowercased().contains("authorization token") }

  /// The body as text, at most 256 bytes of it, without white space around it.
  fileprivate var trimmedText: String {
    let text = String(decoding: body.prefix(256), as: UTF8.self)
    let start = text.drop { $0.isWhitespace }
    return String(start.reversed().drop { $0.isWhitespace }.reversed())
  }
}
