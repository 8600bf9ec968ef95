internal import AppStore
internal import SQLite
internal import Store

// How far messages went out, and what did not arrive.
extension SQLiteReader {
  func outlet(_ outlet: WebhookKey) throws(StoreError) -> WebhookCursor? {
    try beginTurn()
    return try DeliveryQueries(connection).outlet(outlet)
  }

  func deliveries(
    of outlet: WebhookKey, dueBy now: Instant, limit: Int
  ) throws(StoreError) -> [Delivery] {
    try beginTurn()
    return try DeliveryQueries(connection).due(outlet, by: now, limit: limit)
  }

  func nextDue(of outlet: WebhookKey) throws(StoreError) -> Instant? {
    try beginTurn()
    return try DeliveryQueries(connection).nextDue(outlet)
  }

  func deliveries(
    about subject: OrderingKey, of outlet: WebhookKey, limit: Int
  ) throws(StoreError) -> [Delivery] {
    try beginTurn()
    return try DeliveryQueries(connection).waiting(outlet, about: subject, limit: limit)
  }

  func deliveries(
    of outlet: WebhookKey, in state: Delivery.State?, after position: Int64, limit: Int
  ) throws(StoreError) -> [Delivery] {
    try beginTurn()
    return try DeliveryQueries(connection).page(of: outlet, in: state, after: position, limit: limit)
  }

  func deliveryCounts(of outlet: WebhookKey) throws(StoreError) -> DeliveryCounts {
    try beginTurn()
    return try DeliveryQueries(connection).counts(outlet)
  }
}
