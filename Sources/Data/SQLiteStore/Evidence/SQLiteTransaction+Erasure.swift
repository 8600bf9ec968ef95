internal import AppStore
internal import SQLite
internal import Store

// The erasure of a customer's identifiers.
extension SQLiteTransaction {
  func mergedCustomers(into customer: CustomerKey) throws(StoreError) -> [String] {
    try rows(
      "SELECT customer_id FROM merged_customer WHERE into_customer_id = ? AND app = ? AND environment = ?",
      customer
    ) { $0.text(0) ?? "" }
  }

  func evidence(naming customer: CustomerKey) throws(StoreError) -> [StoredEvidence] {
    try evidence.evidence(naming: customer)
  }

  func replace(_ evidence: EvidenceID, with content: EvidenceContent) throws(StoreError) {
    try self.evidence.replace(evidence, with: content)
  }

  func delete(grant line: LineKey) throws(StoreError) { try fact.grants.delete(grant: line) }

  func erase(_ customer: CustomerKey, as pseudonym: String) throws(StoreError) -> Int64 {
    var count: Int64 = 0
    count += try run(
      """
      UPDATE evidence SET customer_id = ?4
      WHERE customer_id = ?1 AND evidence_id IN (
        SELECT evidence_id FROM customer_evidence
        WHERE customer_id = ?1 AND app = ?2 AND environment IN (?3, ''))
      """, customer, pseudonym)
    count += try run(
      """
      UPDATE customer_evidence SET customer_id = ?4
      WHERE customer_id = ?1 AND app = ?2 AND environment IN (?3, '')
      """, customer, pseudonym)
    for table in ["event", "ownership_change"] {
      count += try run(
        "UPDATE \(table) SET customer_id = ?4 WHERE customer_id = ?1 AND app = ?2 AND environment = ?3",
        customer, pseudonym)
    }
    count += try run(
      "UPDATE event SET counterparty = ?4 WHERE counterparty = ?1 AND app = ?2 AND environment = ?3",
      customer, pseudonym)
    count += try run(
      """
      UPDATE drift SET customer_id = ?4
      WHERE customer_id = ?1 AND repair_id IN (
        SELECT repair_id FROM repair WHERE app = ?2 AND environment = ?3)
      """, customer, pseudonym)
    count += try run(
      """
      UPDATE migration_failure SET customer_id = ?4
      WHERE customer_id = ?1 AND migration_id IN (
        SELECT migration_id FROM migration WHERE app = ?2 AND ifnull(?3, '') <> '')
      """, customer, pseudonym)
    count += try run(
      "UPDATE delivery SET subject = ?4 WHERE subject = ?1 AND app = ?2 AND environment = ?3", customer,
      pseudonym)
    for table in ["account_token", "merged_customer", "consumption_consent"] {
      count += try run(
        "DELETE FROM \(table) WHERE customer_id = ?1 AND app = ?2 AND environment = ?3", customer)
    }
    count += try run(
      "DELETE FROM merged_customer WHERE into_customer_id = ?1 AND app = ?2 AND environment = ?3", customer)
    return try self.customer.erase(customer) ? count + 1 : count
  }
}
