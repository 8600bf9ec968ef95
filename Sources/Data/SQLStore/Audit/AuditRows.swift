internal import AppStore
internal import Store

extension SQLTransaction {
  func append(_ entry: AuditEntry) throws(StoreError) {
    let number = try rows(
      """
      INSERT INTO audit_entry
        (at, caller, actor, method, app, subject, note, outcome, request_id, address, as_of, known_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING entry_id
      """, entry.at, entry.caller, entry.actor, entry.method, entry.appID, entry.subject, entry.note,
      entry.outcome, entry.requestID, entry.address, entry.asOf, entry.knownAt
    ) { $0.number(0) }.first
    guard let number else { throw .failed("an audit entry was not inserted") }
    for (position, customerID) in entry.customerIDs.enumerated() {
      try run(
        "INSERT INTO audit_customer (customer_id, app, entry_id, position) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        customerID, entry.appID, number, position)
    }
  }

  func purgeAuditEntries(before instant: Instant, limit: Int) throws(StoreError) -> Int {
    let numbers = try rows(
      "SELECT entry_id FROM audit_entry WHERE at < ? ORDER BY at LIMIT ?", instant, limit
    ) { $0.number(0) }
    for number in numbers {
      try run("DELETE FROM audit_customer WHERE entry_id = ?", number)
      try run("DELETE FROM audit_entry WHERE entry_id = ?", number)
    }
    return numbers.count
  }

  /// Replaces the id of an erased customer in audit entries, and removes the reasons that callers wrote there. An entry
  /// does not name an environment, so this affects the entries of all.
  func eraseAuditEntries(of customer: CustomerKey, as pseudonym: String) throws(StoreError) -> Int64 {
    let count = try runCounting(
      """
      UPDATE audit_entry SET note = '', subject = ''
      WHERE entry_id IN (SELECT entry_id FROM audit_customer WHERE customer_id = ?1 AND app IN (?2, ''))
        AND ?3 <> ''
      """, customer)
    let ofCustomer = "customer_id = ?1 AND app IN (?2, '') AND ?3 <> ''"
    try run(
      """
      INSERT INTO audit_customer (customer_id, app, entry_id, position)
      SELECT ?4, app, entry_id, position FROM audit_customer WHERE \(ofCustomer) ON CONFLICT DO NOTHING
      """, customer, pseudonym)
    return count + (try runCounting("DELETE FROM audit_customer WHERE \(ofCustomer)", customer))
  }
}

private let columns =
  "e.entry_id, e.at, e.caller, e.actor, e.method, e.app, e.subject, e.note, e.outcome, e.request_id, "
  + "e.address, e.as_of, e.known_at"

extension SQLReader {
  func auditEntries(_ filter: AuditFilter) throws(StoreError) -> [AuditEntry] {
    // A condition that could be NULL would make SQLite read the whole table.
    let ofCustomer =
      filter.customerID == nil
      ? ""
      : """
      AND entry_id IN (SELECT entry_id FROM audit_customer WHERE customer_id = ?2 AND coalesce(app = ?1, TRUE))
      """
    let rows = try rows(
      """
      SELECT \(columns), c.customer_id
      FROM (
        SELECT * FROM audit_entry
        WHERE coalesce(app = ?1, TRUE) AND coalesce(?2 <> '', TRUE) AND coalesce(?3 IN (caller, actor), TRUE)
          AND coalesce(method = ?4 OR substr(method, length(method) - length(?4)) = '/' || ?4, TRUE)
          AND coalesce(substr(method, length(method) - length(?9)) <> '/' || ?9, TRUE)
          AND coalesce(at >= ?5, TRUE) AND coalesce(at < ?6, TRUE) AND coalesce(entry_id < ?7, TRUE) \(ofCustomer)
        ORDER BY entry_id DESC LIMIT ?8
      ) AS e LEFT JOIN audit_customer c ON c.entry_id = e.entry_id
      ORDER BY e.entry_id DESC, c.position
      """, filter.appID, filter.customerID, filter.actor, filter.method, filter.from, filter.to,
      filter.before, filter.limit, filter.exceptMethod
    ) { row in
      AuditEntry(
        number: row.number(0), at: Instant(millisecondsSince1970: row.number(1)), caller: row.text(2) ?? "",
        actor: row.text(3) ?? "", method: row.text(4) ?? "", appID: row.text(5) ?? "",
        customerIDs: row.text(13).map { [$0] } ?? [], subject: row.text(6) ?? "", note: row.text(7) ?? "",
        outcome: row.text(8) ?? "", requestID: row.text(9) ?? "", address: row.text(10) ?? "",
        asOf: row.instant(11), knownAt: row.instant(12))
    }
    // One row for each customer of an entry.
    return rows.reduce(into: []) { entries, row in
      if entries.last?.number == row.number {
        entries[entries.count - 1].customerIDs += row.customerIDs
      } else {
        entries.append(row)
      }
    }
  }
}
