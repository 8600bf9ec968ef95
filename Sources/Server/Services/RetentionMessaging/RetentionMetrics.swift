internal import AppStore
internal import Entitlements
internal import Metrics
internal import Store

/// The metrics of requests for retention messages.
enum RetentionMetrics {
  static func count(_ request: RetentionRequestRecord) {
    let app = [("app", request.line.appID), ("environment", request.line.environment.rawValue)]
    Counter(
      label: "entitled_retention_requests_total",
      dimensions: app + [("answer", request.answer.rawValue), ("reason", request.reason.rawValue)]
    ).increment()
    Timer(label: "entitled_retention_answer_seconds").recordNanoseconds(request.microseconds * 1_000)
  }

  static func countRefusal(_ reason: String) {
    Counter(label: "entitled_retention_refusals_total", dimensions: [("reason", reason)]).increment()
  }

  static func countLoss(of request: RetentionRequestRecord) {
    Counter(label: "entitled_retention_requests_lost_total", dimensions: [("app", request.line.appID)])
      .increment()
  }
}
