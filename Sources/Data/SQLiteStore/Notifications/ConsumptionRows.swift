internal import AppStore
internal import SQLite
internal import Store

/// Reads and writes `consumption_request` and `consumption_consent`. Prepares its statements on each call,
/// because calls are rare.
struct ConsumptionRows {
  private static let columns = """
    evidence_id, line_id, app, environment, transaction_id, product_id, reason, requested_at,
    state, error, attempts, due_at, settled_at
    """

  private let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  func put(_ request: ConsumptionRequestRecord) throws(StoreError) {
    let put = try Statement(
      """
      INSERT OR REPLACE INTO consumption_request (\(Self.columns))
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, on: connection)
    try put.bind(1, request.id.rawValue)
    let texts = [
      request.line.lineID, request.line.appID, request.line.environment.rawValue,
      request.transactionID, request.productID, request.reason,
    ]
    for (index, text) in texts.enumerated() { try put.bind(CInt(2 + index), text) }
    try put.bind(8, request.requestedAt.millisecondsSince1970)
    try put.bind(9, request.state.rawValue)
    try put.bind(10, request.error)
    try put.bind(11, Int64(request.attempts))
    try put.bind(12, request.dueAt?.millisecondsSince1970)
    try put.bind(13, request.settledAt?.millisecondsSince1970)
    try put.run()
  }

  func consumptionRequest(_ id: EvidenceID) throws(StoreError) -> ConsumptionRequestRecord? {
    let select = try select("evidence_id = ?")
    try select.bind(1, id.rawValue)
    return try rows(of: select).first
  }

  func consumptionRequests(about line: LineKey) throws(StoreError) -> [ConsumptionRequestRecord] {
    let select = try select(
      "line_id = ? AND app = ? AND environment = ? ORDER BY evidence_id")
    try select.bind(line)
    return try rows(of: select)
  }

  func consumptionRequests(
    dueBy instant: Instant, limit: Int
  ) throws(StoreError) -> [ConsumptionRequestRecord] {
    let select = try select("due_at IS NOT NULL AND due_at <= ? ORDER BY due_at LIMIT ?")
    try select.bind(1, instant.millisecondsSince1970)
    try select.bind(2, Int64(limit))
    return try rows(of: select)
  }

  /// Returns the number of open requests by app and environment.
  func open() throws(StoreError) -> [OpenConsumptionRequests] {
    let select = try Statement(
      "SELECT app, environment, count(*) FROM consumption_request WHERE due_at IS NOT NULL GROUP BY 1, 2",
      on: connection)
    defer { select.reset() }
    var open: [OpenConsumptionRequests] = []
    while try select.step() {
      guard let environment = select.text(1).flatMap(Environment.init(rawValue:)) else { continue }
      open.append(
        OpenConsumptionRequests(
          appID: select.text(0) ?? "", environment: environment, count: select.number(2)))
    }
    return open
  }

  /// Returns a page of requests, latest first.
  func page(_ query: ConsumptionRequestFilter) throws(StoreError) -> [ConsumptionRequestRecord] {
    let select = try select(
      """
      app = ?1 AND ifnull(environment = ?2, TRUE) AND ifnull(state = ?3, TRUE) AND ifnull(evidence_id < ?4, TRUE)
      AND (?5 IS NULL OR line_id IN (
        SELECT l.line_id FROM line_customer l
        WHERE l.customer_id = ?5 AND l.app = ?1 AND l.environment = consumption_request.environment))
      ORDER BY evidence_id DESC LIMIT ?6
      """)
    try select.bind(1, query.appID)
    try select.bind(2, query.environment?.rawValue)
    try select.bind(3, query.state?.rawValue)
    try select.bind(4, query.before?.rawValue)
    try select.bind(5, query.customerID)
    try select.bind(6, Int64(query.limit))
    return try rows(of: select)
  }

  func put(_ consent: ConsumptionConsent, of customer: CustomerKey) throws(StoreError) {
    let put = try Statement(
      """
      INSERT OR REPLACE INTO consumption_consent (customer_id, app, environment, given, since, evidence_id)
      VALUES (?, ?, ?, ?, ?, ?)
      """, on: connection)
    try put.bind(customer)
    try put.bind(4, consent.isGiven ? 1 : 0)
    try put.bind(5, consent.since.millisecondsSince1970)
    try put.bind(6, consent.evidenceID.rawValue)
    try put.run()
  }

  /// Returns the latest decision of the customer or of a customer merged into it.
  func consent(of customer: CustomerKey) throws(StoreError) -> ConsumptionConsent? {
    let select = try Statement(
      """
      WITH RECURSIVE name (customer_id) AS (
        VALUES (?1)
        UNION SELECT m.customer_id FROM merged_customer m JOIN name ON m.into_customer_id = name.customer_id
        WHERE m.app = ?2 AND m.environment = ?3)
      SELECT given, since, evidence_id FROM consumption_consent JOIN name USING (customer_id)
      WHERE app = ?2 AND environment = ?3 ORDER BY evidence_id DESC LIMIT 1
      """, on: connection)
    try select.bind(customer)
    defer { select.reset() }
    guard try select.step() else { return nil }
    return ConsumptionConsent(
      isGiven: select.number(0) == 1, since: Instant(millisecondsSince1970: select.number(1)),
      evidenceID: EvidenceID(rawValue: select.number(2)))
  }

  private func select(_ condition: String) throws(StoreError) -> Statement {
    try Statement("SELECT \(Self.columns) FROM consumption_request WHERE \(condition)", on: connection)
  }

  private func rows(of select: Statement) throws(StoreError) -> [ConsumptionRequestRecord] {
    defer { select.reset() }
    var requests: [ConsumptionRequestRecord] = []
    while try select.step() {
      guard let environment = select.text(3).flatMap(Environment.init(rawValue:)),
        let state = select.text(8).flatMap(ConsumptionRequestRecord.State.init(rawValue:))
      else { throw .corrupt("a consumption request has an unknown environment or state") }
      let line = LineKey(
        appID: select.text(2) ?? "", environment: environment, lineID: select.text(1) ?? "")
      requests.append(
        ConsumptionRequestRecord(
          id: EvidenceID(rawValue: select.number(0)), line: line, transactionID: select.text(4) ?? "",
          productID: select.text(5) ?? "", reason: select.text(6) ?? "",
          requestedAt: Instant(millisecondsSince1970: select.number(7)), state: state,
          error: select.text(9) ?? "", attempts: Int(select.number(10)), dueAt: select.instant(11),
          settledAt: select.instant(12)))
    }
    return requests
  }
}

// Consumption requests and consents.
extension SQLiteTransaction {
  func put(_ request: ConsumptionRequestRecord) throws(StoreError) { try consumption.put(request) }

  func consumptionRequest(_ id: EvidenceID) throws(StoreError) -> ConsumptionRequestRecord? {
    try consumption.consumptionRequest(id)
  }

  func consumptionRequests(about line: LineKey) throws(StoreError) -> [ConsumptionRequestRecord] {
    try consumption.consumptionRequests(about: line)
  }

  func put(_ consent: ConsumptionConsent, of customer: CustomerKey) throws(StoreError) {
    try consumption.put(consent, of: customer)
  }

  func consent(of customer: CustomerKey) throws(StoreError) -> ConsumptionConsent? {
    try consumption.consent(of: customer)
  }
}

extension SQLiteReader {
  func consumptionRequests(
    _ query: ConsumptionRequestFilter
  ) throws(StoreError) -> [ConsumptionRequestRecord] {
    try beginTick()
    return try ConsumptionRows(connection).page(query)
  }

  func consumptionRequests(
    dueBy instant: Instant, limit: Int
  ) throws(StoreError) -> [ConsumptionRequestRecord] {
    try beginTick()
    return try ConsumptionRows(connection).consumptionRequests(dueBy: instant, limit: limit)
  }

  func openConsumptionRequests() throws(StoreError) -> [OpenConsumptionRequests] {
    try beginTick()
    return try ConsumptionRows(connection).open()
  }

  func nextConsumptionRequest() throws(StoreError) -> Instant? {
    try beginTick()
    return try earliest(in: "consumption_request")
  }

  func consent(of customer: CustomerKey) throws(StoreError) -> ConsumptionConsent? {
    try beginTick()
    return try ConsumptionRows(connection).consent(of: customer)
  }
}
