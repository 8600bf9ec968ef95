internal import AppStore
internal import Store

/// Writes `repair`, `repair_line`, `drift` and `delivery_mark`. Rare enough to prepare its statements each
/// time.
struct RepairRows {
  private let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  func put(_ mark: DeliveryMark, of appID: String, in environment: Environment) throws(StoreError) {
    let put = try Statement(
      """
      INSERT OR REPLACE INTO delivery_mark (
        app, environment, complete_until, swept_until, last_delivery, usual_distance, asked_about_all_at)
      VALUES (?, ?, ?, ?, ?, ?, ?)
      """, on: connection)
    try put.bind(1, appID)
    try put.bind(2, environment.rawValue)
    try put.bind(3, mark.completeUntil.millisecondsSince1970)
    try put.bind(4, mark.sweptUntil.millisecondsSince1970)
    try put.bind(5, mark.lastDelivery?.millisecondsSince1970)
    try put.bind(6, mark.usualDistance)
    try put.bind(7, mark.askedAboutAllAt?.millisecondsSince1970)
    try put.run()
  }

  func begin(_ repair: Repair) throws(StoreError) -> Repair {
    try put(repair, as: nil)
    var begun = repair
    begun.id = connection.lastInsertedRow
    return begun
  }

  func put(_ repair: Repair) throws(StoreError) { try put(repair, as: repair.id) }

  /// Without a number it gets the next one.
  private func put(_ repair: Repair, as id: Int64?) throws(StoreError) {
    let put = try Statement(
      """
      INSERT OR REPLACE INTO repair (\(RepairQuery.columns))
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, on: connection)
    try put.bind(1, id)
    try put.bind(2, repair.appID)
    try put.bind(3, repair.environment.rawValue)
    try put.bind(4, repair.reason.rawValue)
    try put.bind(5, repair.from.millisecondsSince1970)
    try put.bind(6, repair.to.millisecondsSince1970)
    try put.bind(7, repair.onlyFailures ? 1 : 0)
    try put.bind(8, repair.startedAt.millisecondsSince1970)
    try put.bind(9, repair.finishedAt?.millisecondsSince1970)
    try put.bind(10, repair.phase.rawValue)
    try put.bind(11, repair.pageToken)
    try put.bind(12, repair.received)
    try put.bind(13, repair.alreadyKnown)
    try put.bind(14, repair.asked)
    try put.bind(15, repair.problem)
    try put.run()
  }

  func forget(finishedBefore moment: Instant) throws(StoreError) {
    let old = "SELECT repair_id FROM repair WHERE finished_at < ?"
    for table in ["repair_line", "drift", "repair"] {
      let delete = try Statement("DELETE FROM \(table) WHERE repair_id IN (\(old))", on: connection)
      try delete.bind(1, moment.millisecondsSince1970)
      try delete.run()
    }
  }

  func enqueue(_ line: LineKey, for repairID: Int64) throws(StoreError) {
    try run(
      "INSERT OR IGNORE INTO repair_line (repair_id, original_transaction_id) VALUES (?, ?)", repairID, line)
  }

  func enqueueDuePolls(by moment: Instant, for repair: Repair) throws(StoreError) {
    let insert = try Statement(
      """
      INSERT OR IGNORE INTO repair_line (repair_id, original_transaction_id)
      SELECT ?, original_transaction_id FROM poll WHERE app = ? AND environment = ? AND at <= ?
      """, on: connection)
    try insert.bind(1, repair.id)
    try insert.bind(2, repair.appID)
    try insert.bind(3, repair.environment.rawValue)
    try insert.bind(4, moment.millisecondsSince1970)
    try insert.run()
  }

  func enqueueOwnedLines(
    after last: String?, limit: Int, for repair: Repair
  ) throws(StoreError) -> String? {
    let page = """
      SELECT DISTINCT original_transaction_id FROM line_customer
      WHERE original_transaction_id > ?3 AND app = ?1 AND environment = ?2
      ORDER BY original_transaction_id LIMIT ?4
      """
    func bound(_ sql: String) throws(StoreError) -> Statement {
      let statement = try Statement(sql, on: connection)
      try statement.bind(1, repair.appID)
      try statement.bind(2, repair.environment.rawValue)
      try statement.bind(3, last ?? "")
      try statement.bind(4, Int64(limit))
      return statement
    }
    let end = try bound("SELECT max(original_transaction_id) FROM (\(page))")
    defer { end.reset() }
    guard try end.step(), let next = end.text(0) else { return nil }
    let insert = try bound(
      "INSERT OR IGNORE INTO repair_line SELECT ?5, original_transaction_id FROM (\(page))")
    try insert.bind(5, repair.id)
    try insert.run()
    return next
  }

  func dequeue(_ line: LineKey, from repairID: Int64) throws(StoreError) {
    try run("DELETE FROM repair_line WHERE repair_id = ? AND original_transaction_id = ?", repairID, line)
  }

  private func run(_ sql: String, _ repairID: Int64, _ line: LineKey) throws(StoreError) {
    let statement = try Statement(sql, on: connection)
    try statement.bind(1, repairID)
    try statement.bind(2, line.originalTransactionID)
    try statement.run()
  }

  func notice(_ drift: Drift, in repairID: Int64) throws(StoreError) {
    let insert = try statement(
      """
      INSERT OR IGNORE INTO drift (repair_id, customer_id, entitlement, noticed_at, believed)
      VALUES (?, ?, ?, ?, ?)
      """, drift, repairID)
    try insert.bind(4, drift.noticedAt.millisecondsSince1970)
    try insert.bind(5, StatusCoding.encode(drift.believed))
    try insert.run()
  }

  func settle(_ drift: Drift, in repairID: Int64) throws(StoreError) {
    let update = try statement(
      "UPDATE drift SET found = ?4 WHERE repair_id = ?1 AND customer_id = ?2 AND entitlement = ?3", drift,
      repairID)
    try update.bind(4, drift.found.map(StatusCoding.encode))
    try update.run()
  }

  func drop(_ drift: Drift, from repairID: Int64) throws(StoreError) {
    try statement(
      "DELETE FROM drift WHERE repair_id = ? AND customer_id = ? AND entitlement = ?", drift, repairID
    ).run()
  }

  private func statement(
    _ sql: String, _ drift: Drift, _ repairID: Int64
  ) throws(StoreError) -> Statement {
    let statement = try Statement(sql, on: connection)
    try statement.bind(1, repairID)
    try statement.bind(2, drift.customer.customerID)
    try statement.bind(3, drift.entitlement)
    return statement
  }
}
