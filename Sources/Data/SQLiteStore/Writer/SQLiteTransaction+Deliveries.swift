internal import AppStore
internal import SQLite
internal import Store

// What goes out.
extension SQLiteTransaction {
  func begin(_ outlet: WebhookKey) throws(StoreError) { try delivery.begin(outlet) }

  func put(_ state: WebhookCursor, of outlet: WebhookKey) throws(StoreError) {
    try delivery.put(state, of: outlet)
  }

  func resume(_ outlet: WebhookKey) throws(StoreError) { try delivery.resume(outlet) }

  func put(_ delivery: Delivery, of outlet: WebhookKey) throws(StoreError) {
    try self.delivery.put(delivery, of: outlet)
  }

  func remove(_ position: Int64, of outlet: WebhookKey) throws(StoreError) {
    try delivery.remove(position, of: outlet)
  }

  func order(_ subjects: [OrderingKey], of outlet: WebhookKey, at now: Instant) throws(StoreError) {
    try delivery.order(subjects, of: outlet, at: now)
  }

  func hasten(_ outlet: WebhookKey, at now: Instant) throws(StoreError) {
    try delivery.hasten(outlet, at: now)
  }

  func discard(_ positions: [Int64]?, of outlet: WebhookKey) throws(StoreError) -> Int64 {
    try delivery.discard(positions, of: outlet)
  }

  func revive(_ outlet: WebhookKey, limit: Int) throws(StoreError) -> [OrderingKey] {
    try delivery.revive(outlet, limit: limit)
  }
}
