internal import AppStore
internal import Store

private let columns =
  "f.transaction_id, f.line_id, f.product_id, f.quantity, f.target, f.fulfilled, f.purchased_at"

extension SQLStatement {
  /// The record in the current row of a selection of `columns`.
  fileprivate func record(in appEnvironment: AppEnvironment) -> FulfillmentRecord {
    FulfillmentRecord(
      line: LineKey(
        appID: appEnvironment.appID, environment: appEnvironment.environment, lineID: text(1) ?? ""),
      transactionID: text(0) ?? "", productID: text(2) ?? "", quantity: number(3), target: number(4),
      fulfilled: number(5), purchaseDate: Instant(millisecondsSince1970: number(6)))
  }
}

// Reads of consumables to deliver.
extension SQLReader {
  func unfulfilled(
    _ filter: UnfulfilledFilter
  ) throws(StoreError) -> [(record: FulfillmentRecord, customerID: String)] {
    let appEnvironment = filter.appEnvironment
    return try rows(
      """
      SELECT \(columns), c.customer_id
      FROM fulfillment f JOIN line_customer c USING (line_id, app, environment)
      WHERE f.app = ?1 AND f.environment = ?2 AND f.transaction_id > ?3 AND f.target <> f.fulfilled
        AND coalesce(f.purchased_at >= ?4, TRUE) AND coalesce(c.customer_id = ?5, TRUE)
        AND NOT EXISTS (
          SELECT * FROM line_customer o
          WHERE o.line_id = c.line_id AND o.app = c.app AND o.environment = c.environment
            AND (o.evidence_id, o.customer_id) < (c.evidence_id, c.customer_id))
      ORDER BY f.transaction_id LIMIT ?6
      """, appEnvironment.appID, appEnvironment.environment, filter.after, filter.boughtSince,
      filter.customerID,
      filter.limit
    ) { row in (row.record(in: appEnvironment), row.text(7) ?? "") }
  }
}

// Consumables to deliver in a write.
extension SQLTransaction {
  func put(_ record: FulfillmentRecord) throws(StoreError) {
    try run(
      """
      INSERT INTO fulfillment (transaction_id, app, environment, line_id, product_id, quantity, target,
        fulfilled, purchased_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?)
      ON CONFLICT (transaction_id, app, environment) DO UPDATE SET
        product_id = excluded.product_id, quantity = excluded.quantity, target = excluded.target,
        purchased_at = excluded.purchased_at
      """, record.transactionID, record.line.appID, record.line.environment, record.line.lineID,
      record.productID, record.quantity, record.target, record.purchaseDate)
  }

  func fulfillment(
    of transactionID: String, in appEnvironment: AppEnvironment
  ) throws(StoreError) -> FulfillmentRecord? {
    try rows(
      "SELECT \(columns) FROM fulfillment f WHERE transaction_id = ? AND app = ? AND environment = ?",
      transactionID, appEnvironment.appID, appEnvironment.environment
    ) { $0.record(in: appEnvironment) }.first
  }

  func fulfillments(
    of transactionID: String, in appEnvironment: AppEnvironment
  ) throws(StoreError) -> [Fulfillment] {
    try rows(
      """
      SELECT fulfillment_id, units, at FROM fulfillment_step
      WHERE transaction_id = ? AND app = ? AND environment = ? ORDER BY evidence_id
      """, transactionID, appEnvironment.appID, appEnvironment.environment
    ) { row in
      Fulfillment(
        transactionID: transactionID, fulfillmentID: row.text(0) ?? "", units: row.number(1),
        acknowledgedAt: Instant(millisecondsSince1970: row.number(2)))
    }
  }

  func append(
    _ fulfillment: Fulfillment, in appEnvironment: AppEnvironment, from evidence: EvidenceID
  ) throws(StoreError) {
    let inserted = try runCounting(
      """
      INSERT INTO fulfillment_step (transaction_id, app, environment, fulfillment_id, units, at, evidence_id)
      VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
      """, fulfillment.transactionID, appEnvironment.appID, appEnvironment.environment,
      fulfillment.fulfillmentID, fulfillment.units, fulfillment.acknowledgedAt, evidence)
    guard inserted > 0 else { return }
    try run(
      """
      UPDATE fulfillment SET fulfilled = fulfilled + ?4
      WHERE transaction_id = ?1 AND app = ?2 AND environment = ?3
      """, fulfillment.transactionID, appEnvironment.appID, appEnvironment.environment, fulfillment.units)
  }
}
