package import AppStore

/// The reason why a call of Apple's servers failed. Nothing was stored.
package enum AppStoreClientError: Error, Hashable, Sendable {
  /// Apple rejected the request; `message` is Apple's.
  case refused(APIErrorCode, message: String)
  /// Apple rejected the token: the key, its id, the issuer id or the bundle id is wrong. In Production Apple rejects every
  /// token until the first release of the app.
  case unauthorized
  /// Apple rejected the token, and this machine's clock differs from Apple's by this number of seconds.
  case clockSkew(seconds: Int64)
  /// Apple's rate limit is reached.
  case rateLimited(retryAfter: Duration)
  /// Waiting for the client's own rate limit would pass the caller's deadline.
  case localRateLimit(endpoint: Endpoint, retryAfter: Duration)
  /// The host failed repeatedly, so that calls are stopped for a while.
  case circuitOpen(host: String, retryAfter: Duration)
  /// The connection could not be opened, or broke.
  case unreachable(host: String, problem: String)
  /// The host returned 5xx, also after retries.
  case serverFailed(status: Int)
  /// No response before the caller's deadline.
  case timedOut
  /// The calling task was cancelled.
  case cancelled
  /// The response body is no JSON object: a proxy's page, empty, or truncated.
  case notJSON(status: Int, problem: String)
  /// The response does not have the types that Apple documents.
  case malformed(PayloadError)
  /// The response lacks a required field.
  case missing(field: String)
  /// The response body is larger than `limit` bytes.
  case tooLarge(limit: Int)
  /// Apple returned the same page token twice.
  case pageLoop(token: String)
  /// A status that Apple does not document, without an error code in the body.
  case unexpectedStatus(Int)
  /// The call's token could not be signed.
  case signingFailed(String)

  /// Whether Apple may have executed the call although it failed.
  var mayHaveHadEffect: Bool {
    switch self {
    case .unreachable, .serverFailed, .timedOut, .notJSON, .refused(.generalInternal, _),
      .refused(.generalInternalRetryable, _):
      true
    default: false
    }
  }

  /// The time after which the same call may succeed; `nil` if it cannot.
  package var retryAfter: Duration? {
    switch self {
    case .rateLimited(let duration), .localRateLimit(_, let duration), .circuitOpen(_, let duration): duration
    case .unreachable, .serverFailed, .timedOut, .notJSON: .seconds(5)
    case .refused(let code, _): code.isRetryable ? .seconds(5) : nil
    case .unauthorized, .clockSkew, .cancelled, .malformed, .missing, .tooLarge, .pageLoop,
      .unexpectedStatus, .signingFailed:
      nil
    }
  }
}

extension AppStoreClientError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .refused(let code, let message): "App Store rejected the request: \(code.rawValue) \(message)"
    case .unauthorized:
      "App Store rejected the token; check that the file is an In-App Purchase key, its id, the issuer id and the "
        + "bundle id; Production rejects every token until the first release of the app"
    case .clockSkew(let seconds):
      "App Store rejected the token; this machine's clock is off by \(seconds) s: synchronize it with a time server"
    case .rateLimited(let duration): "App Store rate limit reached; retry after \(duration.wholeSeconds) s"
    case .localRateLimit(let endpoint, let duration):
      "local rate limit for \(endpoint.rawValue) exceeds the deadline; retry after \(duration.wholeSeconds) s"
    case .circuitOpen(let host, let duration):
      "circuit open for \(host) after repeated failures; retry after \(duration.wholeSeconds) s"
    case .unreachable(let host, let problem): "\(host) unreachable: \(problem)"
    case .serverFailed(let status): "App Store returned HTTP \(status)"
    case .timedOut: "App Store did not respond before the deadline"
    case .cancelled: "call cancelled"
    case .notJSON(let status, let problem): "App Store response (HTTP \(status)) is not JSON: \(problem)"
    case .malformed(let error): "App Store response is malformed: \(error)"
    case .missing(let field): "App Store response lacks '\(field)'"
    case .tooLarge(let limit): "App Store response exceeds \(limit) bytes"
    case .pageLoop(let token): "App Store returned the page token \(token.debugDescription) twice"
    case .unexpectedStatus(let status): "App Store returned the unexpected status HTTP \(status)"
    case .signingFailed(let problem): "signing the call failed: \(problem)"
    }
  }
}

extension Duration {
  /// The duration in seconds, rounded up.
  package var wholeSeconds: Int64 { components.seconds + (components.attoseconds > 0 ? 1 : 0) }
}
