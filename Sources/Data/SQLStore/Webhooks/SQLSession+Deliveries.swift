internal import AppStore
internal import Store

private let ofWebhook = "app = ?1 AND kind = ?2 AND name = ?3"
/// The columns of a delivery that follow the webhook key.
private let columns = """
  position, environment, subject, type, occurred_at, state, attempts, first_attempt_at, due_at, outcome
  """

// Reads of webhook cursors and of undelivered messages.
extension SQLReader {
  func cursor(of webhook: WebhookKey) throws(StoreError) -> WebhookCursor? {
    try rows("SELECT position, gone_at FROM webhook_cursor WHERE \(ofWebhook)", webhook) { row in
      WebhookCursor(position: row.number(0), goneAt: row.instant(1))
    }.first
  }

  func lastPosition(before webhook: WebhookKey) throws(StoreError) -> Int64 {
    try rows("SELECT begins_after FROM webhook_cursor WHERE \(ofWebhook)", webhook) { $0.number(0) }.first
      ?? 0
  }

  func deliveries(
    of webhook: WebhookKey, dueBy now: Instant, limit: Int
  ) throws(StoreError) -> [Delivery] {
    try deliveries("due_at <= ?4 ORDER BY due_at, position LIMIT ?5", webhook, now, limit)
  }

  func nextDue(of webhook: WebhookKey) throws(StoreError) -> Instant? {
    try rows(
      "SELECT min(due_at) FROM delivery WHERE \(ofWebhook) AND due_at IS NOT NULL", webhook
    ) { $0.instant(0) }.first ?? nil
  }

  func pendingDeliveries(
    with key: OrderingKey, of webhook: WebhookKey, limit: Int
  ) throws(StoreError) -> [Delivery] {
    try deliveries(
      "subject = ?4 AND environment = ?5 AND state = 'PENDING' ORDER BY position LIMIT ?6", webhook,
      key.name, key.environment?.rawValue ?? "", limit)
  }

  func deliveryCounts(of webhook: WebhookKey) throws(StoreError) -> DeliveryCounts {
    try rows(
      """
      SELECT count(*) FILTER (WHERE state = 'PENDING'), count(*) FILTER (WHERE state = 'DEAD_LETTER'),
        min(occurred_at) FILTER (WHERE state = 'PENDING')
      FROM delivery WHERE \(ofWebhook)
      """, webhook
    ) { row in
      DeliveryCounts(pending: row.number(0), deadLetters: row.number(1), oldestPendingAt: row.instant(2))
    }.first ?? DeliveryCounts(pending: 0, deadLetters: 0, oldestPendingAt: nil)
  }
}

extension SQLSession {
  func deliveries(
    of webhook: WebhookKey, in state: Delivery.State?, after position: Int64, limit: Int
  ) throws(StoreError) -> [Delivery] {
    try deliveries(
      "position > ?4 AND coalesce(state = ?5, TRUE) ORDER BY position LIMIT ?6", webhook, position,
      state?.rawValue, limit)
  }

  /// Returns the undelivered messages of a webhook that match a condition.
  fileprivate func deliveries(
    _ condition: String, _ values: any StatementValue...
  ) throws(StoreError) -> [Delivery] {
    try rows(
      "SELECT \(columns) FROM delivery WHERE \(ofWebhook) AND \(condition)", binding: values
    ) { row throws(StoreError) in
      var delivery = Delivery(
        position: row.number(0), environment: row.text(1).flatMap(Environment.init(rawValue:)),
        subject: row.text(2) ?? "", type: row.text(3) ?? "",
        occurredAt: Instant(millisecondsSince1970: row.number(4)), dueAt: row.instant(8))
      delivery.state = try row.value(5)
      delivery.attempts = Int(row.number(6))
      delivery.firstAttemptAt = row.instant(7)
      delivery.outcome = row.text(9) ?? ""
      return delivery
    }
  }
}

// Writes of webhook cursors and of undelivered messages.
extension SQLTransaction {
  func begin(_ webhook: WebhookKey) throws(StoreError) {
    let newest = """
      CASE ?2 WHEN 'EVENTS' THEN (SELECT coalesce(max(sequence), 0) FROM event WHERE app = ?1)
        ELSE (SELECT coalesce(max(evidence_id), 0) FROM notification) END
      """
    try run(
      """
      INSERT INTO webhook_cursor (app, kind, name, position, begins_after)
      VALUES (?1, ?2, ?3, \(newest), \(newest))
      ON CONFLICT DO NOTHING
      """, webhook)
  }

