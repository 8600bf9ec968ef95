internal import AppStore
internal import SQLite
internal import Store

/// Erases a customer's identifiers. Prepares its statements on each call, because calls are rare.
final class ErasureRows {
  private let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  /// Returns the customers that were merged into this one.
  func mergedCustomers(into customer: CustomerKey) throws(StoreError) -> [String] {
    let select = try Statement(
      "SELECT customer_id FROM merged_customer WHERE into_customer_id = ? AND app = ? AND environment = ?",
      on: connection)
    try select.bind(customer)
    defer { select.reset() }
    var customers: [String] = []
    while try select.step() { customers.append(select.text(0) ?? "") }
    return customers
  }

  /// Replaces the customer id by `pseudonym` in every table and deletes rows that only identify the person.
  /// Returns the number of affected rows.
  func erase(_ customer: CustomerKey, as pseudonym: String) throws(StoreError) -> Int64 {
    var rows: Int64 = 0
    rows += try run(
      """
      UPDATE evidence SET customer_id = ?4
      WHERE customer_id = ?1 AND evidence_id IN (
        SELECT evidence_id FROM customer_evidence
        WHERE customer_id = ?1 AND app = ?2 AND environment IN (?3, ''))
      """, customer, pseudonym)
    rows += try run(
      """
      UPDATE customer_evidence SET customer_id = ?4
      WHERE customer_id = ?1 AND app = ?2 AND environment IN (?3, '')
      """, customer, pseudonym)
    for table in ["event", "ownership_change"] {
      rows += try run(
        "UPDATE \(table) SET customer_id = ?4 WHERE customer_id = ?1 AND app = ?2 AND environment = ?3",
        customer, pseudonym)
    }
    rows += try run(
      """
      UPDATE drift SET customer_id = ?4
      WHERE customer_id = ?1 AND repair_id IN (
        SELECT repair_id FROM repair WHERE app = ?2 AND environment = ?3)
      """, customer, pseudonym)
    rows += try run(
      """
      UPDATE migration_failure SET customer_id = ?4
      WHERE customer_id = ?1 AND migration_id IN (
        SELECT migration_id FROM migration WHERE app = ?2 AND ifnull(?3, '') <> '')
      """, customer, pseudonym)
    rows += try run(
      "UPDATE delivery SET subject = ?4 WHERE subject = ?1 AND app = ?2 AND environment = ?3", customer,
      pseudonym)
    for table in ["account_token", "merged_customer", "consumption_consent"] {
      rows += try run(
        "DELETE FROM \(table) WHERE customer_id = ?1 AND app = ?2 AND environment = ?3", customer, nil)
    }
    rows += try run(
      "DELETE FROM merged_customer WHERE into_customer_id = ?1 AND app = ?2 AND environment = ?3", customer,
      nil)
    return rows
  }

  private func run(
    _ sql: String, _ customer: CustomerKey, _ pseudonym: String?
  ) throws(StoreError) -> Int64 {
    let statement = try Statement(sql, on: connection)
    try statement.bind(customer)
    if let pseudonym { try statement.bind(4, pseudonym) }
    try statement.run()
    return connection.changedRows
  }
}
