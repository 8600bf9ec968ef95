internal import AppStore
internal import Reports
internal import Store

private let ofLine = "line_id = ? AND app = ? AND environment = ?"

// The queue of purchases whose postings are to be derived.
extension SQLTransaction {
  func enqueueForReports(_ line: LineKey, from evidence: EvidenceID) throws(StoreError) {
    try run(
      once: """
        INSERT INTO report_queue (line_id, app, environment, evidence_id) VALUES (?, ?, ?, ?)
        ON CONFLICT (line_id, app, environment, evidence_id) DO NOTHING
        """, line, evidence)
  }

  func reportQueue(in domain: ClockDomain, limit: Int) throws(StoreError) -> [PendingReportEvidence] {
    try rows(
      once: """
        \(Self.pending) (
          SELECT * FROM report_queue WHERE \(domain.condition)
          ORDER BY evidence_id, line_id, app, environment LIMIT ?
        ) AS q JOIN evidence AS e ON e.evidence_id = q.evidence_id ORDER BY q.evidence_id, q.line_id
        """, limit, decode: Self.pending)
  }

  func queuedPurchases(
    in domain: ClockDomain, after line: LineKey?, limit: Int
  ) throws(StoreError) -> [QueuedPurchase] {
    let (id, appID, environment) = Self.place(line)
    let rows = try rows(
      once: """
        SELECT \(Self.pendingColumns), l.due_at, l.standing, \(Self.startColumns)
        FROM (
          SELECT line_id, app, environment, evidence_id FROM report_queue
          WHERE (line_id, app, environment) > (?, ?, ?) AND \(domain.condition)
          ORDER BY line_id, app, environment, evidence_id LIMIT ?
        ) AS q JOIN evidence AS e ON e.evidence_id = q.evidence_id
          LEFT JOIN report_line AS l
            ON l.line_id = q.line_id AND l.app = q.app AND l.environment = q.environment
        ORDER BY q.line_id, q.app, q.environment, q.evidence_id
        """, id, appID, environment, limit
    ) { row throws(StoreError) in
      let evidence = try Self.pending(row)
      return (evidence, Self.start(evidence.line, row, at: 7))
    }
    var purchases: [QueuedPurchase] = []
    for (evidence, start) in rows {
      if purchases.last?.start.line == evidence.line {
        purchases[purchases.count - 1].evidence.append(evidence)
      } else {
        purchases.append(QueuedPurchase(start, [evidence]))
      }
    }
    return purchases
  }

  /// The rows that the derivation of most purchases reads besides the state and the facts: a statement for each
  /// takes longer.
  ///
  /// The first column is the instant from which one customer owned the purchase, or NULL after other changes of its owners.
  private static let startColumns = """
    (SELECT CASE WHEN count(*) = 0 THEN \(Instant.distantFuture.millisecondsSince1970)
       WHEN count(*) = 1 AND min(c.gained) = 1 THEN CASE WHEN min(c.evidence_id) = (
           SELECT f.evidence_id FROM line_evidence AS f
           WHERE f.line_id = q.line_id AND f.app = q.app AND f.environment = q.environment
           ORDER BY f.evidence_id LIMIT 1) THEN \(distantPast)
         ELSE min(c.at) END
       END
     FROM ownership_change AS c
     WHERE c.line_id = q.line_id AND c.app = q.app AND c.environment = q.environment),
    EXISTS (SELECT 1 FROM consumption_request AS r
      WHERE r.line_id = q.line_id AND r.app = q.app AND r.environment = q.environment),
    EXISTS (SELECT 1 FROM app_install_line AS own JOIN app_install_line AS other
        ON other.app_transaction_id = own.app_transaction_id AND other.app = own.app
          AND other.environment = own.environment
      WHERE own.line_id = q.line_id AND own.app = q.app AND own.environment = q.environment
        AND other.line_id <> q.line_id)
    """

  /// ``Instant/distantPast`` in SQL. A literal has no sign, so that of the smallest number would exceed 64 bits.
  private static let distantPast = "(\(Int64.min + 1) - 1)"

