internal import AppStore
internal import Metrics

/// Metrics of the calls to Apple's servers.
package enum CallMetrics {
  /// Counts a call; `outcome` is `ok`, ``AppStoreClientError/metricLabel`` or the `status` of verifyReceipt.
  package static func count(_ endpoint: Endpoint, _ host: String, outcome: String) {
    Counter(
      label: "entitled_app_store_calls_total",
      dimensions: [("endpoint", endpoint.rawValue), ("host", host), ("outcome", outcome)]
    ).increment()
  }

  /// Records how long a call waited for ``RateLimiter``.
  package static func recordRateLimitWait(_ endpoint: Endpoint, _ host: String, _ duration: Duration) {
    Timer(
      label: "entitled_app_store_rate_limit_wait_seconds",
      dimensions: [("endpoint", endpoint.rawValue), ("host", host)]
    ).recordNanoseconds(Int64(duration.seconds * 1e9))
  }

  /// Records whether calls to a host fail at once; see ``CircuitBreaker``.
  package static func record(isCircuitOpen: Bool, _ host: String) {
    Gauge(label: "entitled_app_store_circuit_open", dimensions: [("host", host)])
      .record(isCircuitOpen ? 1 : 0)
  }

  /// Records the time from a request to its whole response; each attempt counts.
  package static func recordDuration(_ endpoint: Endpoint, _ host: String, _ duration: Duration) {
    Timer(
      label: "entitled_app_store_call_seconds", dimensions: [("endpoint", endpoint.rawValue), ("host", host)]
    ).recordNanoseconds(Int64(duration.seconds * 1e9))
  }
}

extension AppStoreClientError {
  /// The value of the label `outcome`.
  package var metricLabel: String {
    switch self {
    case .refused(let code, _): "refused_\(code.rawValue)"
    case .unauthorized: "unauthorized"
    case .clockSkew: "clock_skew"
    case .rateLimited: "rate_limited"
    case .localRateLimit: "local_rate_limit"
    case .circuitOpen: "circuit_open"
    case .unreachable: "unreachable"
    case .serverFailed: "server_failed"
    case .timedOut: "timed_out"
    case .cancelled: "cancelled"
    case .notJSON: "not_json"
    case .malformed: "malformed"
    case .missing: "missing_field"
    case .tooLarge: "too_large"
    case .pageLoop: "page_loop"
    case .unexpectedStatus: "unexpected_status"
    case .signingFailed: "signing_failed"
    }
  }
}
