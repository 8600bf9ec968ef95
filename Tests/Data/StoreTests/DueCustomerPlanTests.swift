import Store
import Testing

@testable import SQLStore
@testable import SQLiteStore

@Suite struct DueCustomerPlanTests {
  @Test(
    "An index for each clock finds the next due customer without reading the customers of other clocks",
    arguments: [
      (ClockDomain.sandbox, ["customer_by_sandbox_due"]), (.others, ["customer_by_due"]),
      (.all, ["customer_by_due", "customer_by_sandbox_due"]),
    ])
  func indexes(domain: ClockDomain, expected: [String]) throws {
    let connection = try Connection.writer(path: ":memory:")
    try Schema.create(connection)
    let conditions = domain.dueCustomerConditions(connection.dialect)
    #expect(conditions.count == expected.count)
    for (condition, index) in zip(conditions, expected) {
      let statement = try connection.prepare(
        """
        EXPLAIN QUERY PLAN
        SELECT due_at FROM customer WHERE due_at IS NOT NULL AND \(condition) ORDER BY due_at
        """)
      #expect(try statement.step())
      #expect(statement.text(3)?.contains("USING INDEX \(index) ") == true)
      statement.reset()
    }
  }
}
