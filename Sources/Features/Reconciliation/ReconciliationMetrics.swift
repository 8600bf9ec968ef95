internal import AppStore
internal import Metrics
internal import Store

/// What is counted of asking Apple for what did not arrive.
struct ReconciliationMetrics: Sendable {
  /// What came of asking about one subscription.
  enum PollOutcome: String, Sendable {
    /// Something else had been believed of somebody.
    case changed
    case unchanged
    /// Apple says that there is no such purchase, or will not tell.
    case refused
  }

  private let place: [(String, String)]

  init(_ place: AppEnvironment) {
    self.place = [("app", place.appID), ("environment", place.environment.rawValue)]
  }

  func polled(_ outcome: PollOutcome) {
    Counter(label: "entitled_status_polls_total", dimensions: place + [("outcome", outcome.rawValue)])
      .increment()
  }

  func waiting(polls: Int64) {
    Gauge(label: "entitled_status_poll_backlog", dimensions: place).record(polls)
  }

  /// Until when all deliveries are accounted for, in seconds since 1970.
  func complete(until moment: Instant) {
    Gauge(label: "entitled_notification_watermark_seconds", dimensions: place).record(
      moment.millisecondsSince1970 / 1_000)
  }

  func finished(_ repair: Repair, drifted: Int64) {
    let dimensions = place + [("reason", repair.reason.rawValue)]
    Counter(label: "entitled_repairs_total", dimensions: dimensions).increment()
    Counter(label: "entitled_repaired_notifications_total", dimensions: dimensions).increment(
      by: repair.received)
    Counter(label: "entitled_drifted_customers_total", dimensions: dimensions).increment(by: drifted)
  }
}