  /// Decodes due time, standing postings and ``startColumns`` from the column `first` on.
  private static func start(
    _ line: LineKey, _ row: any SQLStatement, at first: CInt
  ) -> DerivationStart {
    DerivationStart(
      line, ReportLineState(due: row.instant(first), standing: fingerprints(row.bytes(first + 1))),
      claims: row.instant(first + 2).map(PurchaseClaims.init(ownedFrom:)),
      hasRefundRequests: row.number(first + 3) != 0, isOnlyOfPayer: row.number(first + 4) == 0)
  }

  func removeQueuedPurchases(
    in domain: ClockDomain, after first: LineKey?, through last: LineKey
  ) throws(StoreError) {
    let (id, appID, environment) = Self.place(first)
    try run(
      once: """
        DELETE FROM report_queue
        WHERE (line_id, app, environment) > (?, ?, ?) AND (line_id, app, environment) <= (?, ?, ?)
          AND \(domain.condition)
        """, id, appID, environment, last)
  }

  /// The key after which a page begins; that before all keys for `nil`.
  private static func place(_ line: LineKey?) -> (String, String, String) {
    line.map { ($0.lineID, $0.appID, $0.environment.rawValue) } ?? ("", "", "")
  }

  func pendingReportEvidence(
    of lines: Set<LineKey>
  ) throws(StoreError) -> [LineKey: [PendingReportEvidence]] {
    try rows(once: Self.pendingOfLine, ofEach: lines) { _, row throws(StoreError) in try Self.pending(row) }
  }

  private static let pendingOfLine = """
    \(pending) (SELECT * FROM report_queue WHERE \(ofLine)) AS q
    JOIN evidence AS e ON e.evidence_id = q.evidence_id ORDER BY q.evidence_id
    """

  private static let pending = "SELECT \(pendingColumns) FROM"

  private static let pendingColumns = """
    q.evidence_id, q.line_id, q.app, q.environment, coalesce(e.known_at, e.received_at), e.source, e.kind
    """

  private static func pending(_ row: any SQLStatement) throws(StoreError) -> PendingReportEvidence {
    PendingReportEvidence(
      id: EvidenceID(rawValue: row.number(0)),
      line: LineKey(appID: row.text(2) ?? "", environment: try row.value(3), lineID: row.text(1) ?? ""),
      knownAt: Instant(millisecondsSince1970: row.number(4)),
      source: Evidence.Source(rawValue: row.text(5) ?? ""), kind: Evidence.Kind(rawValue: row.text(6) ?? ""))
  }

  func reportsDue(
    by now: Instant, in domain: ClockDomain, limit: Int
  ) throws(StoreError) -> [DerivationStart] {
    try rows(
      once: """
        SELECT q.line_id, q.app, q.environment, l.due_at, l.standing, \(Self.startColumns)
        FROM (
          SELECT line_id, app, environment, due_at FROM report_line
          WHERE due_at <= ? AND \(domain.condition) ORDER BY due_at, line_id LIMIT ?
        ) AS q JOIN report_line AS l
          ON l.line_id = q.line_id AND l.app = q.app AND l.environment = q.environment
        ORDER BY q.due_at, q.line_id
        """, now, limit
    ) { row throws(StoreError) in
      let line = LineKey(
        appID: row.text(1) ?? "", environment: try row.value(2), lineID: row.text(0) ?? "")
      return Self.start(line, row, at: 3)
    }
  }

  func prepareFacts(of lines: [LineKey]) throws(StoreError) {
    guard let workspace else { return }
    workspace.makeRoom()
    for line in lines where line.isPurchase { try fact.expect(line) }
    try workspace.fetch()
  }

  func claims(of line: LineKey) throws(StoreError) -> PurchaseClaims {
    PurchaseClaims(
      try rows(once: Self.claims, line) { row in
        (gained: row.number(0) == 1, at: row.number(2) == 1 ? nil : row.instant(1))
      })
  }

