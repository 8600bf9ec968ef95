internal import AppStore
internal import SQLite
internal import Store

/// Reads evidence. Rare enough to prepare its statements each time.
struct EvidenceQueries {
  private let connection: Connection
  private let packing: BodyCompressor

  private static let columns = """
    e.evidence_id, e.app, e.environment, e.customer_id, e.kind, e.source, e.received_at, e.content_hash,
    e.size, e.body, e.rejection, e.packing
    """

  init(_ connection: Connection, _ packing: BodyCompressor) {
    self.connection = connection
    self.packing = packing
  }

  /// At most `limit` pieces behind `id`.
  func page(after id: EvidenceID?, limit: Int) throws(StoreError) -> [StoredEvidence] {
    let select = try Statement(
      "SELECT \(Self.columns) FROM evidence e WHERE evidence_id > ? ORDER BY evidence_id LIMIT ?",
      on: connection)
    try select.bind(1, id?.rawValue ?? 0)
    try select.bind(2, Int64(limit))
    return try all(select)
  }

  /// At most `limit` numbers behind `id`.
  func ids(after id: EvidenceID?, limit: Int) throws(StoreError) -> [EvidenceID] {
    let select = try Statement(
      "SELECT evidence_id FROM evidence WHERE evidence_id > ? ORDER BY evidence_id LIMIT ?", on: connection)
    try select.bind(1, id?.rawValue ?? 0)
    try select.bind(2, Int64(limit))
    defer { select.reset() }
    var ids: [EvidenceID] = []
    while try select.step() { ids.append(EvidenceID(rawValue: select.number(0))) }
    return ids
  }

  func evidence(_ id: EvidenceID) throws(StoreError) -> StoredEvidence? {
    let select = try Statement(
      "SELECT \(Self.columns) FROM evidence e WHERE evidence_id = ?", on: connection)
    try select.bind(1, id.rawValue)
    return try all(select).first
  }

  /// What was believed about a line.
  func about(_ line: LineKey) throws(StoreError) -> [StoredEvidence] {
    let select = try Statement(
      """
      SELECT \(Self.columns) FROM line_evidence l JOIN evidence e USING (evidence_id)
      WHERE l.original_transaction_id = ? AND l.app = ? AND l.environment = ? ORDER BY e.evidence_id
      """, on: connection)
    try select.bind(line)
    return try all(select)
  }

  /// What names a customer, also where the environment is not known.
  func naming(_ customer: CustomerKey) throws(StoreError) -> [StoredEvidence] {
    let select = try Statement(
      """
      SELECT \(Self.columns) FROM customer_evidence c JOIN evidence e USING (evidence_id)
      WHERE c.customer_id = ? AND c.app = ? AND c.environment IN (?, '') ORDER BY e.evidence_id
      """, on: connection)
    try select.bind(customer)
    return try all(select)
  }

  private func all(_ select: Statement) throws(StoreError) -> [StoredEvidence] {
    defer { select.reset() }
    var found: [StoredEvidence] = []
    while try select.step() {
      found.append(
        StoredEvidence(id: EvidenceID(rawValue: select.number(0)), evidence: try evidence(select)))
    }
    return found
  }

  /// The evidence in the row that `row` went to.
  private func evidence(_ row: Statement) throws(StoreError) -> Evidence {
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
        hash: row.bytes(7), size: Int(row.number(8)),
        body: row.isNull(9) ? nil : try packing.unpack(row.number(11), row.bytes(9))),
      verdict: rejection.isEmpty ? .accepted : .rejected(reason: rejection))
  }
}
