internal import AppStore
internal import Store

private let columns = """
  repair_id, app, environment, reason, since, until, only_failures, started_at, finished_at, phase,
  page_token, received, already_known, queried_purchases, error, partial_error
  """

extension SQLSession {
  func repair(_ id: Int64) throws(StoreError) -> Repair? { try repairs("repair_id = ?", id).first }

  func deliveryWatermark(
    of appID: String, in environment: Environment
  ) throws(StoreError) -> DeliveryWatermark? {
    try rows(
      """
      SELECT complete_until, searched_until, last_delivery, typical_interval, full_poll_at, unread_since,
        unread_until
      FROM delivery_watermark WHERE app = ? AND environment = ?
      """, appID, environment
    ) { row in
      var watermark = DeliveryWatermark(start: Instant(millisecondsSince1970: row.number(0)))
      watermark.searchedUntil = Instant(millisecondsSince1970: row.number(1))
      watermark.lastDelivery = row.instant(2)
      watermark.typicalInterval = row.isNull(3) ? nil : row.number(3)
      watermark.lastFullPollAt = row.instant(4)
      if let since = row.instant(5), let until = row.instant(6), since < until {
        watermark.unread = since..<until
      }
      return watermark
    }.first
  }

  /// Returns the repairs that match a condition.
  fileprivate func repairs(
    _ condition: String, _ values: any StatementValue...
  ) throws(StoreError) -> [Repair] {
    try rows("SELECT \(columns) FROM repair WHERE \(condition)", binding: values) { row throws(StoreError) in
      var repair = Repair(
        id: row.number(0), appID: row.text(1) ?? "", environment: try row.value(2), reason: try row.value(3),
        from: Instant(millisecondsSince1970: row.number(4)),
        to: Instant(millisecondsSince1970: row.number(5)), onlyFailures: row.number(6) == 1,
        startedAt: Instant(millisecondsSince1970: row.number(7)))
      repair.finishedAt = row.instant(8)
      repair.phase = try row.value(9)
      repair.pageToken = row.text(10)
      repair.received = row.number(11)
      repair.alreadyKnown = row.number(12)
      repair.queriedPurchases = row.number(13)
      repair.error = row.text(14) ?? ""
      repair.partialError = row.text(15) ?? ""
      return repair
    }
  }
}

// Reads of repairs and their reports.
extension SQLReader {
  func repair(_ id: Int64, of appID: String) throws(StoreError) -> Repair? {
    try repairs("repair_id = ? AND app = ?", id, appID).first
  }

  func repairs(
    of appID: String, in environment: Environment?, before: Int64?, limit: Int
  ) throws(StoreError) -> [Repair] {
    try repairs(
      "app = ? AND coalesce(environment = ?, TRUE) AND repair_id < ? ORDER BY repair_id DESC LIMIT ?", appID,
      environment, before ?? .max, limit)
  }

  func openRepair(
    of appID: String, in environment: Environment, after last: Int64
  ) throws(StoreError) -> Repair? {
    try repairs(
      "app = ? AND environment = ? AND finished_at IS NULL AND repair_id > ? ORDER BY repair_id LIMIT 1",
      appID, environment, last
    ).first
  }

  func queuedLines(of repair: Repair, after last: String?, limit: Int) throws(StoreError) -> [LineKey] {
    try rows(
      "SELECT line_id FROM repair_line WHERE repair_id = ? AND line_id > ? ORDER BY line_id LIMIT ?",
      repair.id, last ?? "", limit
    ) { row in
      LineKey(appID: repair.appID, environment: repair.environment, lineID: row.text(0) ?? "")
    }
  }

  func drifts(of repair: Repair, after last: Drift.Key?, limit: Int) throws(StoreError) -> [Drift] {
    try rows(
      """
      SELECT customer_id, entitlement, detected_at, before, after FROM drift
      WHERE repair_id = ? AND (customer_id, entitlement) > (?, ?) ORDER BY customer_id, entitlement LIMIT ?
      """, repair.id, last?.customerID ?? "", last?.entitlement ?? "", limit
    ) { row throws(StoreError) in
      Drift(
        customer: CustomerKey(
          appID: repair.appID, environment: repair.environment, customerID: row.text(0) ?? ""),
        entitlement: row.text(1) ?? "", detectedAt: Instant(millisecondsSince1970: row.number(2)),
        before: try StatusCoding.status(row.bytes(3)),
        after: row.isNull(4) ? nil : try StatusCoding.status(row.bytes(4)))
    }
  }

  func driftedCustomers(of repair: Repair) throws(StoreError) -> Int64 {
    try rows("SELECT count(DISTINCT customer_id) FROM drift WHERE repair_id = ?", repair.id) { row in
      row.number(0)
    }.first ?? 0
  }
}

