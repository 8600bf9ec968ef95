internal import AppStore
internal import SQLite
internal import Store

/// Writes `repair`, `repair_line`, `drift` and `delivery_watermark`. Statements that run once for each line
/// or customer are prepared once; the others are prepared on each call.
final class RepairRows {
  private let connection: Connection
  private let insertLine: Statement
  private let deleteLine: Statement
  private let insertDrift: Statement
  private let updateDrift: Statement
  private let deleteDrift: Statement

  init(_ connection: Connection) throws(StoreError) {
    self.connection = connection
    insertLine = try Statement(
      "INSERT OR IGNORE INTO repair_line (repair_id, line_id) VALUES (?, ?)", on: connection)
    deleteLine = try Statement(
      "DELETE FROM repair_line WHERE repair_id = ? AND line_id = ?", on: connection)
    insertDrift = try Statement(
      """
      INSERT OR IGNORE INTO drift (repair_id, customer_id, entitlement, detected_at, before)
      VALUES (?, ?, ?, ?, ?)
      """, on: connection)
    let ofDrift = "repair_id = ?1 AND customer_id = ?2 AND entitlement = ?3"
    updateDrift = try Statement("UPDATE drift SET after = ?4 WHERE \(ofDrift)", on: connection)
    deleteDrift = try Statement("DELETE FROM drift WHERE \(ofDrift)", on: connection)
  }

  func put(_ mark: DeliveryWatermark, of appID: String, in environment: Environment) throws(StoreError) {
    let put = try Statement(
      """
      INSERT OR REPLACE INTO delivery_watermark (
        app, environment, complete_until, searched_until, last_delivery, typical_interval, full_poll_at)
      VALUES (?, ?, ?, ?, ?, ?, ?)
      """, on: connection)
    try put.bind(1, appID)
    try put.bind(2, environment.rawValue)
    try put.bind(3, mark.completeUntil.millisecondsSince1970)
    try put.bind(4, mark.searchedUntil.millisecondsSince1970)
    try put.bind(5, mark.lastDelivery?.millisecondsSince1970)
    try put.bind(6, mark.typicalInterval)
    try put.bind(7, mark.lastFullPollAt?.millisecondsSince1970)
    try put.run()
  }

  func begin(_ repair: Repair) throws(StoreError) -> Repair {
    try put(repair, as: nil)
    var begun = repair
    begun.id = connection.lastInsertedRow
    return begun
  }

  func put(_ repair: Repair) throws(StoreError) { try put(repair, as: repair.id) }

  /// Inserts a repair under `id`, or under the next free id.
  private func put(_ repair: Repair, as id: Int64?) throws(StoreError) {
    let put = try Statement(
      """
      INSERT OR REPLACE INTO repair (\(RepairQueries.columns))
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
    try put.bind(14, repair.queriedPurchases)
    try put.bind(15, repair.error)
    try put.run()
  }

  func purge(finishedBefore instant: Instant) throws(StoreError) {
    let old = "SELECT repair_id FROM repair WHERE finished_at < ?"
    for table in ["repair_line", "drift", "repair"] {
      let delete = try Statement("DELETE FROM \(table) WHERE repair_id IN (\(old))", on: connection)
      try delete.bind(1, instant.millisecondsSince1970)
      try delete.run()
    }
  }

  func enqueue(_ line: LineKey, for repairID: Int64) throws(StoreError) {
    try run(insertLine, repairID, line)
  }

  func enqueueDuePolls(by instant: Instant, for repair: Repair) throws(StoreError) {
    let insert = try Statement(
      """
      INSERT OR IGNORE INTO repair_line (repair_id, line_id)
      SELECT ?, line_id FROM poll WHERE app = ? AND environment = ? AND at <= ?
      """, on: connection)
    try insert.bind(1, repair.id)
    try insert.bind(2, repair.appID)
    try insert.bind(3, repair.environment.rawValue)
    try insert.bind(4, instant.millisecondsSince1970)
    try insert.run()
  }

  func enqueueOwnedLines(
    after last: String?, limit: Int, for repair: Repair
  ) throws(StoreError) -> String? {
    let page = """
      SELECT DISTINCT line_id FROM line_customer
      WHERE line_id > ?3 AND app = ?1 AND environment = ?2
      ORDER BY line_id LIMIT ?4
      """
    func bound(_ sql: String) throws(StoreError) -> Statement {
      let statement = try Statement(sql, on: connection)
      try statement.bind(1, repair.appID)
      try statement.bind(2, repair.environment.rawValue)
      try statement.bind(3, last ?? "")
      try statement.bind(4, Int64(limit))
      return statement
    }
    let end = try bound("SELECT max(line_id) FROM (\(page))")
    defer { end.reset() }
    guard try end.step(), let next = end.text(0) else { return nil }
    let insert = try bound(
      "INSERT OR IGNORE INTO repair_line SELECT ?5, line_id FROM (\(page))")
    try insert.bind(5, repair.id)
    try insert.run()
    return next
  }

  func dequeue(_ line: LineKey, from repairID: Int64) throws(StoreError) {
    try run(deleteLine, repairID, line)
  }

  private func run(_ statement: Statement, _ repairID: Int64, _ line: LineKey) throws(StoreError) {
    try statement.bind(1, repairID)
    try statement.bind(2, line.lineID)
    try statement.run()
  }

  func record(_ drift: Drift, in repairID: Int64) throws(StoreError) {
    try bind(insertDrift, drift, repairID)
    try insertDrift.bind(4, drift.detectedAt.millisecondsSince1970)
    try insertDrift.bind(5, StatusCoding.encode(drift.before))
    try insertDrift.run()
  }

  func confirm(_ drift: Drift, in repairID: Int64) throws(StoreError) {
    try bind(updateDrift, drift, repairID)
    try updateDrift.bind(4, drift.after.map(StatusCoding.encode))
    try updateDrift.run()
  }

  func discard(_ drift: Drift, from repairID: Int64) throws(StoreError) {
    try bind(deleteDrift, drift, repairID)
    try deleteDrift.run()
  }

  private func bind(_ statement: Statement, _ drift: Drift, _ repairID: Int64) throws(StoreError) {
    try statement.bind(1, repairID)
    try statement.bind(2, drift.customer.customerID)
    try statement.bind(3, drift.entitlement)
  }
}
