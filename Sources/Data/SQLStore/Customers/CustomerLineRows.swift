internal import Entitlements
internal import Store

/// Reads and writes `customer_line`: the facts of each line of the customers with reduced facts, in chunks.
final class CustomerLineRows {
  private let select: any SQLStatement
  private let selectAll: any SQLStatement
  private let put: any SQLStatement
  private let delete: any SQLStatement
  private let deleteAll: any SQLStatement

  init(_ connection: any SQLConnection) throws(StoreError) {
    let ofLine = "customer_number = ? AND line_id = ?"
    select = try connection.prepare(
      "SELECT line_facts FROM customer_line WHERE \(ofLine) AND chunk >= ? ORDER BY chunk")
    selectAll = try connection.prepare(
      """
      SELECT line_facts, line_id FROM customer_line WHERE customer_number = ? ORDER BY line_id, chunk
      """)
    put = try connection.prepare(
      Upsert.sql(
        "customer_line", key: "customer_number, line_id, chunk", "customer_number, line_id, chunk, line_facts"
      ))
    delete = try connection.prepare("DELETE FROM customer_line WHERE \(ofLine) AND chunk = ?")
    deleteAll = try connection.prepare("DELETE FROM customer_line WHERE customer_number = ?")
  }

  /// Returns the facts of all lines with those of no line; `facts` themselves if they are not reduced.
  func completing(_ facts: CustomerFacts, of customer: Int64) throws(StoreError) -> CustomerFacts {
    guard facts.omitted != nil else { return facts }
    try selectAll.bind(1, customer)
    defer { selectAll.reset() }
    var lines: [CustomerFacts] = []
    var chunks: (line: String, facts: [CustomerFacts]) = ("", [])
    while try selectAll.step() {
      let line = selectAll.text(1) ?? ""
      if line != chunks.line {
        lines.append(.joining(chunks.facts))
        chunks = (line, [])
      }
      chunks.facts.append(try FactCoding.customerFacts(selectAll.bytes(0)))
    }
    lines.append(.joining(chunks.facts))
    return CustomerFacts(lines: lines, grants: facts.grants, appTransactions: facts.appTransactions)
  }

  func facts(ofLine line: String, from chunk: Int, of customer: Int64) throws(StoreError) -> CustomerFacts {
    try select.bind(1, customer)
    try select.bind(2, line)
    try select.bind(3, Int64(chunk))
    defer { select.reset() }
    var chunks: [CustomerFacts] = []
    while try select.step() { chunks.append(try FactCoding.customerFacts(select.bytes(0))) }
    return .joining(chunks)
  }

  func put(
    _ facts: CustomerFacts, ofLine line: String, chunk: Int, of customer: Int64
  ) throws(StoreError) {
    let statement = facts == CustomerFacts() ? delete : put
    try statement.bind(1, customer)
    try statement.bind(2, line)
    try statement.bind(3, Int64(chunk))
    if statement === put { try put.bind(4, FactCoding.encode(facts)) }
    try statement.run()
  }

  func delete(of customer: Int64) throws(StoreError) {
    try deleteAll.bind(1, customer)
    try deleteAll.run()
  }
}
