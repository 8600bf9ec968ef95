internal import AppStore
internal import Ledger
internal import Metrics
internal import Store

/// The metrics of notifications from Apple.
enum NotificationMetrics {
  /// Counts a notification by version and result. One that was known before counts as `KNOWN` and has no lag.
  static func count(_ received: ReceivedNotification) {
    let record = received.record
    let state = received.isDuplicate ? "KNOWN" : record.state.rawValue
    Counter(
      label: "entitled_notifications_total",
      dimensions: [("version", String(record.version)), ("state", state)]
    ).increment()
    guard !received.isDuplicate else { return }
    if record.state == .rejected {
      LedgerMetrics.recordRejection(
        of: record.version == 1 ? .notificationV1 : .notificationV2, reason: record.reason)
    }
    if let signed = record.signedDate {
      // In nanoseconds. A negative lag is recorded as 0, because clocks may differ.
      Timer(label: "entitled_notification_lag_seconds")
        .recordNanoseconds(max(0, record.receivedAt.milliseconds(since: signed)) * 1_000_000)
    }
  }
}
