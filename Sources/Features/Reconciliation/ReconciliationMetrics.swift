internal import AppStore
internal import Metrics
internal import Store

/// Metrics of reconciliation for one app and environment. Each has the labels `app` and `environment`.
struct ReconciliationMetrics: Sendable {
  /// The label `outcome` of a status poll.
  enum PollOutcome: String, Sendable {
    /// A customer's state had drifted.
    case changed
    /// Apple's response agreed with the stored state.
    case unchanged
    /// The App Store rejected the call permanently; the purchase counts as polled.
    case refused
    /// The App Store responded with an error that may be about this purchase only; the poll is repeated later.
    case failed
  }

  private let dimensions: [(String, String)]

  init(_ target: AppEnvironment) {
    dimensions = [("app", target.appID), ("environment", target.environment.rawValue)]
  }

  /// Counts a poll in `entitled_status_polls_total`. One that failed because the App Store is not available is not
  /// counted, because it stays due.
  func countPoll(_ outcome: PollOutcome) {
    Counter(label: "entitled_status_polls_total", dimensions: dimensions + [("outcome", outcome.rawValue)])
      .increment()
  }

  /// Records the number of polls that are due and not made yet.
  func recordBacklog(_ polls: Int64) {
    Gauge(label: "entitled_status_poll_backlog", dimensions: dimensions).record(polls)
  }

  /// Records the instant up to which deliveries are complete, in seconds since 1970.
  func recordWatermark(_ instant: Instant) {
    Gauge(label: "entitled_notification_watermark_seconds", dimensions: dimensions).record(
      instant.millisecondsSince1970 / 1_000)
  }

  /// Counts a finished repair with the notifications that only Apple's history had and the customers whose state had
  /// drifted, by the reason of the repair.
  func countRepair(_ repair: Repair, drifted: Int64) {
    let dimensions = self.dimensions + [("reason", repair.reason.rawValue)]
    Counter(label: "entitled_repairs_total", dimensions: dimensions).increment()
    Counter(label: "entitled_repaired_notifications_total", dimensions: dimensions).increment(
      by: repair.received)
    Counter(label: "entitled_drifted_customers_total", dimensions: dimensions).increment(by: drifted)
  }
}
