import AppStore
import Dispatch
import PostgreSQL
import PostgresSupport
import Store
import TestSupport
import Testing

@testable import PostgresStore

/// Replicas that share a database: the lease, the epoch, and what happens when either is lost.
@Suite(.enabled(if: PostgresServer.canRun, Comment(rawValue: PostgresServer.isMissing)))
struct ReplicaTests {
  /// Ends the session of the leader, while it does nothing.
  private static let endOfWriterSession = """
    SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name LIKE 'entitled writer%' AND state = 'idle'
    """

  @Test("The first replica leads, and a second one follows", arguments: [false, true])
  func first(isPooled: Bool) async throws {
    try await withReplicas(isPooled: isPooled) { first, second, _ in
      try await first.beat()
      try await second.beat()
      #expect(try first.role == .leader(epoch: 1) && second.role == .follower)
      #expect(try second.leader == CurrentLeader(ReplicaName(name: "a", address: "host:1"), epoch: 1))
      #expect(try await first.append("a").id == EvidenceID(rawValue: 1))
      await #expect(throws: StoreError.notTheLeader) { try await second.append("b") }
      #expect(try await second.count() == 1)
    }
  }

  @Test("A replica takes over when the lease has run out, and the former leader changes nothing")
  func takeover() async throws {
    try await withReplicas { first, second, control in
      try await first.beat()
      try await second.beat()
      _ = try await first.append("a")
      try control.execute("UPDATE leader SET until = clock_timestamp() - interval '1 second'")
      try await second.beat()
      #expect(try second.role == .leader(epoch: 2))
      // As a process that was frozen meanwhile: it has not looked at its lease again.
      #expect(try first.role == .leader(epoch: 1))
      await #expect(throws: StoreError.self) { try await first.append("b") }
      // Its session was ended, so the refusal appears at the latest with the next one.
      await #expect(throws: StoreError.self) { try await first.append("c") }
      #expect(try first.role == .follower)
      #expect(try await second.append("d").id == EvidenceID(rawValue: 2))
      #expect(try await second.count() == 2)
    }
  }

  @Test("A replica that takes over keeps what it has in memory, but for what the former leader wrote")
  func memory() async throws {
    try await withReplicas { first, second, control in
      try await first.beat()
      try await second.beat()
      try await first.put(customer("ana"))
      try control.execute("UPDATE leader SET until = clock_timestamp() - interval '1 second'")
      try await second.beat()
      try await second.put(customer("ben"))
      #expect(await second.feed.waitFor(commits: 2, atMost: .seconds(60)))
      let versions = second.changes
      #expect(["ana", "ben"].allSatisfy { versions.lastCommit(in: versions.slot(of: customer($0))) > 0 })
      #expect(versions.lastCommit(in: versions.slot(of: customer("cat"))) == 0)
    }
  }

  @Test("A frozen leader's open transaction holds no lock against the next leader")
  func locks() async throws {
    try await withReplicas { first, second, control in
      try await first.beat()
      let frozen = Frozen()
      let stuck = Task {
        try await first.write { transaction throws(StoreError) in
          _ = try transaction.append(evidence("stuck"))
          // The body reads, so what it deferred is sent: the transaction holds locks now.
          _ = try transaction.append(evidence("stuck"))
          frozen.wait()
        }
      }
      await frozen.reached()
      try control.execute("UPDATE leader SET until = clock_timestamp() - interval '1 second'")
      try await second.beat()
      #expect(try second.role.isLeader)
      #expect(!(try await second.append("stuck").isDuplicate))
      frozen.end()
      await #expect(throws: StoreError.self) { try await stuck.value }
      #expect(try await second.count() == 1)
    }
  }

  @Test("A leader that opens its session again does not wait for the locks of the lost one")
  func lostSession() async throws {
    try await withReplicas { first, _, lost in
      try await first.beat()
      let control = try PostgresConnection<PostgresError>(first.settings)
      let names = try control.query(
        PostgresRequest(
          """
          SELECT application_name FROM pg_stat_activity
          WHERE datname = current_database() AND application_name LIKE 'entitled writer%'
          """))
      // To the server, this session is the writer's, whose end it has not noticed.
      try lost.execute("SET application_name = '\(try #require(names.text(0, 0)))'")
      try lost.execute("BEGIN; LOCK TABLE evidence")
      try control.execute(Self.endOfWriterSession)
      while (try? await first.append("a")) == nil {}
      #expect(try await first.count() == 1)
    }
  }

