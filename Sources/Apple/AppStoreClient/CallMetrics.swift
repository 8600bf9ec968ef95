internal import AppStore
internal import Metrics

/// What is counted of the calls of Apple's servers.
enum CallMetrics {
  static func count(_ endpoint: Endpoint, _ host: String, outcome: String) {
    Counter(
      label: "entitled_app_store_calls_total",
      dimensions: [("endpoint", endpoint.rawValue), ("host", host), ("outcome", outcome)]
    ).increment()
  }

  static func timeWaiting(for endpoint: Endpoint, _ host: String, _ duration: Duration) {
    Timer(
      label: "entitled_app_store_rate_limit_wait_seconds",
      dimensions: [("endpoint", endpoint.rawValue), ("host", host)]
    ).recordNanoseconds(Int64(duration.seconds * 1e9))
  }

  /// 1 while a host is not called because it failed too often.
  static func set(isLeftAlone: Bool, _ host: String) {
    Gauge(label: "entitled_app_store_circuit_open", dimensions: [("host", host)])
      .record(isLeftAlone ? 1 : 0)
  }

  static func time(_ endpoint: Endpoint, _ host: String, _ duration: Duration) {
    Timer(
      label: "entitled_app_store_call_seconds", dimensions: [("endpoint", endpoint.rawValue), ("host", host)]
    ).recordNanoseconds(Int64(duration.seconds * 1e9))
  }
}

extension AppStoreClientError {
  /// A word for each kind of failure.
  var metricLabel: String {
    switch self {
    case .refused(let code, _): "refused_\(code.rawValue)"
    case .unauthorized: "unauthorized"
    case .clockSkew: "clock_is_off"
    case .rateLimited: "rate_limited"
    case .localRateLimit: "over_budget"
    case .circuitOpen: "host_is_down"
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
    case .signingFailed: "not_signed"
    }
  }
}
