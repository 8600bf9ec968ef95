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
      try control.execute(
        """
        SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name LIKE 'entitled writer%' AND state = 'idle'
        """)
      while (try? await first.append("a")) == nil {}
      #expect(try await first.count() == 1)
    }
  }

  @Test("A replica whose lease another one has goes on as a follower at its next beat")
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

  @Test("A replica that lost the result of its takeover takes over again")
  func lostResult() async throws {
    try await withReplicas { first, second, control in
      try await first.beat()
      _ = try await first.append("a")
      // Its epoch was raised, and it does not know. Its lease outlasts the test on a slow machine.
      try control.execute(
        """
        UPDATE head SET epoch = epoch + 1;
        UPDATE leader SET until = clock_timestamp() + interval '1 hour'
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

  @Test("Roles are emitted when they change")
  func roles() async throws {
    try await withReplicas { first, _, control in
      var roles = try first.shared.roles().makeAsyncIterator()
      #expect(await roles.next() == .follower)
      try await first.beat()
      #expect(await roles.next() == .leader(epoch: 1))
      try control.execute("UPDATE head SET epoch = epoch + 1")
      await #expect(throws: StoreError.self) { try await first.append("a") }
      #expect(await roles.next() == .follower)
    }
  }

  @Test("An entry of a follower reaches the leader once, and its outcome returns", arguments: [false, true])
  func inbox(isPooled: Bool) async throws {
    try await withReplicas(isPooled: isPooled) { first, second, _ in
      try await first.beat()
      let (sender, receiver) = (try second.shared.inbox, try first.shared.inbox)
      async let received = outcome(of: entry("x"), through: sender)
      var found: [InboxEntry] = []
      while found.isEmpty { found = try await receiver.take(10, except: []) }
      #expect(found.map(\.body) == [Array("x".utf8)] && found.map(\.caller) == ["billing"])
      #expect(try await receiver.take(10, except: Set(found.map(\.id))).isEmpty)
      try await receiver.finish(found[0].id, [1, 2])
      #expect(try await received == [1, 2])
      #expect(try await receiver.take(10, except: []).isEmpty)
      // The first outcome stays.
      try await receiver.finish(found[0].id, [3])
      #expect(try await sender.outcome(of: found[0].id, until: .now + .seconds(60)) == [1, 2])
    }
  }

  @Test("Many entries share commits, and each has its own outcome")
  func manyEntries() async throws {
    try await withReplicas { first, second, _ in
      try await first.beat()
      let (sender, receiver) = (try second.shared.inbox, try first.shared.inbox)
      async let outcomes: Set<[UInt8]> = withThrowingTaskGroup(of: [UInt8].self) { group in
        for number in 0..<200 {
          group.addTask { try await outcome(of: entry("\(number)"), through: sender) }
        }
        return try await group.reduce(into: []) { $0.insert($1) }
      }
      var done = 0
      while done < 200 {
        let entries = try await receiver.take(64, except: [])
        try await withThrowingTaskGroup(of: Void.self) { group in
          for entry in entries { group.addTask { try await receiver.finish(entry.id, entry.body) } }
          try await group.waitForAll()
        }
        done += entries.count
      }
      #expect(try await outcomes == Set((0..<200).map { Array("\($0)".utf8) }))
    }
  }

  @Test("An outcome in a transaction that fails is not stored, and the entry stays")
  func transactionalOutcome() async throws {
    try await withReplicas { first, second, _ in
      try await first.beat()
      let (sender, receiver) = (try second.shared.inbox, try first.shared.inbox)
      let id = try await sender.append(entry("x"))
      await #expect(throws: StoreError.failed("no")) {
        try await first.write { transaction throws(StoreError) in
          try receiver.finish(id, [1], in: transaction)
          throw .failed("no")
        }
      }
      #expect(try await receiver.take(10, except: []).map(\.id) == [id])
      try await first.write { transaction throws(StoreError) in
        try receiver.finish(id, [1], in: transaction)
        _ = try transaction.append(evidence("a"))
      }
      #expect(try await receiver.take(10, except: []).isEmpty)
      #expect(try await receiver.backlog().count == 0)
    }
  }

  @Test("A follower stores no outcome")
  func outcomeOfFollower() async throws {
    try await withReplicas { first, second, _ in
      try await first.beat()
      let inbox = try second.shared.inbox
      let id = try await inbox.append(entry("x"))
      await #expect(throws: StoreError.notTheLeader) { try await inbox.finish(id, [1]) }
    }
  }

  @Test("Waiting for an outcome ends at the deadline, and the entry stays")
  func deadline() async throws {
    try await withReplicas { first, second, _ in
      try await first.beat()
      let inbox = try second.shared.inbox
      let id = try await inbox.append(entry("x"))
      await #expect(throws: StoreError.deadlineExceeded) {
        try await inbox.outcome(of: id, until: .now + .milliseconds(50))
      }
      #expect(try await first.shared.inbox.take(10, except: []).map(\.id) == [id])
    }
  }

  @Test("Outcomes are deleted after an hour")
  func retention() async throws {
    try await withReplicas { first, second, control in
      try await first.beat()
      let (sender, receiver) = (try second.shared.inbox, try first.shared.inbox)
      let old = try await sender.append(entry("old"))
      let new = try await sender.append(entry("new"))
      let waiting = try await sender.append(entry("waiting"))
      try await receiver.finish(old, [1])
      try await receiver.finish(new, [1])
      try control.execute(
        """
        UPDATE inbox SET done_at = clock_timestamp() - interval '61 minutes' WHERE id = \(old);
        UPDATE inbox SET received_at = clock_timestamp() - interval '1 day' WHERE id = \(waiting)
        """)
      try await receiver.deleteOldOutcomes()
      #expect(try control.number("SELECT count(*) FROM inbox WHERE id IN (\(new), \(waiting))") == 2)
      #expect(try control.number("SELECT count(*) FROM inbox") == 2)
      #expect(try await receiver.backlog().oldest >= 86_400_000)
    }
  }

  @Test("An append whose session was lost is repeated, and appended once")
  func lostAppend() async throws {
    try await withReplicas { first, _, control in
      let inbox = try first.shared.inbox
      _ = try await inbox.append(entry("a"))
      try control.execute(
        """
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()
        """)
      _ = try await inbox.append(entry("b"))
      #expect(try control.number("SELECT count(*) FROM inbox") == 2)
    }
  }

  @Test("An append that takes too long has an unknown outcome, because the entry may be executed yet")
  func slowAppend() async throws {
    try await withReplicas { _, second, control in
      let inbox = try second.shared.inbox
      _ = try await inbox.append(entry("a"))
      try control.execute("BEGIN; LOCK TABLE inbox IN EXCLUSIVE MODE")
      await #expect(throws: InboxAppender.unknown) { try await inbox.append(entry("b")) }
      try control.execute("ROLLBACK")
      while try control.number("SELECT count(*) FROM inbox") < 2 { await Task.yield() }
    }
  }

  @Test("Large entries are read a few at a time, so that none takes too long")
  func largeEntries() async throws {
    try await withReplicas { first, second, control in
      let (sender, receiver) = (try second.shared.inbox, try first.shared.inbox)
      var ids: [Int64] = []
      for size in [PostgresInbox.batchBytes / 2, PostgresInbox.batchBytes / 2, 5, PostgresInbox.batchBytes] {
        let id = try await sender.append(entry("\(size)"))
        try control.execute(
          "UPDATE inbox SET body = convert_to(repeat('x', \(size)), 'UTF8') WHERE id = \(id)")
        ids.append(id)
      }
      #expect(try await receiver.take(10, except: []).map(\.id) == Array(ids[..<2]))
      #expect(try await receiver.take(10, except: Set(ids[..<2])).map(\.id) == Array(ids[2...]))
      #expect(try await receiver.take(10, except: Set(ids[..<3])).map(\.id) == [ids[3]])
    }
  }

  @Test("An entry of a kind that only a newer program has stays, and does not delay others")
  func newerKind() async throws {
    try await withReplicas { first, second, control in
      try await first.beat()
      let (sender, receiver) = (try second.shared.inbox, try first.shared.inbox)
      let newer = try await sender.append(entry("newer"))
      let known = try await sender.append(entry("known"))
      try control.execute("UPDATE inbox SET kind = 'newer' WHERE id = \(newer)")
      #expect(try await receiver.take(10, except: []).map(\.id) == [known])
      try await receiver.finish(known, [1])
      #expect(try await receiver.backlog().count == 1)
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

  /// Runs `body` with two replicas, which do nothing on their own, and another session.
  private func withReplicas(
    isPooled: Bool = false,
    _ body: (PostgresEntitlementStore, PostgresEntitlementStore, PostgresConnection<PostgresError>)
      async throws -> Void
  ) async throws {
    try await PostgresSlots.shared.run {
      let server = try PostgresServer.shared()
      let name = try server.makeDatabase()
      defer { try? server.removeDatabase(name) }
      let settings = isPooled ? server.pooledSettings(name) : server.settings(name)
      // The tests end leases themselves; on a busy machine the usual five seconds could pass between two steps.
      let lease = Duration.seconds(600)
      let first = try PostgresEntitlementStore(
        settings, replica: ReplicaName(name: "a", address: "host:1"), leaseDuration: lease)
      let second = try PostgresEntitlementStore(
        settings, replica: ReplicaName(name: "b", address: "host:2"), leaseDuration: lease)
      try await body(first, second, try PostgresConnection<PostgresError>(server.settings(name)))
      await first.close()
      await second.close()
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

private func outcome(of entry: InboxEntry, through inbox: any Inbox) async throws -> [UInt8] {
  let id = try await inbox.append(entry)
  return try await inbox.outcome(of: id, until: .now + .seconds(60))
}

private func entry(_ body: String) -> InboxEntry {
  InboxEntry(
    kind: .call, appID: "ocean", method: "/x/y", caller: "billing", context: [], body: Array(body.utf8))
}

private func evidence(_ text: String) -> Evidence {
  Evidence(
    appID: "ocean", environment: .sandbox, customerID: nil, kind: .signedTransaction, source: .submission,
    receivedAt: Instant(millisecondsSince1970: 5), content: EvidenceContent(Array(text.utf8)),
    verdict: .accepted)
}

extension PostgresEntitlementStore {
  fileprivate var shared: any Replication { get throws { try #require(replication) } }
  fileprivate var role: ReplicaRole { get throws { try shared.role } }
  fileprivate var leader: CurrentLeader? { get throws { try shared.leader } }
  fileprivate func beat() async throws { try await shared.beat() }

  fileprivate func append(_ text: String) async throws(StoreError) -> AppendedEvidence {
    try await write { transaction throws(StoreError) in try transaction.append(evidence(text)) }
  }

  fileprivate func count() async throws(StoreError) -> Int64 {
    try await read { snapshot throws(StoreError) in try snapshot.counts().evidence }
  }
}
