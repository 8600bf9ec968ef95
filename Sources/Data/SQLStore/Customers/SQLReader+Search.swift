internal import AppStore
internal import Entitlements
internal import Store

/// The tables that name customers. Each has an index that begins with these columns.
private let tablesWithCustomers = [
  "customer_evidence", "line_customer", "account_token", "merged_customer", "event",
]

// Searches by an id of any app and environment.
extension SQLReader {
  func customers(
    startingWith prefix: String, after last: CustomerKey?, limit: Int, where isIncluded: (CustomerKey) -> Bool
  ) throws(StoreError) -> [CustomerKey] {
    var found: Set<CustomerKey> = []
    for table in tablesWithCustomers {
      found.formUnion(
        try customers(startingWith: prefix, after: last, in: table, limit: limit, where: isIncluded))
    }
    return Array(found.sorted { $0.searchKey.lexicographicallyPrecedes($1.searchKey) }.prefix(limit))
  }

  /// Seeks from one customer to the next, because a customer can have many rows.
  private func customers(
    startingWith prefix: String, after last: CustomerKey?, in table: String, limit: Int,
    where isIncluded: (CustomerKey) -> Bool
  ) throws(StoreError) -> [CustomerKey] {
    let select = try use().prepare(
      """
      SELECT customer_id, app, environment FROM \(table)
      WHERE (customer_id, app, environment) > (?, ?, ?) ORDER BY customer_id, app, environment LIMIT 1
      """)
    var (id, app, environment) =
      last.map { ($0.customerID, $0.appID, $0.environment.rawValue) } ?? (prefix, "", "")
    var found: [CustomerKey] = []
    while found.count < limit {
      try select.bind(1, id)
      try select.bind(2, app)
      try select.bind(3, environment)
      defer { select.reset() }
      guard try select.step() else { break }
      (id, app, environment) = (select.text(0) ?? "", select.text(1) ?? "", select.text(2) ?? "")
      guard id.utf8.starts(with: prefix.utf8) else { break }
      guard let known = Environment(rawValue: environment) else { continue }
      let customer = CustomerKey(appID: app, environment: known, customerID: id)
      if isIncluded(customer) { found.append(customer) }
    }
    return found
  }

  func customers(withToken token: String) throws(StoreError) -> [CustomerKey] {
    try rows("SELECT customer_id, app, environment FROM account_token WHERE token = ?", token) {
      row throws(StoreError) in try row.customer()
    }
  }

  func unclaimedLines(withToken token: String) throws(StoreError) -> [LineKey] {
    try rows(
      "SELECT line_id, app, environment FROM unclaimed_line WHERE token = ? AND token <> ''", token
    ) { row throws(StoreError) in try row.line() }
  }

  func lines(withID lineID: String) throws(StoreError) -> [LineKey] {
    try rows(
      """
      SELECT DISTINCT line_id, app, environment FROM line_record
      WHERE line_id = ? AND kind IN (\(LineRecordKind.renewal), \(LineRecordKind.transaction))
      """, lineID
    ) { row throws(StoreError) in try row.line() }
  }

  func transactions(withID transactionID: String) throws(StoreError) -> [FoundTransaction] {
    try transactions("id = ?", transactionID)
  }

  func transactions(withLineItem lineItem: String) throws(StoreError) -> [FoundTransaction] {
    try transactions("line_item = ?", lineItem)
  }

  private func transactions(
    _ condition: String, _ value: String
  ) throws(StoreError) -> [FoundTransaction] {
    try rows(
      """
      SELECT line_id, app, environment, fact FROM line_record
      WHERE kind = \(LineRecordKind.transaction) AND \(condition)
      """, value
    ) { row throws(StoreError) in
      FoundTransaction(line: try row.line(), fact: try FactCoding.transaction(row.bytes(3)))
    }
  }

  func lines(withAppTransactionID appTransactionID: String) throws(StoreError) -> [LineKey] {
    try rows(
      """
      SELECT line_id, app, environment FROM app_install_line WHERE app_transaction_id = ?1
      UNION SELECT line_id, app, environment FROM app_transaction_fact WHERE line_id = ?2
      """, appTransactionID, LineKey.appTransactionPrefix + appTransactionID
    ) { row throws(StoreError) in try row.line() }
  }

  func grantsAndSeats(withID lineID: String) throws(StoreError) -> [LineKey] {
    try rows(
      """
      SELECT line_id, app, environment FROM grant_fact WHERE line_id = ?1
      UNION SELECT line_id, app, environment FROM seat WHERE line_id = ?1
      """, lineID
    ) { row throws(StoreError) in try row.line() }
  }

  func events(
    of customer: CustomerKey, before sequence: Int64?, limit: Int
  ) throws(StoreError) -> [StoredEvent] {
    let sequences = try rows(
      """
      SELECT sequence FROM event WHERE customer_id = ? AND app = ? AND environment = ? AND sequence < ?
      ORDER BY sequence DESC LIMIT ?
      """, customer, sequence ?? .max, limit
    ) { $0.number(0) }
    guard let first = sequences.last else { return [] }
    return try events(of: customer, after: first - 1, limit: sequences.count).reversed()
  }

