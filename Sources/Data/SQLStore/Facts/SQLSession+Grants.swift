internal import AppStore
internal import Store

// Lists of grants.
extension SQLSession {
  func grants(_ filter: GrantFilter) throws(StoreError) -> [OwnedGrant] {
    var conditions = ["app = ?", "environment = ?"]
    var values: [any StatementValue] = [filter.appID, filter.environment]
    if let customerID = filter.customerID {
      conditions.append("customer_id = ?")
      values.append(customerID)
    }
    if let source = filter.source {
      conditions.append("source = ?")
      values.append(source)
    }
    if let last = filter.after {
      conditions.append("line_id > ?")
      values.append(last)
    }
    values.append(filter.limit)
    return try rows(
      """
      SELECT fact, customer_id FROM grant_fact JOIN line_customer USING (line_id, app, environment)
      WHERE \(conditions.joined(separator: " AND ")) ORDER BY line_id LIMIT ?
      """, binding: values
    ) { row throws(StoreError) in
      OwnedGrant(
        fact: try FactCoding.grant(row.bytes(0)),
        customer: CustomerKey(
          appID: filter.appID, environment: filter.environment, customerID: row.text(1) ?? ""))
    }
  }
}
