internal import AppStore
internal import Entitlements
internal import Store

/// Reads evidence. Prepares its statements on each call, because calls are rare.
struct EvidenceQueries {
  private let connection: any SQLConnection
  private let compressor: BodyCompressor

  private static let columns = """
    e.evidence_id, e.app, e.environment, e.customer_id, e.kind, e.source, e.received_at, e.content_hash,
    e.size, e.body, e.rejection, e.compression, coalesce(e.known_at, e.received_at),
    e.is_found_by_content
    """

  init(_ connection: any SQLConnection, _ compressor: BodyCompressor) {
    self.connection = connection
    self.compressor = compressor
  }

  /// Returns at most `limit` pieces of evidence after `id`.
  func page(after id: EvidenceID?, limit: Int) throws(StoreError) -> [StoredEvidence] {
    let select = try connection.prepare(
      "SELECT \(Self.columns) FROM evidence e WHERE evidence_id > ? ORDER BY evidence_id LIMIT ?")
    try select.bind(1, id?.rawValue ?? 0)
    try select.bind(2, Int64(limit))
    return try all(select)
  }

  /// Returns at most `limit` evidence ids after `id`.
  func ids(after id: EvidenceID?, limit: Int) throws(StoreError) -> [EvidenceID] {
    let select = try connection.prepare(
      "SELECT evidence_id FROM evidence WHERE evidence_id > ? ORDER BY evidence_id LIMIT ?")
    try select.bind(1, id?.rawValue ?? 0)
    try select.bind(2, Int64(limit))
    defer { select.reset() }
    var ids: [EvidenceID] = []
    while try select.step() { ids.append(EvidenceID(rawValue: select.number(0))) }
    return ids
  }

  /// Returns one piece of evidence; `nil` if it does not exist.
  func evidence(_ id: EvidenceID) throws(StoreError) -> StoredEvidence? {
    let select = try connection.prepare(
      "SELECT \(Self.columns) FROM evidence e WHERE evidence_id = ?")
    try select.bind(1, id.rawValue)
    return try all(select).first
  }

  /// Returns the accepted evidence about a line.
  func evidence(about line: LineKey) throws(StoreError) -> [StoredEvidence] {
    let select = try connection.prepare(
      """
      SELECT \(Self.columns) FROM line_evidence l JOIN evidence e USING (evidence_id)
      WHERE l.line_id = ? AND l.app = ? AND l.environment = ? ORDER BY e.evidence_id
      """)
    try select.bind(line)
    return try all(select)
  }

  /// Returns the notifications of version 1 about a line.
  func notificationsOfVersion1(about line: LineKey) throws(StoreError) -> [StoredEvidence] {
    let select = try connection.prepare(
      """
      SELECT \(Self.columns) FROM notification n JOIN evidence e USING (evidence_id)
      WHERE n.line_id = ? AND n.app = ? AND n.environment = ? AND n.version = 1 ORDER BY e.evidence_id
      """)
    try select.bind(line)
    return try all(select)
  }

  /// Returns the ids of an app's rejected evidence whose body `isMatch` accepts.
  func rejected(
    of appID: String, where isMatch: ([UInt8]) -> Bool
  ) throws(StoreError) -> [EvidenceID] {
    // In pages, because an engine may fetch all that a statement selects. The order is that of an index.
    let pageSize: Int64 = 500
    let select = try connection.prepare(
      """
      SELECT \(Self.columns) FROM evidence e
      WHERE rejection <> '' AND app = ? AND body IS NOT NULL AND (received_at, evidence_id) > (?, ?)
      ORDER BY received_at, evidence_id LIMIT ?
      """)
    defer { select.reset() }
    try select.bind(1, appID)
    try select.bind(4, pageSize)
    var found: [EvidenceID] = []
    var (last, count): ((receivedAt: Int64, id: Int64), Int64) = ((.min, 0), pageSize)
    while count == pageSize {
      try select.bind(2, last.receivedAt)
      try select.bind(3, last.id)
      count = 0
      while try select.step() {
        count += 1
        last = (select.number(6), select.number(0))
        if let body = try evidence(select).content.body, isMatch(body) {
          found.append(EvidenceID(rawValue: last.id))
        }
      }
      select.reset()
    }
    return found
  }

  /// Returns the evidence that names a customer, including evidence with an unknown environment.
  func naming(_ customer: CustomerKey) throws(StoreError) -> [StoredEvidence] {
    let select = try connection.prepare(
      """
      SELECT \(Self.columns) FROM customer_evidence c JOIN evidence e USING (evidence_id)
      WHERE c.customer_id = ? AND c.app = ? AND c.environment IN (?, '') ORDER BY e.evidence_id
      """)
    try select.bind(customer)
    return try all(select)
  }

  /// Decodes all rows, and decompresses their bodies.
  private func all(_ select: any SQLStatement) throws(StoreError) -> [StoredEvidence] {
    defer { select.reset() }
    var found: [StoredEvidence] = []
    while try select.step() {
      found.append(
        StoredEvidence(
          id: EvidenceID(rawValue: select.number(0)), evidence: try evidence(select),
          knownAt: Instant(millisecondsSince1970: select.number(12)),
          isFoundByContent: select.number(13) == 1))
    }
    return found
  }

