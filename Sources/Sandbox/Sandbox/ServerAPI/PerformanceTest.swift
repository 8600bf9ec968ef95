internal import JSON

/// How fast a developer's server said which retention message to show.
struct PerformanceTest: Sendable {
  /// Fewer than Apple's, one after the other.
  static let requests: Int64 = 10
  private static let threshold: Int64 = 500
  private static let successRate: Int64 = 95

  let target: String
  private var times: [Int64] = []
  private var failures: [String: Int64] = [:]

  init(target: String) { self.target = target }

  mutating func add(_ result: SendAttemptResult, milliseconds: Int64) {
    times.append(milliseconds)
    if result != .success { failures[result.rawValue, default: 0] += 1 }
    if result == .success, milliseconds > Self.threshold {
      failures[SendAttemptResult.timedOut.rawValue, default: 0] += 1
    }
  }

  static var configuration: JSONObject {
    [
      "maxConcurrentRequests": 1, "totalRequests": JSONValue(requests), "totalDuration": 60_000,
      "responseTimeThreshold": JSONValue(threshold), "successRateThreshold": JSONValue(successRate),
    ]
  }

  /// Apple's PerformanceTestResultResponse.
  var json: JSONObject {
    let count = Int64(max(1, times.count))
    let rate = (count - failures.values.reduce(0, +)) * 100 / count
    return [
      "config": .object(Self.configuration), "target": .string(target),
      "result": rate >= Self.successRate ? "PASS" : "FAIL", "successRate": JSONValue(rate), "numPending": 0,
      "responseTimes": [
        "average": JSONValue(times.reduce(0, +) / count), "p50": percentile(50), "p90": percentile(90),
        "p95": percentile(95), "p99": percentile(99),
      ],
      "failures": .object(
        JSONObject(failures.sorted { $0.key < $1.key }.map { ($0.key, JSONValue($0.value)) })),
    ]
  }

  private func percentile(_ percent: Int) -> JSONValue {
    let sorted = times.sorted()
    return JSONValue(sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, sorted.count * percent / 100)])
  }
}