  func advance(_ webhook: WebhookKey, to position: Int64) throws(StoreError) {
    try run("UPDATE webhook_cursor SET position = ?4 WHERE \(ofWebhook)", webhook, position)
  }

  func stop(_ webhook: WebhookKey, at now: Instant) throws(StoreError) {
    try run("UPDATE webhook_cursor SET gone_at = ?4 WHERE \(ofWebhook)", webhook, now)
  }

  func resume(_ webhook: WebhookKey) throws(StoreError) {
    try run("UPDATE webhook_cursor SET gone_at = NULL WHERE \(ofWebhook)", webhook)
  }

  /// Stores a delivery. The customer may have been erased since its message was read, so the event names them; an event
  /// about no customer has the ordering key of the delivery.
  func put(_ delivery: Delivery, of webhook: WebhookKey) throws(StoreError) {
    try run(
      """
      INSERT INTO delivery (app, kind, name, \(columns))
      VALUES (?1, ?2, ?3, ?4, ?5, CASE ?2
        WHEN 'EVENTS' THEN
          coalesce(nullif((SELECT customer_id FROM event WHERE app = ?1 AND sequence = ?4), ''), ?6)
        ELSE ?6 END, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
      ON CONFLICT (app, kind, name, position) DO UPDATE SET
        environment = excluded.environment, subject = excluded.subject, type = excluded.type,
        occurred_at = excluded.occurred_at, state = excluded.state, attempts = excluded.attempts,
        first_attempt_at = excluded.first_attempt_at, due_at = excluded.due_at, outcome = excluded.outcome
      """, webhook, delivery.position, delivery.environment?.rawValue ?? "", delivery.subject, delivery.type,
      delivery.occurredAt, delivery.state.rawValue, delivery.attempts, delivery.firstAttemptAt,
      delivery.dueAt,
      delivery.outcome)
  }

  func remove(_ position: Int64, of webhook: WebhookKey) throws(StoreError) {
    try run("DELETE FROM delivery WHERE \(ofWebhook) AND position = ?4", webhook, position)
  }

  /// Reads neighbours together, because a resent range has thousands of positions.
  func orderingKeys(at positions: [Int64], of webhook: WebhookKey) throws(StoreError) -> Set<OrderingKey> {
    var runs: [ClosedRange<Int64>] = []
    for position in positions.sorted() {
      if let last = runs.last, position - last.upperBound <= 10 {
        runs[runs.count - 1] = last.lowerBound...position
      } else {
        runs.append(position...position)
      }
    }
    let wanted = Set(positions)
    var keys: Set<OrderingKey> = []
    for run in runs {
      let found = try deliveries("position BETWEEN ?4 AND ?5", webhook, run.lowerBound, run.upperBound)
      for delivery in found where wanted.contains(delivery.position) { keys.insert(delivery.orderingKey) }
    }
    return keys
  }

  /// Unschedules the later messages of each ordering key, and then schedules the first.
  func reschedule(_ keys: [OrderingKey], of webhook: WebhookKey, at now: Instant) throws(StoreError) {
    let pending = "\(ofWebhook) AND subject = ?4 AND environment = ?5 AND state = 'PENDING'"
    let first = "(SELECT min(position) FROM delivery WHERE \(pending))"
    for key in keys {
      let environment = key.environment?.rawValue ?? ""
      try run(
        "UPDATE delivery SET due_at = NULL WHERE \(pending) AND due_at IS NOT NULL AND position > \(first)",
        webhook, key.name, environment)
      try run(
        "UPDATE delivery SET due_at = ?6 WHERE \(ofWebhook) AND position = \(first) AND due_at IS NULL",
        webhook, key.name, environment, now)
    }
  }

  func retryNow(_ positions: [Int64]?, of webhook: WebhookKey, at now: Instant) throws(StoreError) {
    let later = "UPDATE delivery SET due_at = ?4 WHERE \(ofWebhook) AND due_at > ?4"
    guard let positions else { return try run(later, webhook, now) }
    for position in positions { try run("\(later) AND position = ?5", webhook, now, position) }
  }

  func discard(_ positions: [Int64]?, of webhook: WebhookKey) throws(StoreError) -> Int64 {
    let deadLetters = "\(ofWebhook) AND state = 'DEAD_LETTER'"
    guard let positions else { return try runCounting("DELETE FROM delivery WHERE \(deadLetters)", webhook) }
    var count: Int64 = 0
    for position in positions {
      count += try runCounting(
        "DELETE FROM delivery WHERE \(deadLetters) AND position = ?4", webhook, position)
    }
    return count
  }
}
