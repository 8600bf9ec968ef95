internal import AppStore
internal import Store

// What goes out.
extension SQLiteTransaction {
  func begin(_ outlet: OutletKey) throws(StoreError) { try delivery.begin(outlet) }

  func put(_ state: Outlet, of outlet: OutletKey) throws(StoreError) {
    try delivery.put(state, of: outlet)
  }

  func resume(_ outlet: OutletKey) throws(StoreError) { try delivery.resume(outlet) }

  func put(_ delivery: Delivery, of outlet: OutletKey) throws(StoreError) {
    try self.delivery.put(delivery, of: outlet)
  }

  func remove(_ position: Int64, of outlet: OutletKey) throws(StoreError) {
    try delivery.remove(position, of: outlet)
  }

  func order(_ subjects: [DeliverySubject], of outlet: OutletKey, at now: Instant) throws(StoreError) {
    try delivery.order(subjects, of: outlet, at: now)
  }

  func hasten(_ outlet: OutletKey, at now: Instant) throws(StoreError) {
    try delivery.hasten(outlet, at: now)
  }

  func discard(_ positions: [Int64]?, of outlet: OutletKey) throws(StoreError) -> Int64 {
    try delivery.discard(positions, of: outlet)
  }

  func revive(_ outlet: OutletKey, limit: Int) throws(StoreError) -> [DeliverySubject] {
    try delivery.revive(outlet, limit: limit)
  }
}