  func ownershipChanges(ofLine line: LineKey) throws(StoreError) -> [OwnershipChange] {
    try rows(
      """
      SELECT customer_id, gained, at, evidence_id FROM ownership_change
      WHERE line_id = ? AND app = ? AND environment = ? ORDER BY change_id
      """, line
    ) { row in
      OwnershipChange(
        line: line, customerID: row.text(0) ?? "", gained: row.number(1) == 1,
        at: Instant(millisecondsSince1970: row.number(2)), evidenceID: EvidenceID(rawValue: row.number(3)))
    }
  }

  func pendingRefresh(of line: LineKey) throws(StoreError) -> PendingRefresh? {
    try rows(
      """
      SELECT due_at, attempts, reason, revision FROM refresh
      WHERE line_id = ? AND app = ? AND environment = ? AND due_at IS NOT NULL
      """, line
    ) { row in
      PendingRefresh(
        line: line, dueAt: Instant(millisecondsSince1970: row.number(0)), attempts: Int(row.number(1)),
        reason: row.text(2) ?? "", revision: row.text(3))
    }.first
  }

  func nextPoll(of line: LineKey) throws(StoreError) -> Instant? {
    try rows("SELECT at FROM poll WHERE line_id = ? AND app = ? AND environment = ?", line) { $0.instant(0) }
      .first ?? nil
  }

  func customers(
    withAttribute name: String?, value: String, limit: Int, where isIncluded: (CustomerKey) -> Bool
  ) throws(StoreError) -> [(customer: CustomerKey, name: String)] {
    var found: [(customer: CustomerKey, name: String)] = []
    var last = (id: "", app: "", environment: "", name: "")
    // In pieces, because the limit counts only the included ones.
    while found.count < limit {
      let piece = try rows(
        """
        SELECT customer_id, app, environment, name FROM customer_attribute
        WHERE value = ?1 AND coalesce(name = ?2, TRUE)
          AND (customer_id, app, environment, name) > (?3, ?4, ?5, ?6)
        ORDER BY customer_id, app, environment, name LIMIT ?7
        """, value, name, last.id, last.app, last.environment, last.name, limit
      ) { row throws(StoreError) in (customer: try row.customer(), name: row.text(3) ?? "") }
      for row in piece where found.count < limit && isIncluded(row.customer) { found.append(row) }
      guard piece.count == limit, let end = piece.last else { break }
      last = (end.customer.customerID, end.customer.appID, end.customer.environment.rawValue, end.name)
    }
    return found
  }
}

extension CustomerKey {
  /// The bytes by which searches are ordered, as the tables order them. Text never contains a NUL.
  fileprivate var searchKey: [UInt8] {
    Array(customerID.utf8) + [0] + Array(appID.utf8) + [0] + Array(environment.rawValue.utf8)
  }
}

extension SQLSession {
  func isKnown(_ customer: CustomerKey) throws(StoreError) -> Bool {
    let select = tablesWithCustomers.map {
      "SELECT 1 FROM \($0) WHERE customer_id = ?1 AND app = ?2 AND environment = ?3"
    }
    return try rows(
      select.map { "SELECT EXISTS (\($0))" }.joined(separator: " UNION ALL "), customer
    ) { $0.number(0) == 1 }.contains(true)
  }
}

/// The latest notifications: enough for the time of the last one, and few enough to read all.
private let isRecent =
  "evidence_id > (SELECT coalesce(max(evidence_id), 0) FROM notification) - 20000"

// The state of the store for operators.
extension SQLReader {
  func lastNotification(of appID: String, in environment: Environment) throws(StoreError) -> Instant? {
    try rows(
      """
      SELECT received_at FROM notification
      WHERE \(isRecent) AND app = ? AND environment = ? AND state <> 'REJECTED' ORDER BY evidence_id DESC LIMIT 1
      """, appID, environment
    ) { $0.instant(0) }.first ?? nil
  }

  func notificationDelays(
    of appID: String, in environment: Environment, limit: Int
  ) throws(StoreError) -> [Int64] {
    try rows(
      """
      SELECT received_at - signed_at FROM notification
      WHERE \(isRecent) AND app = ? AND environment = ? AND state <> 'REJECTED' AND signed_at IS NOT NULL
      ORDER BY evidence_id DESC LIMIT ?
      """, appID, environment, limit
    ) { $0.number(0) }
  }

  func lastEvidence() throws(StoreError) -> Int64 {
    try rows("SELECT coalesce(max(evidence_id), 0) FROM evidence") { $0.number(0) }.first ?? 0
  }

  func size() throws(StoreError) -> Int64 { try use().databaseSize() }
}

extension SQLStatement {
  /// The customer in the first three columns.
  func customer() throws(StoreError) -> CustomerKey {
    CustomerKey(appID: text(1) ?? "", environment: try value(2), customerID: text(0) ?? "")
  }

  /// The line in the first three columns.
  func line() throws(StoreError) -> LineKey {
    LineKey(appID: text(1) ?? "", environment: try value(2), lineID: text(0) ?? "")
  }
}