// Writes of repairs and their reports.
extension SQLTransaction {
  func put(
    _ watermark: DeliveryWatermark, of appID: String, in environment: Environment
  ) throws(StoreError) {
    try run(
      Upsert.sql(
        "delivery_watermark", key: "app, environment",
        """
        app, environment, complete_until, searched_until, last_delivery, typical_interval, full_poll_at,
        unread_since, unread_until
        """), appID, environment, watermark.completeUntil, watermark.searchedUntil, watermark.lastDelivery,
      watermark.typicalInterval, watermark.lastFullPollAt, watermark.unread?.lowerBound,
      watermark.unread?.upperBound)
  }

  func begin(_ repair: Repair) throws(StoreError) -> Repair {
    var begun = repair
    begun.id = try rows("SELECT coalesce(max(repair_id), 0) + 1 FROM repair") { $0.number(0) }.first ?? 1
    try put(begun)
    return begun
  }

  func put(_ repair: Repair) throws(StoreError) {
    try run(
      Upsert.sql("repair", key: "repair_id", columns), repair.id, repair.appID, repair.environment,
      repair.reason.rawValue, repair.from, repair.to,
      repair.onlyFailures, repair.startedAt, repair.finishedAt, repair.phase.rawValue, repair.pageToken,
      repair.received, repair.alreadyKnown, repair.queriedPurchases, repair.error, repair.partialError)
  }

  func delayedRepair(
    for reason: Repair.Reason, of appID: String, in environment: Environment
  ) throws(StoreError) -> Repair? {
    try repairs(
      """
      app = ? AND environment = ? AND finished_at IS NULL AND reason = ? AND phase = ? AND error <> ''
      ORDER BY repair_id DESC LIMIT 1
      """, appID, environment, reason.rawValue, Repair.Phase.history.rawValue
    ).first
  }

  func recordError(
    _ error: String, inUnfinishedRepairsOf appID: String, in environment: Environment
  ) throws(StoreError) {
    try run(
      "UPDATE repair SET error = ? WHERE app = ? AND environment = ? AND finished_at IS NULL", error, appID,
      environment)
  }

  func purgeRepairs(finishedBefore instant: Instant) throws(StoreError) {
    let old = "SELECT repair_id FROM repair WHERE finished_at < ?"
    for table in ["repair_line", "drift", "repair"] {
      try run("DELETE FROM \(table) WHERE repair_id IN (\(old))", instant)
    }
  }

  func enqueue(_ line: LineKey, for repairID: Int64) throws(StoreError) {
    try run(
      "INSERT INTO repair_line (repair_id, line_id) VALUES (?, ?) ON CONFLICT DO NOTHING", repairID,
      line.lineID)
  }

  func enqueueDuePolls(by instant: Instant, for repair: Repair) throws(StoreError) {
    try run(
      """
      INSERT INTO repair_line (repair_id, line_id)
      SELECT ?, line_id FROM poll WHERE app = ? AND environment = ? AND at <= ? ON CONFLICT DO NOTHING
      """, repair.id, repair.appID, repair.environment, instant)
  }

  /// Selects the page twice, because the insert cannot return its last line.
  func enqueueOwnedLines(
    after last: String?, limit: Int, for repair: Repair
  ) throws(StoreError) -> String? {
    let page = """
      SELECT DISTINCT line_id FROM line_customer
      WHERE line_id > ?1 AND app = ?2 AND environment = ?3 ORDER BY line_id LIMIT ?4
      """
    let start = LineKey(appID: repair.appID, environment: repair.environment, lineID: last ?? "")
    let next =
      try rows("SELECT max(line_id) FROM (\(page)) AS page", start, limit) { $0.text(0) }.first ?? nil
    try run(
      """
      INSERT INTO repair_line (repair_id, line_id)
      SELECT ?5, line_id FROM (\(page)) AS page WHERE TRUE ON CONFLICT DO NOTHING
      """, start, limit, repair.id)
    return next
  }

  func dequeue(_ line: LineKey, from repairID: Int64) throws(StoreError) {
    try run("DELETE FROM repair_line WHERE repair_id = ? AND line_id = ?", repairID, line.lineID)
  }

  func dequeueLines(from repairID: Int64) throws(StoreError) {
    try run("DELETE FROM repair_line WHERE repair_id = ?", repairID)
  }

  /// Keeps the first status of an entry: a repair that continues after a crash sees states that it changed.
  func record(_ drift: Drift, in repairID: Int64) throws(StoreError) {
    try run(
      """
      INSERT INTO drift (repair_id, customer_id, entitlement, detected_at, before)
      VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
      """, repairID, drift.customer.customerID, drift.entitlement, drift.detectedAt,
      StatusCoding.encode(drift.before))
  }

  func confirm(_ drift: Drift, in repairID: Int64) throws(StoreError) {
    try run(
      "UPDATE drift SET after = ? WHERE repair_id = ? AND customer_id = ? AND entitlement = ?",
      drift.after.map(StatusCoding.encode), repairID, drift.customer.customerID, drift.entitlement)
  }

  func discard(_ drift: Drift, from repairID: Int64) throws(StoreError) {
    try run(
      "DELETE FROM drift WHERE repair_id = ? AND customer_id = ? AND entitlement = ?", repairID,
      drift.customer.customerID, drift.entitlement)
  }
}
