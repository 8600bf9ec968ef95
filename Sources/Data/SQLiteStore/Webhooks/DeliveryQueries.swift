internal import AppStore
internal import SQLite
internal import Store

/// Reads `webhook_cursor` and `delivery`. Prepares its statements on each call, because sending a message
/// costs far more.
struct DeliveryQueries {
  /// The columns of a delivery that follow the webhook key.
  static let columns = """
    position, environment, subject, type, occurred_at, state, attempts, first_attempt_at, due_at, outcome
    """

  private static let ofWebhook = "app = ?1 AND kind = ?2 AND name = ?3"

  private let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  func cursor(of webhook: WebhookKey) throws(StoreError) -> WebhookCursor? {
    let select = try Statement(
      "SELECT position, gone_at FROM webhook_cursor WHERE \(Self.ofWebhook)", on: connection)
    try select.bind(webhook)
    defer { select.reset() }
    guard try select.step() else { return nil }
    return WebhookCursor(position: select.number(0), goneAt: select.instant(1))
  }

  func due(_ webhook: WebhookKey, by now: Instant, limit: Int) throws(StoreError) -> [Delivery] {
    let select = try self.select("due_at <= ?4 ORDER BY due_at, position LIMIT ?5")
    try select.bind(webhook)
    try select.bind(4, now.millisecondsSince1970)
    try select.bind(5, Int64(limit))
    return try all(select)
  }

  func nextDue(_ webhook: WebhookKey) throws(StoreError) -> Instant? {
    let select = try Statement(
      "SELECT min(due_at) FROM delivery WHERE \(Self.ofWebhook) AND due_at IS NOT NULL", on: connection)
    try select.bind(webhook)
    defer { select.reset() }
    return try select.step() ? select.instant(0) : nil
  }

  func pending(
    _ webhook: WebhookKey, about subject: OrderingKey, limit: Int
  ) throws(StoreError) -> [Delivery] {
    let select = try self.select(
      "subject = ?4 AND environment = ?5 AND state = 'PENDING' ORDER BY position LIMIT ?6")
    try select.bind(webhook)
    try select.bind(4, subject.name)
    try select.bind(5, subject.environment?.rawValue ?? "")
    try select.bind(6, Int64(limit))
    return try all(select)
  }

  func page(
    of webhook: WebhookKey, in state: Delivery.State?, after position: Int64, limit: Int
  ) throws(StoreError) -> [Delivery] {
    let ofState = state == nil ? "" : "AND state = ?6 "
    let select = try self.select("position > ?4 \(ofState)ORDER BY position LIMIT ?5")
    try select.bind(webhook)
    try select.bind(4, position)
    try select.bind(5, Int64(limit))
    if let state { try select.bind(6, state.rawValue) }
    return try all(select)
  }

  func counts(_ webhook: WebhookKey) throws(StoreError) -> DeliveryCounts {
    let select = try Statement(
      """
      SELECT count(*) FILTER (WHERE state = 'PENDING'), count(*) FILTER (WHERE state = 'DEAD_LETTER'),
        min(occurred_at) FILTER (WHERE state = 'PENDING')
      FROM delivery WHERE \(Self.ofWebhook)
      """, on: connection)
    try select.bind(webhook)
    defer { select.reset() }
    guard try select.step() else { return DeliveryCounts(pending: 0, deadLetters: 0, oldestPendingAt: nil) }
    return DeliveryCounts(
      pending: select.number(0), deadLetters: select.number(1), oldestPendingAt: select.instant(2))
  }

  private func select(_ rest: String) throws(StoreError) -> Statement {
    try Statement(
      "SELECT \(Self.columns) FROM delivery WHERE \(Self.ofWebhook) AND \(rest)", on: connection)
  }

  private func all(_ select: Statement) throws(StoreError) -> [Delivery] {
    defer { select.reset() }
    var found: [Delivery] = []
    while try select.step() { found.append(try delivery(select)) }
    return found
  }

  /// Decodes the delivery in the current row.
  private func delivery(_ row: Statement) throws(StoreError) -> Delivery {
    guard let state = row.text(5).flatMap(Delivery.State.init(rawValue:)) else {
      throw .corrupt("a delivery has an unknown state")
    }
    var delivery = Delivery(
      position: row.number(0), environment: row.text(1).flatMap(Environment.init(rawValue:)),
      subject: row.text(2) ?? "", type: row.text(3) ?? "",
      occurredAt: Instant(millisecondsSince1970: row.number(4)), dueAt: row.instant(8))
    delivery.state = state
    delivery.attempts = Int(row.number(6))
    delivery.firstAttemptAt = row.instant(7)
    delivery.outcome = row.text(9) ?? ""
    return delivery
  }
}
