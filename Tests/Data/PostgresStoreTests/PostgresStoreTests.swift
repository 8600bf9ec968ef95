import AppStore
import Entitlements
import PostgreSQL
import PostgresStore
import PostgresSupport
import Store
import TestSupport
import Testing

/// The promises of a store in PostgreSQL beyond the contract: one writer among processes, and lost connections.
@Suite(
  .enabled(if: PostgresServer.canRun, Comment(rawValue: PostgresServer.isMissing)), .timeLimit(.minutes(10)))
struct PostgresStoreTests {
  @Test("A second process takes over writing, and the first one can only read")
  func takeover() async throws {
    try await withDatabase { settings in
      let first = try PostgresEntitlementStore(settings)
      _ = try await first.append("a")
      let second = try PostgresEntitlementStore(settings)
      await #expect(throws: StoreError.conflict("another process writes to this store")) {
        try await first.append("b")
      }
      #expect(try await second.append("c").id == EvidenceID(rawValue: 2))
      #expect(try await first.count() == 2)
      await first.close()
      await second.close()
    }
  }

  @Test("A database with another encoding is refused by name", arguments: ["LATIN1", "SQL_ASCII"])
  func encoding(name: String) async throws {
    let server = try PostgresServer.shared()
    let database = try server.makeDatabase(encoding: name)
    defer { try? server.removeDatabase(database) }
    let refusal = StoreError.failed("the database '\(database)' has the encoding \(name) instead of UTF8")
    #expect(throws: refusal) { try PostgresEntitlementStore(server.settings(database)) }
  }

  @Test("A store opened again finds what was written")
  func reopened() async throws {
    try await withDatabase { settings in
      let first = try PostgresEntitlementStore(settings)
      _ = try await first.append("a")
      await first.close()
      let second = try PostgresEntitlementStore(settings)
      #expect(try await second.append("a").isDuplicate)
      #expect(try await second.append("b").id == EvidenceID(rawValue: 2))
      await second.close()
    }
  }

  @Test("After the server ended all sessions, the next write and the next read succeed")
  func lostSessions() async throws {
    try await withDatabase { settings in
      let store = try PostgresEntitlementStore(settings)
      _ = try await store.append("a")
      try endSessions(settings)
      // The writer repeats what its lost session did not commit.
      #expect(try await store.append("b").id == EvidenceID(rawValue: 2))
      // The loss appears at the first use of each session of readers.
      for _ in 0..<200 { _ = try? await store.count() }
      #expect(try await store.count() == 2)
      await store.close()
    }
  }

  @Test("A writer whose program is too old for the tables by now commits nothing more")
  func contractedTables() async throws {
    try await withDatabase { settings in
      let store = try PostgresEntitlementStore(settings)
      _ = try await store.append("a")
      let control = try PostgresConnection<PostgresError>(settings)
      // As `entitled store migrate --contract` of the next version, while this process was frozen.
      try control.execute("UPDATE store_version SET oldest = oldest + 1")
      await #expect(throws: StoreError.conflict("another process writes to this store")) {
        try await store.append("b")
      }
      #expect(try control.number("SELECT count(*) FROM evidence") == 1)
      await store.close()
    }
  }

  @Test("A write that met a lock of another session runs again", arguments: ["40P01", "40001", "55P03"])
  func conflict(sqlState: String) async throws {
    try await withDatabase { settings in
      let store = try PostgresEntitlementStore(settings)
      let control = try PostgresConnection<PostgresError>(settings)
      // A rollback does not set the sequence back.
      try control.execute(
        """
        CREATE SEQUENCE attempts;
        CREATE FUNCTION fail_once() RETURNS trigger LANGUAGE plpgsql AS
          'BEGIN IF nextval(''attempts'') = 1 THEN RAISE EXCEPTION USING ERRCODE = ''\(sqlState)''; END IF;
            RETURN NEW; END';
        CREATE TRIGGER fail_once BEFORE INSERT ON evidence FOR EACH ROW EXECUTE FUNCTION fail_once();
        """)
      _ = try await store.append("a")
      #expect(try await store.count() == 1)
      #expect(try control.number("SELECT last_value FROM attempts") == 2)
      await store.close()
    }
  }

  @Test("A commit that was lost with its connection is an error, and the next write succeeds")
  func lostCommit() async throws {
    try await withDatabase { settings in
      let store = try PostgresEntitlementStore(settings)
      let connection = try PostgresConnection<PostgresError>(settings)
      // The session ends inside the commit.
      try connection.execute(
        """
        CREATE FUNCTION end_session() RETURNS trigger LANGUAGE plpgsql AS
          'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END';
        CREATE CONSTRAINT TRIGGER lost AFTER INSERT ON evidence DEFERRABLE INITIALLY DEFERRED
          FOR EACH ROW EXECUTE FUNCTION end_session();
        """)
      await #expect(throws: StoreError.self) { try await store.append("a") }
      try connection.execute("DROP TRIGGER lost ON evidence")
      // Nothing was written, and the writer still has its claim.
      #expect(try await store.append("a").id == EvidenceID(rawValue: 1))
      #expect(try await store.count() == 1)
      await store.close()
    }
  }

  @Test("A write whose commit succeeded while its connection was lost succeeds, once")
  func unknownOutcome() async throws {
    let server = try PostgresServer(["--fsync", "off"])
    let settings = server.settings(try server.makeDatabase())
    let store = try PostgresEntitlementStore(settings)
    let control = try PostgresConnection<PostgresError>(settings)
    // A commit is durable here and then waits for a standby that does not exist.
    try control.execute("ALTER SYSTEM SET synchronous_standby_names = 'missing'")
    try control.execute("SELECT pg_reload_conf()")
    async let appended = store.append("a")
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
    while try control.number(waiting) == 0 { await Task.yield() }
    try control.execute(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
    try control.execute("ALTER SYSTEM RESET synchronous_standby_names")
    try control.execute("SELECT pg_reload_conf()")
    #expect(try await appended.id == EvidenceID(rawValue: 1))
    #expect(try await store.append("a").isDuplicate)
    #expect(try await store.count() == 1)
    await store.close()
  }

  @Test("A body whose statement fails only at the commit fails alone")
  func lateFailure() async throws {
    try await withDatabase { settings in
      let store = try PostgresEntitlementStore(settings)
      let stored = try await store.append("a")
      let twice = OwnershipChange(
        line: LineKey(appID: "ocean", environment: .sandbox, lineID: "L1"), customerID: "ana", gained: true,
        at: Instant(millisecondsSince1970: 1), evidenceID: stored.id)
      async let good: [AppendedEvidence] = withThrowingTaskGroup(of: AppendedEvidence.self) { group in
        for number in 0..<20 { group.addTask { try await store.append("e\(number)") } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      await #expect(throws: StoreError.self) {
        try await store.write { transaction throws(StoreError) in
          try transaction.record(twice)
          try transaction.record(twice)
        }
      }
      #expect(try await good.count == 20)
      #expect(try await store.count() == 21)
      await store.close()
    }
  }

  @Test(
    "The database refuses the data of a write for its values, a constraint or a limit",
    arguments: [
      ("22021", true), ("23505", true), ("23514", true), ("54000", true), ("22012", false), ("40001", false),
      ("53100", false), ("57P01", false), ("58030", false), ("XX000", false),
    ])
  func refusals(sqlState: String, isRefused: Bool) {
    let error = StoreError(PostgresError(sqlState: sqlState, primaryMessage: "no"))
    #expect((error == .refused("no (SQLSTATE \(sqlState))")) == isRefused)
  }

  private func endSessions(_ settings: PostgresSettings) throws {
    try PostgresConnection<PostgresError>(settings).execute(
      """
      SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()
      """)
  }
}

/// Runs `body` with an empty database.
func withDatabase(_ body: (PostgresSettings) async throws -> Void) async throws {
  try await PostgresSlots.shared.withDatabase(body)
}
