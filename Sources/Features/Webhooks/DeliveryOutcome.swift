internal import AppStore
internal import AppStoreClient

/// What came of sending one message once.
enum DeliveryOutcome: Hashable, Sendable {
  case delivered
  /// To be sent again; with the milliseconds for which the receiver asked to be left alone.
  case failed(String, retryAfter: Int64?)
  /// The receiver wants nothing any more.
  case gone
  /// The service is stopping.
  case cancelled

  /// What a receiver's answer means (Standard Webhooks, "Deliverability and reliability"): only 2xx is yes, and
  /// no redirect is followed.
  init(_ response: IncomingResponse, now: Instant) {
    switch response.status {
    case 200..<300: self = .delivered
    case 410: self = .gone
    case 300..<400:
      self = .failed("status \(response.status), a redirect, which is not followed", retryAfter: nil)
    default:
      self = .failed("status \(response.status)", retryAfter: response.waitAsked(now: now))
    }
  }

  init(_ failure: HTTPExchangeError) {
    switch failure {
    case .timedOut: self = .failed("no answer in time", retryAfter: nil)
    case .tooLarge: self = .failed("the answer is too large", retryAfter: nil)
    case .unreachable: self = .failed("no connection, or one that broke", retryAfter: nil)
    case .cancelled: self = .cancelled
    }
  }

  /// A word for each kind of outcome.
  var metricLabel: String {
    switch self {
    case .delivered: "delivered"
    case .failed: "failed"
    case .gone: "gone"
    case .cancelled: "cancelled"
    }
  }
}

extension IncomingResponse {
  /// `Retry-After` as a delay in seconds or as a date (RFC 9110, section 10.2.3), in milliseconds from now.
  fileprivate func waitAsked(now: Instant) -> Int64? {
    guard let text = header("retry-after") else { return nil }
    if let seconds = Int64(text) { return (0...86_400).contains(seconds) ? seconds * 1_000 : 86_400_000 }
    return Instant(httpDate: text).map { max(0, $0.milliseconds(since: now)) }
  }
}
