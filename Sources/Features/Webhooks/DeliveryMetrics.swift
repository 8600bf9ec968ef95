internal import AppStore
internal import Metrics
internal import Store

/// Metrics of webhook deliveries, with the labels `app`, `kind` and `webhook`.
enum DeliveryMetrics {
  /// Counts an attempt by its outcome, and records how long it took. An attempt is counted each time, not each message.
  static func count(_ webhook: WebhookKey, _ outcome: DeliveryOutcome, milliseconds: Int64) {
    let dimensions = webhook.dimensions + [("outcome", outcome.metricLabel)]
    Counter(label: "entitled_webhook_deliveries_total", dimensions: dimensions).increment()
    Timer(label: "entitled_webhook_delivery_seconds", dimensions: webhook.dimensions)
      .recordMilliseconds(max(0, milliseconds))
  }

  /// Counts a message that will not be retried.
  static func countDeadLetter(_ webhook: WebhookKey) {
    Counter(label: "entitled_webhook_dead_letters_total", dimensions: webhook.dimensions).increment()
  }

  /// Records whether the webhook responded with 410 and gets no messages.
  static func record(_ webhook: WebhookKey, isGone: Bool) {
    Gauge(label: "entitled_webhook_gone", dimensions: webhook.dimensions).record(isGone ? 1 : 0)
  }

  /// Sets the gauges of a webhook that this process no longer serves to zero.
  static func reset(_ webhook: WebhookKey, at now: Instant) {
    record(webhook, isGone: false)
    record(webhook, DeliveryCounts(pending: 0, deadLetters: 0, oldestPendingAt: nil), oldest: nil, at: now)
  }

  /// Records the pending deliveries, the dead letters, and the age of the oldest message that is not delivered, of the time
  /// `oldest`.
  static func record(_ webhook: WebhookKey, _ counts: DeliveryCounts, oldest: Instant?, at now: Instant) {
    let lag = oldest.map { max(0, now.milliseconds(since: $0)) } ?? 0
    Gauge(label: "entitled_webhook_deliveries_pending", dimensions: webhook.dimensions).record(counts.pending)
    Gauge(label: "entitled_webhook_dead_letters", dimensions: webhook.dimensions).record(counts.deadLetters)
    Gauge(label: "entitled_webhook_delivery_lag_seconds", dimensions: webhook.dimensions).record(
      Double(lag) / 1_000)
  }
}

extension WebhookKey {
  fileprivate var dimensions: [(String, String)] {
    [("app", appID), ("kind", kind.rawValue.lowercased()), ("webhook", name)]
  }
}
