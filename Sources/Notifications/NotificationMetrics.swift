internal import Metrics
internal import Store

/// What is counted of notifications that arrive.
enum NotificationMetrics {
  /// Counts one that had not arrived before. What a type is that nobody believed is its sender's word, and not
  /// counted by it.
  static func count(_ record: NotificationRecord) {
    Counter(
      label: "entitled_notifications_total",
      dimensions: [
        ("app", record.appID), ("version", String(record.version)), ("state", record.state.rawValue),
        ("type", record.state == .rejected ? "" : record.type),
      ]
    ).increment()
  }
}