  /// Returns the body that other evidence of the same content has; `nil` if none has one. Rejected evidence is stored
  /// without a body that the store has already.
  private func sharedBody(_ hash: [UInt8]) throws(StoreError) -> [UInt8]? {
    let select = try connection.prepare(
      """
      SELECT compression, body FROM evidence
      WHERE content_hash = ? AND is_found_by_content = 1 AND body IS NOT NULL LIMIT 1
      """)
    try select.bind(1, hash)
    defer { select.reset() }
    return try select.step() ? try compressor.decompress(select.number(0), select.bytes(1)) : nil
  }

  /// Decodes the evidence in the current row.
  private func evidence(_ row: any SQLStatement) throws(StoreError) -> Evidence {
    let customer = row.text(3) ?? ""
    let rejection = row.text(10) ?? ""
    let hash = row.bytes(7)
    return Evidence(
      appID: row.text(1) ?? "",
      environment: row.text(2).flatMap(Environment.init(rawValue:)),
      customerID: customer.isEmpty ? nil : customer,
      kind: Evidence.Kind(rawValue: row.text(4) ?? ""),
      source: Evidence.Source(rawValue: row.text(5) ?? ""),
      receivedAt: Instant(millisecondsSince1970: row.number(6)),
      content: EvidenceContent(
        hash: hash, size: Int(row.number(8)),
        body: row.isNull(9)
          ? (rejection.isEmpty ? nil : try sharedBody(hash))
          : try compressor.decompress(row.number(11), row.bytes(9))),
      verdict: rejection.isEmpty ? .accepted : .rejected(reason: rejection))
  }
}

/// Finds the evidence of one fact without decoding the fact.
final class EvidenceLookupRows {
  private let ofTransaction: KeyedRead<TransactionKey, EvidenceID?>
  private let ofGrant: KeyedRead<LineKey, EvidenceID?>
  private let selectFirst: any SQLStatement

  init(_ connection: any SQLConnection, in workspace: Workspace? = nil) throws(StoreError) {
    let ofLine = "line_id = ? AND app = ? AND environment = ?"
    ofTransaction = try KeyedRead(
      "SELECT evidence_id FROM transaction_fact WHERE \(ofLine) AND transaction_id = ?", on: connection,
      in: workspace
    ) { _, row throws(StoreError) in try row.step() ? EvidenceID(rawValue: row.number(0)) : nil }
    ofGrant = try KeyedRead(
      "SELECT evidence_id FROM grant_fact WHERE \(ofLine)", on: connection, in: workspace
    ) { _, row throws(StoreError) in try row.step() ? EvidenceID(rawValue: row.number(0)) : nil }
    // The first evidence of a seat is its claim, and that of a state in another store the report with its revision.
    selectFirst = try connection.prepare(
      "SELECT evidence_id FROM line_evidence WHERE \(ofLine) ORDER BY evidence_id LIMIT 1")
  }

  /// Returns the evidence of a fact after one index lookup; `nil` if the fact is not stored.
  func evidence(of fact: DecidingFact, of customer: CustomerKey) throws(StoreError) -> EvidenceID? {
    switch fact {
    case .transaction(let id, let number):
      let line = customer.line(number)
      guard !line.isSeat else { return try firstEvidence(of: line) }
      return try ofTransaction(TransactionKey(id, of: line))
    case .grant(let id, let revision):
      let line = customer.line(id)
      if revision != 0, let ofState = try firstEvidence(of: line.grantState(revision)) { return ofState }
      return try ofGrant(line)
    }
  }

  /// Keeps the evidence that a customer's answers name, as long as the customer owns the lines.
  func keep(_ evidence: [DecidingFact: EvidenceID], of customer: CustomerKey) {
    for (fact, id) in evidence {
      guard case .transaction(let transactionID, let number) = fact, !customer.line(number).isSeat else {
        continue
      }
      let key = TransactionKey(transactionID, of: customer.line(number))
      if ofTransaction.known(key) == nil { ofTransaction.keep(id, of: key) }
    }
  }

  /// Expects the read of a transaction's evidence.
  func expect(_ transaction: TransactionKey) throws(StoreError) { try ofTransaction.expect(transaction) }

  /// Keeps that a transaction was stored from `evidence`.
  func keep(_ evidence: EvidenceID, of transaction: TransactionKey) {
    ofTransaction.keep(evidence, of: transaction)
  }

  /// Keeps the evidence of a grant that changed; `nil` reads it at the next use.
  func keep(_ evidence: EvidenceID?, ofGrant line: LineKey) {
    if let evidence { ofGrant.keep(evidence, of: line) } else { ofGrant.discard(line) }
  }

  private func firstEvidence(of line: LineKey) throws(StoreError) -> EvidenceID? {
    try selectFirst.bind(line)
    defer { selectFirst.reset() }
    return try selectFirst.step() ? EvidenceID(rawValue: selectFirst.number(0)) : nil
  }
}
