internal import Entitlements
package import Store

/// A digest of the state that follows from the evidence: facts, owners and the read model.
///
/// It does not depend on the order in which the same evidence arrived, on repetitions, on the time of an erasure, or on
/// the version that encoded the facts. It changes with each row that it covers. (Whose purchase it is when two customers
/// claim it does depend on who was first, and so does the hash.)
package struct StateHash: Hashable, Sendable, CustomStringConvertible {
  private let sum: RowSum

  /// Reads all rows of one snapshot: that of the open transaction, or of a new one.
  package init(_ connection: any SQLConnection) throws(StoreError) {
    sum = try connection.inSnapshot { () throws(StoreError) in
      var sum = RowSum()
      for table in StateTable.all { try table.add(to: &sum, connection) }
      return sum
    }
  }

  /// 64 hexadecimal digits.
  package var description: String { sum.description }
}

/// The columns of a table that the evidence determines. Evidence ids and times of arrival are left out.
private struct StateTable {
  static let all = [
    StateTable("transaction_fact", "\(line), transaction_id", fact: "fact") { bytes throws(StoreError) in
      FactCoding.encode(try FactCoding.transaction(bytes).stated)
    },
    StateTable("renewal_fact", line, fact: "fact") { bytes throws(StoreError) in
      FactCoding.encode(try FactCoding.renewals(bytes).stated)
    },
    StateTable("grant_fact", "app, environment", fact: "fact") { bytes throws(StoreError) in
      FactCoding.encode(try FactCoding.grant(bytes).stated)
    },
    StateTable("app_transaction_fact", line, fact: "fact") { bytes throws(StoreError) in
      FactCoding.encode(try FactCoding.appTransaction(bytes))
    },
    // A grant's line has the number of its evidence; the customer's facts contain the grant.
    StateTable(
      "line_customer", "\(line), customer_id",
      where: "substr(line_id, 1, \(LineKey.grantPrefix.count)) <> '\(LineKey.grantPrefix)'"),
    StateTable("seat", "\(line), purchase, seat_claim_id, released_at IS NULL"),
    StateTable(
      "fulfillment", "transaction_id, app, environment, line_id, product_id, quantity, target, fulfilled"),
    StateTable("fulfillment_step", "transaction_id, app, environment, fulfillment_id, units"),
    StateTable(
      "storefront_price",
      "product_id, storefront, app, environment, billing_plan, reason, day, milliunits, currency"),
    StateTable("app_install_line", "app_transaction_id, app, environment, line_id"),
    StateTable("unclaimed_line", "app, environment, line_id"),
    StateTable("account_token", "token, app, environment, customer_id"),
    StateTable("merged_customer", "customer_id, app, environment, into_customer_id"),
    StateTable("consumption_consent", "customer_id, app, environment, given"),
    StateTable("note", "customer_id, app, environment, note, actor"),
    StateTable("customer_attribute", "customer_id, app, environment, name, value"),
    // An erased customer leaves a row without an identity, and one whose claim failed a row without facts.
    StateTable("customer", "identity", fact: "facts", where: "length(identity) > 0") {
      bytes throws(StoreError) in
      var facts = try FactCoding.customerFacts(bytes)
      // The selection of lines depends on the time of derivation; `customer_line` has them all.
      if facts.omitted != nil {
        facts = CustomerFacts(grants: facts.grants, appTransactions: facts.appTransactions)
      }
      return facts == CustomerFacts() ? nil : FactCoding.encode(facts.stated)
    },
    StateTable(
      "customer_line", from: "customer_line JOIN customer USING (customer_number)", "identity, line_id",
      fact: "line_facts"
    ) { bytes throws(StoreError) in FactCoding.encode(try FactCoding.customerFacts(bytes).stated) },
  ]

  private static let line = "line_id, app, environment"

  private let select: String
  private let name: String
  private let count: CInt
  /// Encodes the fact in the last column in a form that depends on the evidence only; `nil` if the row does not count.
  private let stated: (@Sendable ([UInt8]) throws(StoreError) -> [UInt8]?)?

  private init(
    _ name: String, from source: String? = nil, _ columns: String, fact: String? = nil,
    where condition: String = "TRUE",
    stated: (@Sendable ([UInt8]) throws(StoreError) -> [UInt8]?)? = nil
  ) {
    let all = fact.map { "\(columns), \($0)" } ?? columns
    self.name = name
    self.stated = stated
    select = "SELECT \(all) FROM \(source ?? name) WHERE \(condition)"
    count = CInt(all.split(separator: ",").count)
  }

  /// Adds all rows that count.
  func add(to sum: inout RowSum, _ connection: any SQLConnection) throws(StoreError) {
    let select = try connection.prepareScan(select)
    defer { select.reset() }
    while try select.step() {
      if let row = try row(select) { sum.add(row) }
    }
  }

  /// The name of the table and the current row, each part with its size.
  private func row(_ select: any SQLStatement) throws(StoreError) -> [UInt8]? {
    var row: [UInt8] = []
    row.append(part: Array(name.utf8))
    for column in 0..<count {
      if column == count - 1, let stated {
        guard let fact = try stated(select.bytes(column)) else { return nil }
        row.append(part: fact)
      } else if select.isNumber(column) {
        row.append(part: Array(String(select.number(column)).utf8))
      } else {
        row.append(part: select.bytes(column))
      }
    }
    return row
  }
}
