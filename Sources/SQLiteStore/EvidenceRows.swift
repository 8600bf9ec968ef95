internal import AppStore
internal import Store

/// The rows of `evidence`, seen by the writer.
final class EvidenceRows {
  private let connection: Connection
  private let find: Statement
  private let insert: Statement

  init(_ connection: Connection) throws(StoreError) {
    self.connection = connection
    find = try Statement(
      """
      SELECT evidence_id FROM evidence
      WHERE content_hash = ? AND app = ? AND kind = ? AND customer_id = ? AND rejection = ?
      """, on: connection)
    insert = try Statement(
      """
      INSERT INTO evidence (
        content_hash, app, kind, customer_id, rejection, environment, source, received_at, size, body)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, on: connection)
  }

  func append(_ evidence: Evidence) throws(StoreError) -> AppendedEvidence {
    if let id = try known(evidence) { return AppendedEvidence(id: id, wasKnown: true) }
    try bindIdentity(of: evidence, to: insert)
    try insert.bind(6, evidence.environment?.rawValue)
    try insert.bind(7, evidence.source.rawValue)
    try insert.bind(8, evidence.receivedAt.millisecondsSince1970)
    try insert.bind(9, Int64(evidence.content.size))
    try insert.bind(10, evidence.content.body)
    try insert.run()
    return AppendedEvidence(id: EvidenceID(rawValue: connection.lastInsertedRow), wasKnown: false)
  }

  private func known(_ evidence: Evidence) throws(StoreError) -> EvidenceID? {
    try bindIdentity(of: evidence, to: find)
    defer { find.reset() }
    return try find.step() ? EvidenceID(rawValue: find.number(0)) : nil
  }

  private func bindIdentity(of evidence: Evidence, to statement: Statement) throws(StoreError) {
    try statement.bind(1, evidence.content.hash)
    try statement.bind(2, evidence.appID)
    try statement.bind(3, evidence.kind.rawValue)
    try statement.bind(4, evidence.customerID ?? "")
    switch evidence.verdict {
    case .accepted: try statement.bind(5, "")
    case .rejected(let reason): try statement.bind(5, reason)
    }
  }
}

/// Reads at most `limit` pieces of evidence behind `id`. Rare enough to prepare its statement each time.
func evidencePage(
  _ connection: Connection, after id: EvidenceID?, limit: Int
) throws(StoreError) -> [StoredEvidence] {
  let select = try Statement(
    """
    SELECT evidence_id, app, environment, customer_id, kind, source, received_at, content_hash, size,
      body, rejection
    FROM evidence WHERE evidence_id > ? ORDER BY evidence_id LIMIT ?
    """, on: connection)
  try select.bind(1, id?.rawValue ?? 0)
  try select.bind(2, Int64(limit))
  defer { select.reset() }
  var page: [StoredEvidence] = []
  while try select.step() {
    page.append(StoredEvidence(id: EvidenceID(rawValue: select.number(0)), evidence: evidence(select)))
  }
  return page
}

/// The evidence in the row that `row` went to.
private func evidence(_ row: Statement) -> Evidence {
  let customer = row.text(3) ?? ""
  let rejection = row.text(10) ?? ""
  return Evidence(
    appID: row.text(1) ?? "",
    environment: row.text(2).flatMap(Environment.init(rawValue:)),
    customerID: customer.isEmpty ? nil : customer,
    kind: Evidence.Kind(rawValue: row.text(4) ?? ""),
    source: Evidence.Source(rawValue: row.text(5) ?? ""),
    receivedAt: Instant(millisecondsSince1970: row.number(6)),
    content: EvidenceContent(
      hash: row.bytes(7), size: Int(row.number(8)), body: row.isNull(9) ? nil : row.bytes(9)),
    verdict: rejection.isEmpty ? .accepted : .rejected(reason: rejection))
}
