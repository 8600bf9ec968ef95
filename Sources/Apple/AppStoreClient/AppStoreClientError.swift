package import AppStore

/// Why a call of Apple's servers brought nothing that could be used. Nothing was stored.
package enum AppStoreClientError: Error, Hashable, Sendable {
  /// Apple understood and refused; `message` is Apple's.
  case refused(APIErrorCode, message: String)
  /// Apple does not accept the token: the key, its id, the issuer id or the bundle id is not right.
  case unauthorized
  /// Apple does not accept the token, and its clock and ours are that far apart.
  case clockSkew(seconds: Int64)
  /// Apple says that the budget is used up.
  case rateLimited(retryAfter: Duration)
  /// Our own budget for this kind of call is used up for longer than the caller waits.
  case localRateLimit(endpoint: Endpoint, retryAfter: Duration)
  /// The host failed so often that it is left alone for a while.
  case circuitOpen(host: String, retryAfter: Duration)
  /// No connection, or one that broke.
  case unreachable(host: String, problem: String)
  /// The host failed, status 5xx, also when asked again.
  case serverFailed(status: Int)
  /// No answer before the caller's deadline.
  case timedOut
  /// The caller has gone.
  case cancelled
  /// The answer is no JSON: a page of a proxy, nothing at all, or cut off.
  case notJSON(status: Int, problem: String)
  /// The answer is JSON, but not what Apple documents.
  case malformed(PayloadError)
  /// The answer lacks what it must have.
  case missing(field: String)
  /// The answer is larger than any that Apple gives.
  case tooLarge(limit: Int)
  /// The pages go round in a circle: Apple gave the same place twice.
  case pageLoop(place: String)
  /// Another status than Apple documents, without a reason in it.
  case unexpectedStatus(Int)
  /// The call could not be signed.
  case signingFailed(String)

  /// Whether, and after how long, the same call may succeed.
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
    case .refused(let code, let message): "the App Store refused with \(code.rawValue): \(message)"
    case .unauthorized:
      "the App Store does not accept the token: check the key, its id, the issuer id and the bundle id"
    case .clockSkew(let seconds):
      "the App Store does not accept the token, and this machine's clock is off by \(seconds) s"
    case .rateLimited(let duration):
      "the App Store's rate limit is reached; try again in \(duration.wholeSeconds) s"
    case .localRateLimit(let endpoint, let duration):
      "the budget for \(endpoint.rawValue) is used up for \(duration.wholeSeconds) s, longer than the deadline"
    case .circuitOpen(let host, let duration):
      "\(host) failed too often; it is tried again in \(duration.wholeSeconds) s"
    case .unreachable(let host, let problem): "\(host) cannot be reached: \(problem)"
    case .serverFailed(let status): "the App Store failed with the status \(status)"
    case .timedOut: "the App Store did not answer before the deadline"
    case .cancelled: "the call was cancelled"
    case .notJSON(let status, let problem):
      "the answer, with the status \(status), is not the App Store's: \(problem)"
    case .malformed(let error): "the App Store's answer is not as documented: \(error)"
    case .missing(let field): "the App Store's answer lacks \(field)"
    case .tooLarge(let limit): "the App Store's answer is larger than \(limit) bytes"
    case .pageLoop(let place): "the App Store gave the page \(place.debugDescription) twice"
    case .unexpectedStatus(let status): "the App Store answered with the unexpected status \(status)"
    case .signingFailed(let problem): "the call could not be signed: \(problem)"
    }
  }
}

extension Duration {
  /// Rounded up.
  package var wholeSeconds: Int64 { components.seconds + (components.attoseconds > 0 ? 1 : 0) }
}
