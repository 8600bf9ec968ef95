import PostgreSQL
import PostgresStore
import PostgresSupport
import Testing

/// The indexes with which PostgreSQL reads the rows of queries that run often.
@Suite(
  .enabled(if: PostgresServer.canRun, Comment(rawValue: PostgresServer.isMissing)), .timeLimit(.minutes(10)))
struct PostgresPlanTests {
  @Test("Deliveries that are due at the same time are in the order of their index, and not sorted")
  func dueDeliveries() async throws {
    try await withDatabase { settings in
      let store = try PostgresEntitlementStore(settings)
      _ = try await store.append("a")
      let control = try PostgresConnection<PostgresError>(settings)
      // An empty table has no costs; the plan sorts only if it must.
      try control.execute("SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off")
      let rows = try control.query(
        PostgresRequest(
          """
          EXPLAIN SELECT subject FROM delivery WHERE app = 'ocean' AND kind = 'EVENTS' AND name = 'billing'
            AND due_at <= 1 ORDER BY due_at, position LIMIT 32
          """))
      let steps = (0..<rows.count).compactMap { rows.text($0, 0) }
      #expect(steps.contains { $0.contains("Index Scan using delivery_due") }, "\(steps)")
      #expect(!steps.contains { $0.contains("Sort") }, "\(steps)")
      await store.close()
    }
  }
}
