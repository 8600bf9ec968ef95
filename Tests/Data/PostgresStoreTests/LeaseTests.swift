import PostgreSQL
import PostgresSupport
import Store
import Testing

@testable import PostgresStore

/// Who may take the lease, and when.
@Suite(.enabled(if: PostgresServer.canRun, Comment(rawValue: PostgresServer.isMissing)))
struct LeaseTests {
  @Test("A leader that steps down leaves the lease to another replica, and takes it after the pause")
  func stepDown() async throws {
    try await withReplicas { first, second, _ in
      try await first.beat()
      try await first.shared.stepDown(for: .zero)
      #expect(try first.role == .follower)
      await #expect(throws: StoreError.notTheLeader) { try await first.append("a") }
      try await first.beat()
      #expect(try first.role.isLeader)
      try await first.shared.stepDown(for: .seconds(3600))
      try await first.beat()
      #expect(try first.role == .follower)
      try await second.beat()
      #expect(try second.role.isLeader)
      // A follower has nothing to give up.
      try await first.shared.stepDown(for: .zero)
      #expect(try await second.append("b").id == EvidenceID(rawValue: 1))
    }
  }

  @Test("Neither a renewal of the lease nor its end waits for the disk or a standby; other commits do")
  func durability() async throws {
    try await withReplicas { first, _, control in
      // A deferred trigger runs when the transaction commits.
      try control.execute(
        """
        CREATE TABLE seen (setting TEXT);
        CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS '
          BEGIN
            INSERT INTO seen SELECT current_setting(''synchronous_commit'');
            RETURN NULL;
          END';
        CREATE CONSTRAINT TRIGGER lease AFTER UPDATE ON leader DEFERRABLE INITIALLY DEFERRED
          FOR EACH ROW EXECUTE FUNCTION note();
        CREATE CONSTRAINT TRIGGER commits AFTER UPDATE OF position ON head DEFERRABLE INITIALLY DEFERRED
          FOR EACH ROW EXECUTE FUNCTION note();
        """)
      func settings() throws -> String {
        let rows = try control.query(PostgresRequest("SELECT string_agg(setting, ' ') FROM seen"))
        try control.execute("DELETE FROM seen")
        return rows.text(0, 0) ?? ""
      }
      try await first.beat()
      // The takeover is one statement with the first term, after which the lease is renewed.
      #expect(try settings() == "on off")
      _ = try await first.append("a")
      #expect(try settings() == "on")
      try await first.beat()
      try await first.shared.release()
      #expect(try settings() == "off off")
    }
  }

  @Test("A lease that ends later than any lease can, as by another clock, is free")
  func leaseOfAnotherClock() async throws {
    try await withReplicas { first, second, control in
      try await first.beat()
      try control.execute("UPDATE leader SET until = clock_timestamp() + interval '1 hour'")
      try await second.beat()
      #expect(try second.role == .leader(epoch: 2))
      await #expect(throws: StoreError.self) { try await first.append("a") }
      try await first.beat()
      #expect(try first.role == .follower && first.leader?.epoch == 2)
    }
  }

  @Test("A replica that was seen in the future, as by another clock, is not alive")
  func replicaOfAnotherClock() async throws {
    try await withReplicas { first, _, control in
      try first.shared.announce(catalog: 1)
      _ = try control.query(CatalogOrder.registration(of: 1))
      _ = try control.query(CatalogOrder.registration(of: 2))
      try control.execute(
        """
        INSERT INTO replica (replica_id, name, program, schema_version, catalog, seen_at, behind, lag)
          VALUES ('x', 'c', '1', 1, 2, clock_timestamp() + interval '1 hour', 0, 0)
        """)
      #expect(try await first.shared.replicas().isEmpty)
      try await first.beat()
      #expect(try first.role.isLeader)
    }
  }

  @Test("Two catalogs that are registered at the same time get different numbers")
  func catalogs() async throws {
    try await withReplicas { first, _, control in
      try first.shared.announce(catalog: 1)
      try control.execute("BEGIN")
      _ = try control.query(CatalogOrder.registration(of: 2))
      async let beat: Void = first.beat()
      try await waitForLock(try PostgresConnection(first.settings), "transactionid")
      try control.execute("COMMIT")
      try await beat
      _ = try control.query(CatalogOrder.registration(of: 1))
      #expect(try control.number("SELECT number FROM catalog_version WHERE catalog = 1") == 2)
      #expect(try control.number("SELECT number FROM catalog_version WHERE catalog = 2") == 1)
    }
  }
}
