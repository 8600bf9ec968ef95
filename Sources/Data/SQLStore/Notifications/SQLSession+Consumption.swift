internal import AppStore
internal import Store

private let columns = """
  evidence_id, line_id, app, environment, transaction_id, product_id, reason, requested_at, state, error,
  attempts, due_at, settled_at
  """

extension SQLSession {
  /// Returns the latest decision of the customer or of a customer merged into it.
  func consent(of customer: CustomerKey) throws(StoreError) -> ConsumptionConsent? {
    try rows(
      """
      WITH RECURSIVE \(mergedNames)
      SELECT given, since, evidence_id FROM consumption_consent
      WHERE app = ?2 AND environment = ?3 AND (customer_id = ?1 OR customer_id IN (SELECT customer_id FROM name))
      ORDER BY evidence_id DESC LIMIT 1
      """, customer
    ) { row in
      ConsumptionConsent(
        isGiven: row.number(0) == 1, since: Instant(millisecondsSince1970: row.number(1)),
        evidenceID: EvidenceID(rawValue: row.number(2)))
    }.first
  }

  /// Returns the requests that match a condition.
  fileprivate func consumptionRequests(
    _ condition: String, _ values: any StatementValue...
  ) throws(StoreError) -> [ConsumptionRequestRecord] {
    try consumptionRequests(condition, binding: values)
  }

  /// The same for variable values.
  fileprivate func consumptionRequests(
    _ condition: String, binding values: [any StatementValue]
  ) throws(StoreError) -> [ConsumptionRequestRecord] {
    try rows(
      "SELECT \(columns) FROM consumption_request WHERE \(condition)", binding: values
    ) { row throws(StoreError) in try ConsumptionRequestRecord(row) }
  }
}

extension ConsumptionRequestRecord {
  fileprivate init(_ row: any SQLStatement) throws(StoreError) {
    let line = LineKey(appID: row.text(2) ?? "", environment: try row.value(3), lineID: row.text(1) ?? "")
    self.init(
      id: EvidenceID(rawValue: row.number(0)), line: line, transactionID: row.text(4) ?? "",
      productID: row.text(5) ?? "", reason: row.text(6) ?? "",
      requestedAt: Instant(millisecondsSince1970: row.number(7)), state: try row.value(8),
      error: row.text(9) ?? "", attempts: Int(row.number(10)), dueAt: row.instant(11),
      settledAt: row.instant(12))
  }
}

/// The order of a list of consumption requests, in SQL.
private struct ConsumptionRequestOrder {
  /// The rows that can be in the list.
  let condition: String
  /// The rows that follow the request ?4, which is the last one of the previous page.
  let follows: String
  let columns: String

  static let latest = ConsumptionRequestOrder(
    condition: "TRUE", follows: "evidence_id < ?4", columns: "evidence_id DESC")

  /// All open requests have the same time for an answer, and are due. As a list of ids, because otherwise SQLite could
  /// read the whole table for them.
  static let deadline = ConsumptionRequestOrder(
    condition: "evidence_id IN (SELECT evidence_id FROM consumption_request WHERE due_at IS NOT NULL)",
    follows: """
      (requested_at, evidence_id) > (SELECT requested_at, evidence_id FROM consumption_request WHERE evidence_id = ?4)
      """,
    columns: "requested_at, evidence_id")
}

// Reads of consumption requests.
extension SQLReader {
  func consumptionRequests(
    _ query: ConsumptionRequestFilter
  ) throws(StoreError) -> [ConsumptionRequestRecord] {
    var values: [any StatementValue] = [
      query.appID, query.environment, query.state?.rawValue, query.after, query.limit,
    ]
    // A condition on the customer that could be NULL would make SQLite read the whole table.
    let ofCustomers = query.customers.map { customer in
      values.append(customer.customerID)
      values.append(customer.environment)
      return """
        SELECT r.evidence_id FROM line_customer l JOIN consumption_request r USING (line_id, app, environment)
        WHERE l.customer_id = ?\(values.count - 1) AND l.app = ?1 AND l.environment = ?\(values.count)
        """
    }
    let ofCustomer =
      ofCustomers.isEmpty ? "TRUE" : "evidence_id IN (\(ofCustomers.joined(separator: " UNION ALL ")))"
    let order = query.state == .open ? ConsumptionRequestOrder.deadline : .latest
    return try consumptionRequests(
      """
      app = ?1 AND coalesce(environment = ?2, TRUE) AND coalesce(state = ?3, TRUE) AND coalesce(\(order.follows), TRUE)
      AND \(order.condition) AND \(ofCustomer) ORDER BY \(order.columns) LIMIT ?5
      """, binding: values)
  }

  func consumptionRequests(
    dueBy instant: Instant, in domain: ClockDomain, limit: Int
  ) throws(StoreError) -> [ConsumptionRequestRecord] {
    try consumptionRequests(
      "due_at IS NOT NULL AND due_at <= ? AND \(domain.condition) ORDER BY due_at LIMIT ?", instant, limit)
  }

  func openConsumptionRequests() throws(StoreError) -> [OpenDuties] {
    try openDuties(in: "consumption_request", where: "due_at IS NOT NULL", since: "requested_at")
  }

  func nextConsumptionRequest(in domain: ClockDomain) throws(StoreError) -> Instant? {
    try earliest(in: "consumption_request", where: domain.condition)
  }
}

// Consumption requests and consents in a write.
extension SQLTransaction {
  func consumptionRequest(_ id: EvidenceID) throws(StoreError) -> ConsumptionRequestRecord? {
    try consumptionRequests("evidence_id = ?", id).first
  }

  func consumptionRequests(about line: LineKey) throws(StoreError) -> [ConsumptionRequestRecord] {
    try rows(once: Self.requestsOfLine, line) { row throws(StoreError) in try ConsumptionRequestRecord(row) }
  }

  private static let requestsOfLine = """
    SELECT \(columns) FROM consumption_request
    WHERE line_id = ? AND app = ? AND environment = ? ORDER BY evidence_id
    """

  func consumptionRequests(
    missedAfter instant: Instant, orDueAfter limit: Instant, in domain: ClockDomain
  ) throws(StoreError) -> [ConsumptionRequestRecord] {
    try consumptionRequests("\(Self.missedRequests) AND \(domain.condition)", instant)
      + consumptionRequests("due_at > ? AND \(domain.condition)", limit)
  }

  /// The condition of the index `missed_consumption_request`.
  static let missedRequests = "state = '\(ConsumptionRequestRecord.State.missed.rawValue)' AND settled_at > ?"

  func put(_ request: ConsumptionRequestRecord) throws(StoreError) {
    try run(
      Upsert.sql("consumption_request", key: "evidence_id", columns), request.id, request.line,
      request.transactionID, request.productID, request.reason,
      request.requestedAt, request.state.rawValue, request.error, request.attempts, request.dueAt,
      request.settledAt)
  }

  func setDue(consumptionRequestsAbout line: LineKey, at instant: Instant) throws(StoreError) {
    try run(once: Self.setDueOfLine, instant, line)
  }

  /// Without a read, because each new link of a purchase runs it. Only open requests are due.
  private static let setDueOfLine = """
    UPDATE consumption_request SET due_at = ?
    WHERE line_id = ? AND app = ? AND environment = ? AND due_at IS NOT NULL
    """

  func put(_ consent: ConsumptionConsent, of customer: CustomerKey) throws(StoreError) {
    try run(
      Upsert.sql(
        "consumption_consent", key: "customer_id, app, environment",
        "customer_id, app, environment, given, since, evidence_id"), customer, consent.isGiven, consent.since,
      consent.evidenceID)
  }
}
