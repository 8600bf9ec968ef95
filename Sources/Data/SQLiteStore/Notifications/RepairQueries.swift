internal import AppStore
internal import SQLite
internal import Store

/// Reads `repair`, `repair_line`, `drift` and `delivery_watermark`. Prepares its statements on each call,
/// because calls are rare.
struct RepairQueries {
  static let columns = """
    repair_id, app, environment, reason, since, until, only_failures, started_at, finished_at, phase,
    page_token, received, already_known, queried_purchases, error
    """

  private let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  func repair(_ id: Int64) throws(StoreError) -> Repair? {
    let select = try Statement(
      "SELECT \(Self.columns) FROM repair WHERE repair_id = ?", on: connection)
    try select.bind(1, id)
    return try repairs(select).first
  }

  func page(
    of appID: String, in environment: Environment?, before: Int64?, limit: Int
  ) throws(StoreError) -> [Repair] {
    let select = try Statement(
      """
      SELECT \(Self.columns) FROM repair
      WHERE app = ?1 AND (?2 IS NULL OR environment = ?2) AND repair_id < ?3
      ORDER BY repair_id DESC LIMIT ?4
      """, on: connection)
    try select.bind(1, appID)
    try select.bind(2, environment?.rawValue)
    try select.bind(3, before ?? .max)
    try select.bind(4, Int64(limit))
    return try repairs(select)
  }

  func open(of appID: String, in environment: Environment) throws(StoreError) -> Repair? {
    let select = try Statement(
      """
      SELECT \(Self.columns) FROM repair
      WHERE app = ? AND environment = ? AND finished_at IS NULL ORDER BY repair_id LIMIT 1
      """, on: connection)
    try select.bind(1, appID)
    try select.bind(2, environment.rawValue)
    return try repairs(select).first
  }

  func queuedLines(
    of repair: Repair, after last: String?, limit: Int
  ) throws(StoreError) -> [LineKey] {
    let select = try Statement(
      """
      SELECT line_id FROM repair_line
      WHERE repair_id = ? AND line_id > ? ORDER BY line_id LIMIT ?
      """, on: connection)
    try select.bind(1, repair.id)
    try select.bind(2, last ?? "")
    try select.bind(3, Int64(limit))
    defer { select.reset() }
    var lines: [LineKey] = []
    while try select.step() {
      lines.append(
        LineKey(
          appID: repair.appID, environment: repair.environment, lineID: select.text(0) ?? ""))
    }
    return lines
  }

  func drifts(of repair: Repair, after last: Drift.Key?, limit: Int) throws(StoreError) -> [Drift] {
    let select = try Statement(
      """
      SELECT customer_id, entitlement, detected_at, before, after FROM drift
      WHERE repair_id = ? AND (customer_id, entitlement) > (?, ?) ORDER BY customer_id, entitlement LIMIT ?
      """, on: connection)
    try select.bind(1, repair.id)
    try select.bind(2, last?.customerID ?? "")
    try select.bind(3, last?.entitlement ?? "")
    try select.bind(4, Int64(limit))
    defer { select.reset() }
    var drifts: [Drift] = []
    while try select.step() {
      drifts.append(
        Drift(
          customer: CustomerKey(
            appID: repair.appID, environment: repair.environment, customerID: select.text(0) ?? ""),
          entitlement: select.text(1) ?? "", detectedAt: Instant(millisecondsSince1970: select.number(2)),
          before: try StatusCoding.status(select.bytes(3)),
          after: select.isNull(4) ? nil : try StatusCoding.status(select.bytes(4))))
    }
    return drifts
  }

  func driftedCustomers(of repair: Repair) throws(StoreError) -> Int64 {
    let select = try Statement(
      "SELECT count(DISTINCT customer_id) FROM drift WHERE repair_id = ?", on: connection)
    try select.bind(1, repair.id)
    defer { select.reset() }
    return try select.step() ? select.number(0) : 0
  }

  func watermark(of appID: String, in environment: Environment) throws(StoreError) -> DeliveryWatermark? {
    let select = try Statement(
      """
      SELECT complete_until, searched_until, last_delivery, typical_interval, full_poll_at FROM delivery_watermark
      WHERE app = ? AND environment = ?
      """, on: connection)
    try select.bind(1, appID)
    try select.bind(2, environment.rawValue)
    defer { select.reset() }
    guard try select.step() else { return nil }
    var mark = DeliveryWatermark(start: Instant(millisecondsSince1970: select.number(0)))
    mark.searchedUntil = Instant(millisecondsSince1970: select.number(1))
    mark.lastDelivery = select.instant(2)
    mark.typicalInterval = select.isNull(3) ? nil : select.number(3)
    mark.lastFullPollAt = select.instant(4)
    return mark
  }

  private func repairs(_ select: Statement) throws(StoreError) -> [Repair] {
    defer { select.reset() }
    var repairs: [Repair] = []
    while try select.step() { repairs.append(try repair(select)) }
    return repairs
  }

  /// Decodes the repair in the current row.
  private func repair(_ row: Statement) throws(StoreError) -> Repair {
    guard let environment = row.text(2).flatMap(Environment.init(rawValue:)),
      let reason = row.text(3).flatMap(Repair.Reason.init(rawValue:)),
      let phase = row.text(9).flatMap(Repair.Phase.init(rawValue:))
    else { throw .corrupt("a repair has an unknown environment, reason or phase") }
    var repair = Repair(
      id: row.number(0), appID: row.text(1) ?? "", environment: environment, reason: reason,
      from: Instant(millisecondsSince1970: row.number(4)), to: Instant(millisecondsSince1970: row.number(5)),
      onlyFailures: row.number(6) == 1, startedAt: Instant(millisecondsSince1970: row.number(7)))
    repair.finishedAt = row.instant(8)
    repair.phase = phase
    repair.pageToken = row.text(10)
    repair.received = row.number(11)
    repair.alreadyKnown = row.number(12)
    repair.queriedPurchases = row.number(13)
    repair.error = row.text(14) ?? ""
    return repair
  }
}
