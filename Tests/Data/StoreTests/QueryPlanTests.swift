import Store
import Testing

@testable import SQLStore
@testable import SQLiteStore

/// The indexes with which SQLite reads the rows of queries that run often.
@Suite struct QueryPlanTests {
  @Test(
    "An index for each clock finds the next due customer without reading the customers of other clocks",
    arguments: [
      (ClockDomain.sandbox, ["customer_by_sandbox_due"]), (.others, ["customer_by_due"]),
      (.all, ["customer_by_due", "customer_by_sandbox_due"]),
    ])
  func dueCustomers(domain: ClockDomain, expected: [String]) throws {
    let connection = try Self.connection()
    let conditions = domain.dueCustomerConditions(connection.dialect)
    #expect(conditions.count == expected.count)
    for (condition, index) in zip(conditions, expected) {
      let steps = try Self.steps(
        "SELECT due_at FROM customer WHERE due_at IS NOT NULL AND \(condition) ORDER BY due_at",
        on: connection)
      #expect(steps.first?.contains("USING INDEX \(index) ") == true, "\(steps)")
    }
  }

  @Test("The notifications about a purchase are found without reading those of others")
  func notifications() throws {
    let steps = try Self.steps(
      "SELECT type FROM notification WHERE \(NotificationRows.isAboutLine)", on: Self.connection())
    #expect(!steps.isEmpty)
    #expect(steps.allSatisfy { !$0.contains("SCAN") }, "\(steps)")
  }

  @Test("A page of polls continues in the index after the previous one")
  func recordedPolls() throws {
    let steps = try Self.steps(SQLReader.recordedPolls, on: Self.connection())
    #expect(
      steps.count == 1 && steps.first?.contains("poll_by_time (app=? AND environment=? AND") == true,
      "\(steps)")
  }

  @Test("Missed consumption requests are found without reading the others")
  func missedRequests() throws {
    let steps = try Self.steps(
      "SELECT evidence_id FROM consumption_request WHERE \(SQLTransaction.missedRequests) AND TRUE",
      on: Self.connection())
    #expect(steps.first?.contains("INDEX missed_consumption_request ") == true, "\(steps)")
  }

  private static func connection() throws -> Connection {
    let connection = try Connection.writer(path: ":memory:")
    try Schema.create(connection)
    return connection
  }

  /// The steps of SQLite's plan of a query, such as `SEARCH customer USING INDEX customer_by_due (due_at>?)`.
  private static func steps(_ query: String, on connection: Connection) throws -> [String] {
    let statement = try connection.prepare("EXPLAIN QUERY PLAN \(query)")
    defer { statement.reset() }
    var steps: [String] = []
    while try statement.step() { steps.append(statement.text(3) ?? "") }
    return steps
  }
}
