import PostgreSQL
import PostgresSupport
import Store
import TestSupport
import Testing

@testable import PostgresStore

/// `VACUUM` after erasures.
@Suite(
  .enabled(if: PostgresServer.canRun, Comment(rawValue: PostgresServer.isMissing)), .timeLimit(.minutes(10)))
struct RemnantVacuumTests {
  private static let lockTable = "BEGIN; LOCK TABLE audit_entry IN SHARE UPDATE EXCLUSIVE MODE"
  private static let waiting = """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND query LIKE 'VACUUM%' AND wait_event_type = 'Lock'
    """

  @Test(
    "Neither the call nor writes nor closing wait for the VACUUM after an erasure, which runs when it can")
  func background() async throws {
    try await withDatabase { settings in
      let store = try PostgresEntitlementStore(settings)
      _ = try await store.append("a")
      let lock = try PostgresConnection<PostgresError>(settings)
      let control = try PostgresConnection<PostgresError>(settings)
      try lock.execute(Self.lockTable)
      #expect(await !store.purgeRemnants())
      while try control.number(Self.waiting) == 0 { try await Task.sleep(for: .milliseconds(5)) }
      // Another erasure does not start a second one beside it.
      #expect(await !store.purgeRemnants())
      _ = try await store.append("b")
      #expect(try control.number(Self.waiting) == 1)
      try lock.execute("ROLLBACK")
      while try count("audit_entry", control) == 0 { try await Task.sleep(for: .milliseconds(20)) }
      try lock.execute(Self.lockTable)
      await store.purgeRemnants()
      while try control.number(Self.waiting) == 0 { try await Task.sleep(for: .milliseconds(5)) }
      await store.close()
      #expect(try control.number(Self.waiting) == 1, "the server completes it")
    }
  }

  @Test("A table that stays locked is repeated alone; the first failure and the success are logged")
  func locked() async throws {
    try await withDatabase { settings in
      let store = try PostgresEntitlementStore(settings)
      let lock = try PostgresConnection<PostgresError>(settings)
      let control = try PostgresConnection<PostgresError>(settings)
      let lines = LogLines()
      let vacuum = RemnantVacuum(settings, store.feed, lockTimeout: "1ms", logger: lines.logger)
      try lock.execute(Self.lockTable)
      vacuum.start()
      while lines.all.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
      #expect(
        lines.all == [
          "warning VACUUM after an erasure failed, and is repeated [error: the store failed: public.audit_entry: "
            + "another writer was first: canceling statement due to lock timeout (SQLSTATE 55P03)]"
        ])
      #expect(try count("upload", control) == 1, "a table after the locked one")
      try lock.execute("ROLLBACK")
      while lines.all.count < 2 { try await Task.sleep(for: .milliseconds(5)) }
      #expect(lines.all[1] == "notice VACUUM after an erasure succeeded []")
      #expect(try count("audit_entry", control) == 1 && count("upload", control) == 1)
      vacuum.close()
      await store.close()
    }
  }

  @Test("The next writer vacuums after an erasure whose process ended before, once")
  func resumed() async throws {
    try await withDatabase { settings in
      let control = try PostgresConnection<PostgresError>(settings)
      await (try PostgresEntitlementStore(settings)).close()
      try control.execute("INSERT INTO erasure (erasure_id, customer_hash, pseudonym) VALUES ('1', '', '')")
      let store = try PostgresEntitlementStore(settings)
      while try control.number("SELECT erasure FROM vacuumed") == 0 {
        try await Task.sleep(for: .milliseconds(5))
      }
      #expect(try count("audit_entry", control) == 1)
      #expect(try !RemnantVacuum.isMissing(PostgresConnection(settings)))
      await store.close()
    }
  }

  /// How often a table was vacuumed.
  private func count(_ table: String, _ control: PostgresConnection<PostgresError>) throws -> Int64 {
    try control.number("SELECT vacuum_count FROM pg_stat_user_tables WHERE relname = '\(table)'")
  }
}
