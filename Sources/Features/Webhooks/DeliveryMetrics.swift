internal import AppStore
internal import Metrics
internal import Store

/// What is counted of what goes out.
enum DeliveryMetrics {
  static func count(_ webhook: WebhookKey, _ outcome: DeliveryOutcome, milliseconds: Int64) {
    let dimensions = webhook.dimensions + [("outcome", outcome.metricLabel)]
    Counter(label: "entitled_webhook_deliveries_total", dimensions: dimensions).increment()
    Timer(label: "entitled_webhook_delivery_seconds", dimensions: webhook.dimensions)
      .recordMilliseconds(max(0, milliseconds))
  }

  static func countDead(_ webhook: WebhookKey) {
    Counter(label: "entitled_webhook_dead_letters_total", dimensions: webhook.dimensions).increment()
  }

  /// How much waits at `now`, what was given up, and for how long the oldest has waited.
  static func tell(_ webhook: WebhookKey, _ counts: DeliveryCounts, at now: Instant) {
    let lag = counts.waitingSince.map { max(0, now.milliseconds(since: $0)) } ?? 0
    Gauge(label: "entitled_webhook_deliveries_pending", dimensions: webhook.dimensions).record(counts.waiting)
    Gauge(label: "entitled_webhook_dead_letters", dimensions: webhook.dimensions).record(counts.dead)
    Gauge(label: "entitled_webhook_delivery_lag_seconds", dimensions: webhook.dimensions).record(
      Double(lag) / 1_000)
  }
}

extension WebhookKey {
  fileprivate var dimensions: [(String, String)] {
    [("app", appID), ("kind", kind.rawValue.lowercased()), ("webhook", name)]
  }
}