  private static let claims = """
    SELECT gained, at, CASE WHEN evidence_id = (
      SELECT min(e.evidence_id) FROM line_evidence AS e
      WHERE e.line_id = c.line_id AND e.app = c.app AND e.environment = c.environment) THEN 1 ELSE 0 END
    FROM ownership_change AS c WHERE \(ofLine) ORDER BY change_id
    """

  func put(_ state: ReportLineState, of line: LineKey) throws(StoreError) {
    try run(once: Self.putState, line, state.due, Self.bytes(state.standing))
  }

  private static let putState = Upsert.sql(
    "report_line", key: "line_id, app, environment", "line_id, app, environment, due_at, standing")

  private static func bytes(_ fingerprints: [UInt64]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(8 * fingerprints.count)
    for fingerprint in fingerprints {
      withUnsafeBytes(of: fingerprint.littleEndian) { bytes.append(contentsOf: $0) }
    }
    return bytes
  }

  private static func fingerprints(_ bytes: [UInt8]) -> [UInt64] {
    bytes.withUnsafeBytes { bytes in
      (0..<bytes.count / 8).map {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8 * $0, as: UInt64.self))
      }
    }
  }

  func earliestReportWork(in domain: ClockDomain) throws(StoreError) -> Instant? {
    let known = try rows(
      """
      SELECT min(coalesce(e.known_at, e.received_at))
      FROM (SELECT evidence_id FROM report_queue WHERE \(domain.condition)) AS q
      JOIN evidence AS e ON e.evidence_id = q.evidence_id
      """
    ) { $0.instant(0) }
    let due = try rows("SELECT min(due_at) FROM report_line WHERE due_at IS NOT NULL AND \(domain.condition)")
    { $0.instant(0) }
    let changed = try rows(
      "SELECT min(since) FROM report_catalog WHERE reviewed IS NOT NULL AND \(domain.condition)"
    ) { $0.instant(0) }
    return (known + due + changed).compactMap(\.self).min()
  }

  func removeReportEvidence(of line: LineKey) throws(StoreError) {
    try run(once: "DELETE FROM report_queue WHERE \(ofLine)", line)
  }

  func payers(of lines: Set<LineKey>) throws(StoreError) -> [LineKey: [DerivationStart]] {
    let found = try rows(once: Self.payer, ofEach: lines) { line, row in
      Self.start(line.other(row.text(0) ?? ""), row, at: 1)
    }
    // The order of texts in SQL depends on the engine.
    return found.mapValues { $0.sorted { $0.line.lineID < $1.line.lineID } }
  }

  private static let payer = """
    SELECT q.line_id, l.due_at, l.standing, \(startColumns)
    FROM (
      SELECT CAST(?1 AS TEXT) AS line_id, CAST(?2 AS TEXT) AS app, CAST(?3 AS TEXT) AS environment
      UNION SELECT other.line_id, other.app, other.environment
      FROM app_install_line AS own JOIN app_install_line AS other
        ON other.app_transaction_id = own.app_transaction_id AND other.app = own.app
          AND other.environment = own.environment
      WHERE own.line_id = ?1 AND own.app = ?2 AND own.environment = ?3
    ) AS q LEFT JOIN report_line AS l
      ON l.line_id = q.line_id AND l.app = q.app AND l.environment = q.environment
    """

  func purchases(
    of appID: String, in environment: Environment, after last: String, limit: Int
  ) throws(StoreError) -> [LineKey] {
    try rows(
      """
      SELECT line_id FROM (
        SELECT DISTINCT line_id FROM transaction_fact WHERE app = ? AND environment = ? AND line_id > ?
        ORDER BY line_id LIMIT ?
      ) AS purchase
      UNION ALL SELECT ? || app_transaction_id FROM consent_withdrawal
      WHERE app = ? AND environment = ? AND ? || app_transaction_id > ?
      ORDER BY line_id LIMIT ?
      """, appID, environment, last, limit, LineKey.appTransactionPrefix, appID, environment,
      LineKey.appTransactionPrefix, last, limit
    ) { LineKey(appID: appID, environment: environment, lineID: $0.text(0) ?? "") }
  }
}