  @Test("A replica whose lease another one has becomes a follower at its next beat")
  func lost() async throws {
    try await withReplicas { first, second, control in
      try await first.beat()
      try control.execute("UPDATE leader SET until = clock_timestamp() - interval '1 second'")
      try await second.beat()
      try await first.beat()
      #expect(try first.role == .follower && second.role == .leader(epoch: 2))
    }
  }

  @Test("A leader that gives the lease up writes until another replica leads")
  func release() async throws {
    try await withReplicas { first, second, _ in
      try await first.beat()
      try await first.shared.release()
      _ = try await first.append("a")
      try await second.beat()
      #expect(try second.role.isLeader)
      await #expect(throws: StoreError.anotherWriter) { try await first.append("b") }
      #expect(try first.role == .follower)
      try await first.beat()
      #expect(try first.role == .follower && second.role.isLeader)
    }
  }

  @Test("A replica that ends while it takes the lease gives it up at once")
  func releaseDuringTakeover() async throws {
    try await withReplicas { first, second, control in
      try control.execute("BEGIN; LOCK TABLE head IN EXCLUSIVE MODE")
      async let beat: Void = first.beat()
      try await waitForLock(try PostgresConnection(first.settings), "relation")
      try await first.shared.release()
      try control.execute("COMMIT")
      try await beat
      #expect(try first.role.isLeader)
      try await second.beat()
      #expect(try second.role.isLeader)
    }
  }

  @Test("A replica that lost the result of its takeover takes over again")
  func lostResult() async throws {
    try await withReplicas { first, second, control in
      try await first.beat()
      _ = try await first.append("a")
      // Its epoch was raised, and it does not know. Its lease outlasts the test on a slow machine.
      try control.execute(
        """
        UPDATE head SET epoch = epoch + 1;
        UPDATE leader SET until = clock_timestamp() + interval '15 minutes'
        """)
      await #expect(throws: StoreError.anotherWriter) { try await first.append("b") }
      #expect(try first.role == .follower)
      try await second.beat()
      #expect(try second.role == .follower)
      try await first.beat()
      #expect(try first.role.isLeader)
      #expect(try await first.append("c").id == EvidenceID(rawValue: 2))
    }
  }

  @Test(
    "A leader whose last commit the database lost in a failover leads again, without what it had in memory")
  func lostCommits() async throws {
    try await withReplicas { first, _, control in
      try await first.beat()
      _ = try await first.append("a")
      _ = try await first.append("b")
      // The rows of a standby without the last commit; the earlier sessions have ended.
      try control.execute(
        """
        BEGIN; DELETE FROM evidence WHERE evidence_id = 2; DELETE FROM change WHERE position = 2;
        UPDATE head SET position = 1; COMMIT;
        SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name LIKE 'entitled writer%'
        """)
      await #expect(throws: StoreError.anotherWriter) { try await first.append("b") }
      #expect(try first.role == .follower)
      try await first.beat()
      #expect(try first.role.isLeader)
      #expect(!(try await first.append("b").isDuplicate))
      #expect(try await first.count() == 2)
    }
  }

  @Test("A leader that lost its session continues with the next epoch, which every replica shows")
  func epochOfNewSession() async throws {
    try await withReplicas { first, second, control in
      try await first.beat()
      _ = try await first.append("a")
      try control.execute(Self.endOfWriterSession)
      while (try? await first.append("b")) == nil {}
      let epoch = try control.number("SELECT epoch FROM head")
      #expect(epoch > 1)
      #expect(try first.role == .leader(epoch: epoch))
      #expect(try first.leader?.epoch == epoch)
      try await first.beat()
      try await second.beat()
      #expect(try second.leader?.epoch == epoch)
    }
  }

