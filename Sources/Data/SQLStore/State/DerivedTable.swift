internal import Entitlements
internal import Store

/// A table derived from evidence, for comparison with the same table of another store.
///
/// Rows are sorted by all columns, so that a merge comparison of two stores needs constant memory.
struct DerivedTable {
  /// The compared tables and columns, beginning with the primary key. The last column may be an encoded fact;
  /// it is encoded again in the current version before comparison.
  static let all = [
    DerivedTable("transaction_fact", "\(line), transaction_id, evidence_id", fact: "fact") {
      bytes throws(StoreError) in FactCoding.encode(try FactCoding.transaction(bytes))
    },
    DerivedTable("renewal_fact", "\(line), chunk, evidence_id", fact: "fact") { bytes throws(StoreError) in
      FactCoding.encode(try FactCoding.renewals(bytes))
    },
    DerivedTable("grant_fact", "\(line), evidence_id", fact: "fact") { bytes throws(StoreError) in
      FactCoding.encode(try FactCoding.grant(bytes))
    },
    DerivedTable("app_transaction_fact", "\(line), evidence_id", fact: "fact") { bytes throws(StoreError) in
      FactCoding.encode(try FactCoding.appTransaction(bytes))
    },
    DerivedTable("line_customer", "\(line), customer_id, evidence_id"),
    DerivedTable("ownership_change", "\(line), customer_id, evidence_id, gained, at"),
    DerivedTable("line_evidence", "\(line), evidence_id"),
    DerivedTable("customer_evidence", "customer_id, app, environment, evidence_id"),
    DerivedTable(
      "seat", "\(line), purchase, seat_claim_id, request_identifier, claimed_at, released_at, evidence_id"),
    DerivedTable(
      "fulfillment",
      "transaction_id, app, environment, line_id, product_id, quantity, target, fulfilled, purchased_at"),
    DerivedTable(
      "fulfillment_step", "transaction_id, app, environment, fulfillment_id, units, at, evidence_id"),
    DerivedTable(
      "storefront_price",
      "product_id, storefront, app, environment, billing_plan, reason, day, milliunits, currency"),
    DerivedTable("app_install_line", "app_transaction_id, app, environment, line_id"),
    DerivedTable("unclaimed_line", "app, environment, line_id, token, previous_line_id"),
    DerivedTable("account_token", "token, app, environment, customer_id"),
    DerivedTable("merged_customer", "customer_id, app, environment, into_customer_id"),
    DerivedTable("consumption_consent", "customer_id, app, environment, given, since, evidence_id"),
    DerivedTable("note", "evidence_id, customer_id, app, environment, note, actor, at"),
    DerivedTable("customer_attribute", "customer_id, app, environment, name, value, evidence_id"),
    // An erased customer leaves a row without an identity.
    DerivedTable("customer", "identity", fact: "facts", where: "length(identity) > 0") {
      bytes throws(StoreError) in
      let facts = try FactCoding.customerFacts(bytes)
      guard facts.omitted != nil else { return FactCoding.encode(facts) }
      // The selection of lines depends on the time of derivation; `customer_line` has them all.
      return FactCoding.encode(
        CustomerFacts(grants: facts.grants, appTransactions: facts.appTransactions))
    },
    DerivedTable(
      "customer_line", from: "customer_line JOIN customer USING (customer_number)",
      "identity, line_id, chunk",
      fact: "line_facts"
    ) { bytes throws(StoreError) in FactCoding.encode(try FactCoding.customerFacts(bytes)) },
  ]

  private static let line = "line_id, app, environment"

  private typealias Row = [[UInt8]]

  private let name: String
  private let select: String
  private let count: CInt
  private let canonical: (@Sendable ([UInt8]) throws(StoreError) -> [UInt8])?

  private init(
    _ name: String, from source: String? = nil, _ columns: String, fact: String? = nil,
    where condition: String = "TRUE",
    canonical: (@Sendable ([UInt8]) throws(StoreError) -> [UInt8])? = nil
  ) {
    let all = fact.map { "\(columns), \($0)" } ?? columns
    self.name = name
    select = "SELECT \(all) FROM \(source ?? name) WHERE \(condition) ORDER BY \(columns)"
    count = CInt(all.split(separator: ",").count)
    self.canonical = canonical
  }

  /// Counts the rows that exist in only one of two stores.
  func difference(_ first: any SQLConnection, _ second: any SQLConnection) throws(StoreError)
    -> TableDifference
  {
    let (left, right) = (try first.prepareScan(select), try second.prepareScan(select))
    defer {
      left.reset()
      right.reset()
    }
    var (count, onlyLeft, onlyRight) = (0, 0, 0)
    var (a, b) = (try next(left), try next(right))
    while a != nil || b != nil {
      let order = Self.order(a, b)
      if order <= 0 { count += 1 }
      if order < 0 { onlyLeft += 1 }
      if order > 0 { onlyRight += 1 }
      if order <= 0 { a = try next(left) }
      if order >= 0 { b = try next(right) }
    }
    return TableDifference(table: name, rows: count, onlyInFirst: onlyLeft, onlyInSecond: onlyRight)
  }

  /// Returns a negative number if `left` sorts first, a positive one if `right` does, and 0 if they are
  /// equal. `nil` sorts last.
  private static func order(_ left: Row?, _ right: Row?) -> Int {
    guard let left else { return 1 }
    guard let right else { return -1 }
    for (a, b) in zip(left, right) where a != b { return a.lexicographicallyPrecedes(b) ? -1 : 1 }
    return 0
  }

  /// Returns the next row, each column as bytes that sort as the column does; `nil` after the last one.
  private func next(_ select: any SQLStatement) throws(StoreError) -> Row? {
    guard try select.step() else { return nil }
    var row: Row = []
    for column in 0..<count {
      if column == count - 1, let canonical {
        row.append(try canonical(select.bytes(column)))
      } else {
        row.append(select.isNumber(column) ? Self.bytes(select.number(column)) : select.bytes(column))
      }
    }
    return row
  }

  /// Encodes a number that is not negative as big-endian bytes, so that bytes sort as numbers do.
  private static func bytes(_ number: Int64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
  }
}

/// The differences between one derived table of two stores.
package struct TableDifference: Hashable, Sendable {
  /// The name of the table.
  package let table: String
  /// The number of rows in the first store.
  package let rows: Int
  /// The number of rows that only the first store has.
  package let onlyInFirst: Int
  /// The number of rows that only the second store has.
  package let onlyInSecond: Int
}
