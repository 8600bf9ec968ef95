internal import Bytes
internal import Entitlements
internal import SignedData
package import Store

/// A digest of the state that follows from the evidence: facts, owners and the read model.
///
/// It does not depend on the order in which the same evidence arrived, on repetitions, on the time of an erasure, or on
/// the version that encoded the facts. It changes with each row that it covers. (Whose purchase it is when two customers
/// claim it does depend on who was first, and so does the hash.)
package struct StateHash: Hashable, Sendable, CustomStringConvertible {
  /// The sum of the digests of all rows, in four numbers without carry: a sum does not depend on the order.
  private var sum: [UInt64] = [0, 0, 0, 0]

  /// Reads all rows of one snapshot.
  package init(_ connection: any SQLConnection) throws(StoreError) {
    try connection.execute("BEGIN")
    do throws(StoreError) {
      for table in StateTable.all { try add(table, connection) }
      try connection.execute("COMMIT")
    } catch {
      try? connection.execute("ROLLBACK")
      throw error
    }
  }

  /// 64 hexadecimal digits.
  package var description: String {
    Hex.encode(sum.flatMap { number in (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) } })
  }

  private mutating func add(_ table: StateTable, _ connection: any SQLConnection) throws(StoreError) {
    let select = try connection.prepare(table.select)
    defer { select.reset() }
    while try select.step() {
      guard let row = try table.row(select) else { continue }
      let digest = SHA256.hash(row[...])
      for index in sum.indices {
        sum[index] &+= digest[(8 * index)..<(8 * index + 8)].reduce(0) { $0 << 8 | UInt64($1) }
      }
    }
  }
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

  let select: String
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

  /// The name of the table and the current row, each part with its size.
  func row(_ select: any SQLStatement) throws(StoreError) -> [UInt8]? {
    var row: [UInt8] = []
    Self.append(Array(name.utf8), to: &row)
    for column in 0..<count {
      if column == count - 1, let stated {
        guard let fact = try stated(select.bytes(column)) else { return nil }
        Self.append(fact, to: &row)
      } else if select.isNumber(column) {
        Self.append(Array(String(select.number(column)).utf8), to: &row)
      } else {
        Self.append(select.bytes(column), to: &row)
      }
    }
    return row
  }

  private static func append(_ part: [UInt8], to row: inout [UInt8]) {
    Varint.append(UInt64(part.count), to: &row)
    row += part
  }
}
