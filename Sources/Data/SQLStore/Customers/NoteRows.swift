internal import AppStore
internal import Store

/// The common table `name`: the ids of all customers that were merged, at once or in steps, into the customer of the
/// first three parameters.
let mergedNames = """
  name (customer_id) AS (
    SELECT customer_id FROM merged_customer WHERE into_customer_id = ?1 AND app = ?2 AND environment = ?3
    UNION SELECT m.customer_id FROM merged_customer m JOIN name ON m.into_customer_id = name.customer_id
    WHERE m.app = ?2 AND m.environment = ?3)
  """

extension SQLSession {
  func note(_ id: EvidenceID) throws(StoreError) -> CustomerNote? {
    try notes("evidence_id = ?", id).first
  }

  func notes(
    about customer: CustomerKey, before: EvidenceID?, limit: Int
  ) throws(StoreError) -> [CustomerNote] {
    try notes(
      """
      app = ?2 AND environment = ?3 AND evidence_id < ?4 AND (customer_id = ?1 OR customer_id IN (
        WITH RECURSIVE \(mergedNames) SELECT customer_id FROM name))
      ORDER BY evidence_id DESC LIMIT ?5
      """, customer, before ?? EvidenceID(rawValue: .max), limit)
  }

  private func notes(
    _ condition: String, _ values: any StatementValue...
  ) throws(StoreError) -> [CustomerNote] {
    try rows(
      "SELECT customer_id, app, environment, evidence_id, note, actor, at FROM note WHERE \(condition)",
      binding: values
    ) { row throws(StoreError) in
      CustomerNote(
        id: EvidenceID(rawValue: row.number(3)), customer: try row.customer(), text: row.text(4) ?? "",
        actor: row.text(5) ?? "", createdAt: Instant(millisecondsSince1970: row.number(6)))
    }
  }

  func attributes(of customer: CustomerKey) throws(StoreError) -> [CustomerAttribute] {
    try rows(
      """
      SELECT name, value FROM customer_attribute
      WHERE customer_id = ? AND app = ? AND environment = ? ORDER BY name
      """, customer
    ) { CustomerAttribute(name: $0.text(0) ?? "", value: $0.text(1) ?? "") }
  }
}

extension SQLTransaction {
  func put(_ note: CustomerNote) throws(StoreError) {
    try run(
      Upsert.sql(
        "note", key: "evidence_id", "customer_id, app, environment, evidence_id, note, actor, at"),
      note.customer, note.id, note.text, note.actor, note.createdAt)
  }

  func deleteNote(_ id: EvidenceID) throws(StoreError) {
    try run("DELETE FROM note WHERE evidence_id = ?", id)
  }

  func put(
    _ attribute: CustomerAttribute, of customer: CustomerKey, from evidence: EvidenceID
  ) throws(StoreError) {
    guard !attribute.value.isEmpty else {
      try run(
        """
        DELETE FROM customer_attribute
        WHERE customer_id = ? AND app = ? AND environment = ? AND name = ?
        """, customer, attribute.name)
      return
    }
    try run(
      Upsert.sql(
        "customer_attribute", key: "customer_id, app, environment, name",
        "customer_id, app, environment, name, value, evidence_id"), customer, attribute.name, attribute.value,
      evidence)
  }
}
