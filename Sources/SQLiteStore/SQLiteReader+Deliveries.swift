internal import AppStore
internal import Store

// How far messages went out, and what did not arrive.
extension SQLiteReader {
  func outlet(_ outlet: OutletKey) throws(StoreError) -> Outlet? {
    try beginTurn()
    return try DeliveryPages(connection).outlet(outlet)
  }

  func deliveries(
    of outlet: OutletKey, dueBy now: Instant, limit: Int
  ) throws(StoreError) -> [Delivery] {
    try beginTurn()
    return try DeliveryPages(connection).due(outlet, by: now, limit: limit)
  }

  func nextDue(of outlet: OutletKey) throws(StoreError) -> Instant? {
    try beginTurn()
    return try DeliveryPages(connection).nextDue(outlet)
  }

  func deliveries(
    about subject: DeliverySubject, of outlet: OutletKey, limit: Int
  ) throws(StoreError) -> [Delivery] {
    try beginTurn()
    return try DeliveryPages(connection).waiting(outlet, about: subject, limit: limit)
  }

  func deliveries(
    of outlet: OutletKey, in state: Delivery.State?, after position: Int64, limit: Int
  ) throws(StoreError) -> [Delivery] {
    try beginTurn()
    return try DeliveryPages(connection).page(of: outlet, in: state, after: position, limit: limit)
  }

  func deliveryCounts(of outlet: OutletKey) throws(StoreError) -> DeliveryCounts {
    try beginTurn()
    return try DeliveryPages(connection).counts(outlet)
  }
}
