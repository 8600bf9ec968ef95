internal import AppStore
internal import Store

/// Writes `notification`.
final class NotificationRows {
  static let columns = """
    evidence_id, app, environment, version, uuid, type, subtype, state, reason, meaning, signed_at,
    received_at, line_id, transaction_id, product_id
    """

  /// Finds accepted notifications by UUID.
  let byUUID: KeyedRead<ScopedID, NotificationRecord?>
  private let find: any SQLStatement
  private let put: any SQLStatement

  init(_ connection: any SQLConnection, in workspace: Workspace? = nil) throws(StoreError) {
    byUUID = try KeyedRead(
      """
      SELECT \(Self.columns) FROM notification
      WHERE uuid = ? AND app = ? AND environment = ? AND uuid <> '' AND state <> 'REJECTED'
      """, on: connection, in: workspace
    ) { _, row throws(StoreError) in try row.step() ? Self.record(row) : nil }
    find = try connection.prepare(
      "SELECT \(Self.columns) FROM notification WHERE evidence_id = ?")
    put = try connection.prepare(
      Upsert.sql("notification", key: "evidence_id", Self.columns))
  }

  /// Returns the record of a body; `nil` if the evidence is no notification.
  func notification(_ evidence: EvidenceID) throws(StoreError) -> NotificationRecord? {
    try find.bind(1, evidence.rawValue)
    defer { find.reset() }
    return try find.step() ? Self.record(find) : nil
  }

  /// Inserts or replaces the record of its evidence. Throws a constraint error if another accepted one has the same
  /// UUID; the ledger searches for it before.
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
    guard let environment = record.environment, !record.uuid.isEmpty else { return }
    let id = ScopedID(record.uuid, of: record.appID, in: environment)
    if record.state == .rejected { byUUID.discard(id) } else { byUUID.keep(record, of: id) }
  }

  /// Decodes the notification in the current row.
  static func record(_ row: any SQLStatement) throws(StoreError) -> NotificationRecord {
    NotificationRecord(
      evidenceID: EvidenceID(rawValue: row.number(0)), appID: row.text(1) ?? "",
      environment: row.text(2).flatMap(Environment.init(rawValue:)), version: Int(row.number(3)),
      uuid: row.text(4) ?? "", type: row.text(5) ?? "", subtype: row.text(6) ?? "", state: try row.value(7),
      reason: row.text(8) ?? "", meaning: row.text(9) ?? "",
      signedDate: row.instant(10),
      receivedAt: Instant(millisecondsSince1970: row.number(11)),
      originalTransactionID: row.text(12) ?? "", transactionID: row.text(13) ?? "",
      productID: row.text(14) ?? "")
  }
}
