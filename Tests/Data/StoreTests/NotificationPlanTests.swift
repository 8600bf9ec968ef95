import Store
import Testing

@testable import SQLStore
@testable import SQLiteStore

@Suite struct NotificationPlanTests {
  @Test("The notifications about a purchase are found without reading those of others")
  func indexes() throws {
    let connection = try Connection.writer(path: ":memory:")
    try Schema.create(connection)
    let statement = try connection.prepare(
      "EXPLAIN QUERY PLAN SELECT type FROM notification WHERE \(NotificationRows.isAboutLine)")
    var steps: [String] = []
    while try statement.step() { steps.append(statement.text(3) ?? "") }
    statement.reset()
    #expect(!steps.isEmpty)
    #expect(steps.allSatisfy { !$0.contains("SCAN") }, "\(steps)")
  }
}
