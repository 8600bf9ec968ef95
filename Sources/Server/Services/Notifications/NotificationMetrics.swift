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
      // A negative lag is recorded as 0, because clocks may differ. Nanoseconds since a date before 1735, which documents of
      // Xcode may have, exceed Int64; the timer records the largest number then.
      Timer(label: "entitled_notification_lag_seconds")
        .recordMilliseconds(max(0, record.receivedAt.milliseconds(since: signed)))
    }
  }
}
