import Dispatch
import Foundation
import PostgreSQL
import PostgresSupport
import Store
import Testing

@testable import PostgresStore

/// Commits of a leader whose result was lost, and after which another replica took over.
@Suite(.enabled(if: PostgresServer.canRun, Comment(rawValue: PostgresServer.isMissing)))
struct LostCommitTests {
  @Test("A commit that was lost with its connection before a takeover is known to have changed nothing")
  func lostCommit() async throws {
    try await withReplicas { first, _, control in
      try await first.beat()
      // The session ends inside the commit, when the lock is free.
      try control.execute(
        """
        CREATE FUNCTION end_session() RETURNS trigger LANGUAGE plpgsql AS '
          BEGIN
            PERFORM pg_advisory_xact_lock(1);
            PERFORM pg_terminate_backend(pg_backend_pid());
            RETURN NULL;
          END';
        CREATE CONSTRAINT TRIGGER lost AFTER INSERT ON evidence DEFERRABLE INITIALLY DEFERRED
          FOR EACH ROW EXECUTE FUNCTION end_session();
        SELECT pg_advisory_lock(1)
        """)
      let appended = Task { try await first.append("a") }
      try await waitForLock(control, "advisory")
      let takeover = takeOver(first.settings)
      try await waitForLock(control, "transactionid")
      try control.execute("SELECT pg_advisory_unlock(1)")
      await #expect(throws: StoreError.anotherWriter) { try await appended.value }
      try await takeover.value
      #expect(try first.role == .follower)
      #expect(try await first.count() == 0)
    }
  }

  @Test("A commit that succeeded before a takeover, while its connection was lost, is a success")
  func unknownCommit() async throws {
    let server = try PostgresServer(["--fsync", "off"])
    let settings = server.settings(try server.makeDatabase())
    let store = try PostgresEntitlementStore(
      settings, replica: ReplicaName(name: "a", address: ""), leaseDuration: .seconds(600))
    try await store.beat()
    let control = try PostgresConnection<PostgresError>(settings)
    // A commit is durable here and then waits for a standby that does not exist.
    try control.execute("ALTER SYSTEM SET synchronous_standby_names = 'missing'")
    try control.execute("SELECT pg_reload_conf()")
    async let appended = store.append("a")
    let waiting = "FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
    while try control.number("SELECT count(*) \(waiting)") == 0 { await Task.yield() }
    let takeover = takeOver(settings)
    try await waitForLock(control, "transactionid")
    try control.execute("SELECT pg_terminate_backend(pid) \(waiting)")
    #expect(try await appended.id == EvidenceID(rawValue: 1))
    try await takeover.value
    #expect(try store.role == .follower)
    await #expect(throws: StoreError.notTheLeader) { try await store.append("b") }
    #expect(try await store.count() == 1)
    try control.execute("ALTER SYSTEM RESET synchronous_standby_names")
    try control.execute("SELECT pg_reload_conf()")
    await store.close()
  }

  @Test(
    "A leader whose takeover the database lost does not write after another replica took over with the same epoch",
    arguments: [false, true])
  func lostTakeover(endsSession: Bool) async throws {
    try await withReplicas { first, _, control in
      try await first.beat()
      _ = try await first.append("a")
      // As in a standby that lacked the takeover, where another replica leads and has committed as often.
      try control.execute("UPDATE history SET name = 7 WHERE epoch = 1")
      if endsSession {
        try control.execute(
          """
          SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
          WHERE datname = current_database() AND application_name LIKE 'entitled writer%'
          """)
      }
      await #expect(throws: StoreError.anotherWriter) { try await first.append("b") }
      #expect(try first.role == .follower)
      #expect(try control.number("SELECT epoch FROM head") == 1)
      #expect(try await first.count() == 1)
    }
  }

  @Test("After a failover lost commits, no reader uses a shared segment whose id another one got")
  func sharedSegment() async throws {
    try await withReplicas { first, _, control in
      try await first.beat()
      let certificates = String(repeating: "abc", count: 200)
      let header = Data(#"{"x5c":["\#(certificates)"]}"#.utf8).base64EncodedString()
      let id = try await first.append(header).id
      let reader = try first.makeCheckReader()
      func body() throws -> String {
        reader.endTick()
        let snapshot = try #require(reader as? any StoreSnapshot)
        return String(decoding: try #require(try snapshot.evidence(id)?.evidence.content.body), as: UTF8.self)
      }
      #expect(try body() == header)
      try control.execute("UPDATE shared_segment SET content = 'another'")
      #expect(try body() == header)
      first.changes.raiseAll()
      #expect(try body() == "another")
    }
  }

  /// Takes the right to write as another replica does, as soon as the commit in progress has ended. It waits on a thread of
  /// its own, because those of tasks are few, and the commit needs them.
  private func takeOver(_ settings: PostgresSettings) -> Task<Void, any Error> {
    Task {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        DispatchQueue(label: "takeover").async {
          continuation.resume(
            with: Result {
              try PostgresConnection<PostgresError>(settings).execute(
                """
                SET synchronous_commit = local;
                WITH taken AS (UPDATE head SET epoch = epoch + 1 RETURNING epoch, position)
                  INSERT INTO history (epoch, name, position) SELECT epoch, 7, position FROM taken
                """)
            })
        }
      }
    }
  }
}
