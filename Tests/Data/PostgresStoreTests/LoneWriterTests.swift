import PostgreSQL
import PostgresSupport
import Store
import Testing

@testable import PostgresStore

/// A process that has the store for itself and lost its session: no other process takes over.
@Suite(
  .enabled(if: PostgresServer.canRun, Comment(rawValue: PostgresServer.isMissing)), .timeLimit(.minutes(10)))
struct LoneWriterTests {
  private static let endOfSessions = """
    SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
    """

  @Test("A takeover after a lost session, whose result was lost with the next one, is the writer's own")
  func lostTakeover() async throws {
    let server = try PostgresServer(["--fsync", "off"])
    let settings = server.settings(try server.makeDatabase())
    let store = try PostgresEntitlementStore(settings)
    _ = try await store.append("a")
    let control = try PostgresConnection<PostgresError>(settings)
    // The takeover is durable here and then waits for a standby that does not exist.
    try control.execute("ALTER SYSTEM SET synchronous_standby_names = 'missing'")
    try control.execute("SELECT pg_reload_conf()")
    try control.execute(Self.endOfSessions)
    let appended = Task { try? await store.append("b") }
    let waiting = "FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
    while try control.number("SELECT count(*) \(waiting)") == 0 { await Task.yield() }
    try control.execute("SELECT pg_terminate_backend(pid) \(waiting)")
    try control.execute("ALTER SYSTEM RESET synchronous_standby_names")
    try control.execute("SELECT pg_reload_conf()")
    _ = await appended.value
    #expect(try await store.append("c").id == EvidenceID(rawValue: 2))
    #expect(try control.number("SELECT epoch FROM head") == 3)
    await store.close()
  }

  @Test(
    "A process whose last commit the database lost in a failover writes again, without what it had in memory")
  func lostCommits() async throws {
    try await withDatabase { settings in
      let store = try PostgresEntitlementStore(settings)
      _ = try await store.append("a")
      _ = try await store.append("b")
      let control = try PostgresConnection<PostgresError>(settings)
      // The rows of a standby without the last commit; the earlier sessions have ended.
      try control.execute(
        """
        BEGIN; DELETE FROM evidence WHERE evidence_id = 2; DELETE FROM change WHERE position = 2;
        UPDATE head SET position = 1; COMMIT; \(Self.endOfSessions)
        """)
      await #expect(throws: StoreError.anotherWriter) { try await store.append("b") }
      #expect(!(try await store.append("b").isDuplicate))
      #expect(try control.number("SELECT count(*) FROM evidence") == 2)
      await store.close()
    }
  }
}
