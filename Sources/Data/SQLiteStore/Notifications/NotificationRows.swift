internal import AppStore
internal import SQLite
internal import Store

/// Writes `notification`.
final class NotificationRows {
  static let columns = """
    evidence_id, app, environment, version, uuid, type, subtype, state, reason, meaning, signed_at,
    received_at, line_id, transaction_id, product_id
    """

  private let findByUUID: Statement
  private let find: Statement
  private let put: Statement

  init(_ connection: Connection) throws(StoreError) {
    findByUUID = try Statement(
      """
      SELECT \(Self.columns) FROM notification
      WHERE uuid = ? AND app = ? AND environment = ? AND uuid <> '' AND state <> 'REJECTED'
      """, on: connection)
    find = try Statement(
      "SELECT \(Self.columns) FROM notification WHERE evidence_id = ?", on: connection)
    put = try Statement(
      """
      INSERT OR REPLACE INTO notification (\(Self.columns))
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, on: connection)
  }

  func notification(
    withUUID uuid: String, of appID: String, in environment: Environment
  ) throws(StoreError) -> NotificationRecord? {
    try findByUUID.bind(1, uuid)
    try findByUUID.bind(2, appID)
    try findByUUID.bind(3, environment.rawValue)
    defer { findByUUID.reset() }
    return try findByUUID.step() ? Self.record(findByUUID) : nil
  }

  func notification(_ evidence: EvidenceID) throws(StoreError) -> NotificationRecord? {
    try find.bind(1, evidence.rawValue)
    defer { find.reset() }
    return try find.step() ? Self.record(find) : nil
  }

  func put(_ record: NotificationRecord) throws(StoreError) {
    try put.bind(1, record.evidenceID.rawValue)
    try put.bind(2, record.appID)
    try put.bind(3, record.environment?.rawValue)
    try put.bind(4, Int64(record.version))
    let texts = [
      record.uuid, record.type, record.subtype, record.state.rawValue, record.reason, record.meaning,
    ]
    for (index, text) in texts.enumerated() { try put.bind(CInt(5 + index), text) }
    try put.bind(11, record.signedDate?.millisecondsSince1970)
    try put.bind(12, record.receivedAt.millisecondsSince1970)
    try put.bind(13, record.originalTransactionID)
    try put.bind(14, record.transactionID)
    try put.bind(15, record.productID)
    try put.run()
  }

  /// Returns a page of notifications, latest first. Prepares its statement on each call, because calls are
  /// rare.
  static func page(
    _ connection: Connection, _ query: NotificationFilter
  ) throws(StoreError) -> [NotificationRecord] {
    var conditions = ["app = ?1"]
    var texts: [CInt: String] = [1: query.appID]
    var numbers: [CInt: Int64] = [:]
    func add(_ position: CInt, _ condition: String) { conditions.append("\(condition) ?\(position)") }
    if let environment = query.environment {
      add(2, "environment =")
      texts[2] = environment.rawValue
    }
    if let type = query.type {
      add(3, "type =")
      texts[3] = type
    }
    if let state = query.state {
      add(4, "state =")
      texts[4] = state.rawValue
    }
    if let from = query.from {
      add(5, "received_at >=")
      numbers[5] = from.millisecondsSince1970
    }
    if let to = query.to {
      add(6, "received_at <")
      numbers[6] = to.millisecondsSince1970
    }
    if let before = query.before {
      add(7, "evidence_id <")
      numbers[7] = before.rawValue
    }
    if let customer = query.customerID {
      conditions.append(
        """
        evidence_id IN (
          SELECT e.evidence_id
          FROM line_customer l JOIN line_evidence e USING (line_id, app, environment)
          WHERE l.customer_id = ?8 AND l.app = ?1
          UNION SELECT n.evidence_id
          FROM line_customer l JOIN notification n USING (line_id, app, environment)
          WHERE l.customer_id = ?8 AND l.app = ?1 AND n.version = 1)
        """)
      texts[8] = customer
    }
    let select = try Statement(
      """
      SELECT \(columns) FROM notification WHERE \(conditions.joined(separator: " AND "))
      ORDER BY evidence_id DESC LIMIT ?9
      """, on: connection)
    for (position, text) in texts { try select.bind(position, text) }
    for (position, number) in numbers { try select.bind(position, number) }
    try select.bind(9, Int64(query.limit))
    defer { select.reset() }
    var page: [NotificationRecord] = []
    while try select.step() { page.append(try record(select)) }
    return page
  }

  /// Decodes the notification in the current row.
  static func record(_ row: Statement) throws(StoreError) -> NotificationRecord {
    guard let state = row.text(7).flatMap(NotificationState.init(rawValue:)) else {
      throw .corrupt("a notification has an unknown state")
    }
    return NotificationRecord(
      evidenceID: EvidenceID(rawValue: row.number(0)), appID: row.text(1) ?? "",
      environment: row.text(2).flatMap(Environment.init(rawValue:)), version: Int(row.number(3)),
      uuid: row.text(4) ?? "", type: row.text(5) ?? "", subtype: row.text(6) ?? "", state: state,
      reason: row.text(8) ?? "", meaning: row.text(9) ?? "",
      signedDate: row.instant(10),
      receivedAt: Instant(millisecondsSince1970: row.number(11)),
      originalTransactionID: row.text(12) ?? "", transactionID: row.text(13) ?? "",
      productID: row.text(14) ?? "")
  }
}
