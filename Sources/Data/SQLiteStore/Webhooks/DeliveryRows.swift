internal import AppStore
internal import SQLite
internal import Store

/// Writes `webhook_cursor` and `delivery`.
final class DeliveryRows {
  private let connection: Connection
  private let beginWebhook: Statement
  private let putCursor: Statement
  private let resumeWebhook: Statement
  private let putDelivery: Statement
  private let removeDelivery: Statement
  private let scheduleFirst: Statement
  private let unscheduleOthers: Statement
  private let makeDue: Statement
  private let discardAll: Statement
  private let discardOne: Statement

  init(_ connection: Connection) throws(StoreError) {
    self.connection = connection
    beginWebhook = try Statement(
      """
      INSERT OR IGNORE INTO webhook_cursor (app, kind, name, position)
      VALUES (?1, ?2, ?3, CASE ?2
        WHEN 'EVENTS' THEN (SELECT ifnull(max(sequence), 0) FROM event)
        ELSE (SELECT ifnull(max(evidence_id), 0) FROM notification) END)
      """, on: connection)
    putCursor = try Statement(
      "INSERT OR REPLACE INTO webhook_cursor (app, kind, name, position, gone_at) VALUES (?, ?, ?, ?, ?)",
      on: connection)
    putDelivery = try Statement(
      """
      INSERT OR REPLACE INTO delivery (app, kind, name, \(DeliveryQueries.columns))
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, on: connection)
    let ofWebhook = "app = ?1 AND kind = ?2 AND name = ?3"
    resumeWebhook = try Statement(
      "UPDATE webhook_cursor SET gone_at = NULL WHERE \(ofWebhook)", on: connection)
    removeDelivery = try Statement(
      "DELETE FROM delivery WHERE \(ofWebhook) AND position = ?4", on: connection)
    let pending = "\(ofWebhook) AND subject = ?4 AND environment = ?5 AND state = 'PENDING'"
    let first = "(SELECT min(position) FROM delivery WHERE \(pending))"
    scheduleFirst = try Statement(
      """
      UPDATE delivery SET due_at = ?6 WHERE \(ofWebhook) AND position = \(first) AND due_at IS NULL
      """, on: connection)
    unscheduleOthers = try Statement(
      """
      UPDATE delivery SET due_at = NULL
      WHERE \(pending) AND due_at IS NOT NULL AND position > \(first)
      """, on: connection)
    discardAll = try Statement(
      "DELETE FROM delivery WHERE \(ofWebhook) AND state = 'DEAD_LETTER'", on: connection)
    discardOne = try Statement(
      "DELETE FROM delivery WHERE \(ofWebhook) AND state = 'DEAD_LETTER' AND position = ?4", on: connection)
    makeDue = try Statement(
      "UPDATE delivery SET due_at = ?4 WHERE \(ofWebhook) AND due_at > ?4", on: connection)
  }

  func begin(_ webhook: WebhookKey) throws(StoreError) {
    try beginWebhook.bind(webhook)
    try beginWebhook.run()
  }

  func put(_ state: WebhookCursor, of webhook: WebhookKey) throws(StoreError) {
    try putCursor.bind(webhook)
    try putCursor.bind(4, state.position)
    try putCursor.bind(5, state.goneAt?.millisecondsSince1970)
    try putCursor.run()
  }

  func resume(_ webhook: WebhookKey) throws(StoreError) {
    try resumeWebhook.bind(webhook)
    try resumeWebhook.run()
  }

  func put(_ delivery: Delivery, of webhook: WebhookKey) throws(StoreError) {
    try putDelivery.bind(webhook)
    try putDelivery.bind(4, delivery.position)
    try putDelivery.bind(5, delivery.environment?.rawValue ?? "")
    try putDelivery.bind(6, delivery.subject)
    try putDelivery.bind(7, delivery.type)
    try putDelivery.bind(8, delivery.occurredAt.millisecondsSince1970)
    try putDelivery.bind(9, delivery.state.rawValue)
    try putDelivery.bind(10, Int64(delivery.attempts))
    try putDelivery.bind(11, delivery.firstAttemptAt?.millisecondsSince1970)
    try putDelivery.bind(12, delivery.dueAt?.millisecondsSince1970)
    try putDelivery.bind(13, delivery.outcome)
    try putDelivery.run()
  }

  func remove(_ position: Int64, of webhook: WebhookKey) throws(StoreError) {
    try removeDelivery.bind(webhook)
    try removeDelivery.bind(4, position)
    try removeDelivery.run()
  }

  func reschedule(_ subjects: [OrderingKey], of webhook: WebhookKey, at now: Instant) throws(StoreError) {
    for subject in subjects {
      for statement in [unscheduleOthers, scheduleFirst] {
        try statement.bind(webhook)
        try statement.bind(4, subject.name)
        try statement.bind(5, subject.environment?.rawValue ?? "")
      }
      try unscheduleOthers.run()
      try scheduleFirst.bind(6, now.millisecondsSince1970)
      try scheduleFirst.run()
    }
  }

  func retryNow(_ webhook: WebhookKey, at now: Instant) throws(StoreError) {
    try makeDue.bind(webhook)
    try makeDue.bind(4, now.millisecondsSince1970)
    try makeDue.run()
  }

  func discard(_ positions: [Int64]?, of webhook: WebhookKey) throws(StoreError) -> Int64 {
    guard let positions else {
      try discardAll.bind(webhook)
      try discardAll.run()
      return connection.changedRows
    }
    var count: Int64 = 0
    for position in positions {
      try discardOne.bind(webhook)
      try discardOne.bind(4, position)
      try discardOne.run()
      count += connection.changedRows
    }
    return count
  }

  func requeue(_ webhook: WebhookKey, limit: Int) throws(StoreError) -> [OrderingKey] {
    let deadLetters = try DeliveryQueries(connection).page(
      of: webhook, in: .deadLetter, after: 0, limit: limit)
    var subjects: [OrderingKey] = []
    for delivery in deadLetters {
      try put(
        Delivery(
          position: delivery.position, environment: delivery.environment, subject: delivery.subject,
          type: delivery.type, occurredAt: delivery.occurredAt, dueAt: nil),
        of: webhook)
      subjects.append(delivery.about)
    }
    return subjects
  }
}

extension Statement {
  /// Binds a webhook key to the first three parameters.
  func bind(_ webhook: WebhookKey) throws(StoreError) {
    try bind(1, webhook.appID)
    try bind(2, webhook.kind.rawValue)
    try bind(3, webhook.name)
  }
}
