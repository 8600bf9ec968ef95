internal import AppStore
internal import Metrics
internal import Store

/// What is counted of Apple's questions about purchases whose customers want the money back.
enum ConsumptionMetrics {
  /// Apple asked.
  static func asked(_ inquiry: ConsumptionRequestRecord) {
    Counter(label: "entitled_consumption_requests_total", dimensions: place(of: inquiry)).increment()
  }

  /// A question was settled, one way or the other.
  static func settled(_ inquiry: ConsumptionRequestRecord) {
    Counter(
      label: "entitled_consumption_requests_settled_total",
      dimensions: place(of: inquiry) + [("outcome", inquiry.state.rawValue)]
    ).increment()
  }

  private static func place(of inquiry: ConsumptionRequestRecord) -> [(String, String)] {
    [("app", inquiry.line.appID), ("environment", inquiry.line.environment.rawValue)]
  }
}