  @Test("Roles are emitted when they change, and not when a leader opens its session again")
  func roles() async throws {
    try await withReplicas { first, _, control in
      var roles = try first.shared.roles().makeAsyncIterator()
      #expect(await roles.next() == .follower)
      try await first.beat()
      #expect(await roles.next() == .leader(epoch: 1))
      let term = try first.shared.term
      try control.execute(Self.endOfWriterSession)
      while (try? await first.append("a")) == nil {}
      #expect(try first.role.isLeader && first.role != .leader(epoch: 1))
      #expect(try term != nil && first.shared.term == term)
      try control.execute("UPDATE head SET epoch = epoch + 1")
      await #expect(throws: StoreError.self) { try await first.append("b") }
      #expect(await roles.next() == .follower)
      #expect(try first.shared.term == nil)
      try await first.beat()
      #expect(try first.role.isLeader && first.shared.term != term)
    }
  }

  @Test("After a day without the lease a replica leads again with what others wrote")
  func backAgain() async throws {
    try await withReplicas { first, second, control in
      try await first.beat()
      _ = try await first.append("a")
      try control.execute("UPDATE leader SET until = clock_timestamp() - interval '1 second'")
      try await second.beat()
      _ = try await second.append("b")
      try await first.beat()
      try control.execute("UPDATE leader SET until = clock_timestamp() - interval '1 second'")
      try await first.beat()
      #expect(try first.role.isLeader)
      #expect(try await first.append("b").isDuplicate)
      #expect(try await first.append("c").id == EvidenceID(rawValue: 3))
    }
  }

  @Test("Each replica knows the others by name, and how far they are behind the commits")
  func progress() async throws {
    try await withReplicas { first, second, control in
      try await first.beat()
      _ = try await first.append("a")
      let registrars = [first, second].map { store in
        Task { try await ReplicaRegistrar(store, program: "1") { _ in }.run() }
      }
      while try control.number("SELECT count(*) FROM replica") < 2 { await Task.yield() }
      try control.execute(
        """
        INSERT INTO replica (replica_id, name, program, schema_version, catalog, seen_at, behind, lag)
          VALUES ('x', 'c', '2', 1, 0, clock_timestamp(), 3, 250),
            ('y', 'd', '2', 1, 0, clock_timestamp() - interval '1 minute', 0, 0)
        """)
      let seen = try await second.shared.replicas()
      #expect(seen.map(\.name) == ["a", "b", "c"])
      #expect(
        seen.last == ReplicaProgress(name: "c", program: "2", commitsBehind: 3, lagMilliseconds: 250))
      for registrar in registrars {
        registrar.cancel()
        try? await registrar.value
      }
    }
  }

  @Test("A replica does not take over while one with a newer catalog is alive; after a rollback it does")
  func olderCatalog() async throws {
    try await withReplicas { first, second, control in
      try first.shared.announce(catalog: 1)
      try second.shared.announce(catalog: .max)
      try await first.beat()
      let end = "UPDATE leader SET until = clock_timestamp() - interval '1 second'"
      try control.execute(end)
      while try !second.role.isLeader { try await second.beat() }
      func register(_ store: PostgresEntitlementStore) -> Task<Void, any Error> {
        let registrar = ReplicaRegistrar(store, program: "1") { _ in }
        return Task { try await registrar.run() }
      }
      let alive = register(second)
      while try control.number("SELECT count(*) FROM replica") == 0 { await Task.yield() }
      try control.execute(end)
      try await first.beat()
      try await first.beat()
      #expect(try first.role == .follower)
      // A replica that was killed delays the older ones for seconds only.
      alive.cancel()
      try? await alive.value
      #expect(try control.number("SELECT count(*) FROM replica") == 0)
      while try !first.role.isLeader { try await first.beat() }
      #expect(try control.number("SELECT count(*) FROM catalog_version") == 2)
    }
  }
}

/// A write body that stops in the middle, as a process does that is frozen.
private final class Frozen: Sendable {
  private let reachedStream = AsyncStream.makeStream(of: Void.self)
  private let gate = DispatchSemaphore(value: 0)

  func wait() {
    reachedStream.continuation.finish()
    gate.wait()
  }

  func reached() async { for await _ in reachedStream.stream {} }

  func end() { gate.signal() }
}
