import AppStore
import Entitlements
import PostgreSQL
import PostgresStore
import PostgresSupport
import Store
import Testing

/// A process that follows the commits of another one in the same database.
@Suite(.enabled(if: PostgresServer.canRun, Comment(rawValue: PostgresServer.isMissing)))
struct FeedTests {
  @Test(
    "A commit of another process raises the versions of its customers, emits a commit, and advances the feed",
    arguments: [false, true])
  func follows(isPooled: Bool) async throws {
    try await withDatabase(isPooled: isPooled) { settings in
      let reader = try PostgresEntitlementStore(settings)
      let writer = try PostgresEntitlementStore(settings)
      // The writer took over: what it commits is news to the first one.
      let (ana, ben) = (customer("ana"), customer("ben"))
      let before = reader.changes.lastCommit
      var commits = reader.commits().makeAsyncIterator()
      try await writer.put(ana)
      await commits.next()
      let position = try await writer.position()
      #expect(await reader.feed.waitFor(position, atMost: .seconds(60)) == .reached)
      #expect(reader.changes.lastCommit(in: reader.changes.slot(of: ana)) > before)
      #expect(reader.changes.lastCommit(in: reader.changes.slot(of: ben)) <= before)
      #expect(reader.feed.term == position.term && reader.feed.position == position.mark)
      await reader.close()
      await writer.close()
    }
  }

  @Test("The writer's own commits advance its feed before the write returns, and no customer is raised twice")
  func ownCommits() async throws {
    try await withDatabase { settings in
      let store = try PostgresEntitlementStore(settings)
      for count in 1...20 {
        try await store.put(customer("c\(count)"))
        #expect(store.feed.position == Int64(count))
        let position = try await store.position()
        #expect(store.feed.reach(position) != .unknown)
      }
      await store.close()
    }
  }

  @Test("A process whose missing announcements were deleted raises all customers")
  func gap() async throws {
    try await withDatabase { settings in
      let reader = try PostgresEntitlementStore(settings)
      let control = try PostgresConnection<PostgresError>(settings)
      let slot = reader.changes.slot(of: customer("never written"))
      #expect(reader.changes.lastCommit(in: slot) == 0)
      // A hundred commits, of which only the last is announced.
      try control.execute(
        """
        BEGIN; UPDATE head SET position = position + 100;
        INSERT INTO change SELECT position, now(), '{}' FROM head; COMMIT
        """)
      #expect(await reader.feed.waitFor(commits: 100, atMost: .seconds(60)))
      #expect(reader.changes.lastCommit(in: slot) > 0)
      await reader.close()
    }
  }

  @Test("More announcements than a page are followed in order, without raising other customers")
  func pages() async throws {
    try await withDatabase { settings in
      let reader = try PostgresEntitlementStore(settings)
      let control = try PostgresConnection<PostgresError>(settings)
      let (last, other) = (customer("last"), customer("other"))
      try control.execute(
        """
        BEGIN; UPDATE head SET position = position + 2500;
        INSERT INTO change SELECT number, now(), '{}' FROM generate_series(1, 2500) number;
        UPDATE change SET customers = '{\(last.storedHash)}' WHERE position = 2500; COMMIT
        """)
      #expect(await reader.feed.waitFor(commits: 2500, atMost: .seconds(60)))
      #expect(reader.changes.lastCommit(in: reader.changes.slot(of: last)) > 0)
      #expect(reader.changes.lastCommit(in: reader.changes.slot(of: other)) == 0)
      await reader.close()
    }
  }

  @Test(
    "A position of a term that the database lost, or that lies beyond its end, is unknown; one before is reached"
  )
  func restored() async throws {
    let server = try PostgresServer.shared()
    let name = try server.makeDatabase()
    defer { try? server.removeDatabase(name) }
    let store = try PostgresEntitlementStore(server.settings(name))
    try await store.put(customer("ana"))
    let kept = try await store.position()
    await store.close()
    let copy = try server.makeDatabase(template: name)
    defer { try? server.removeDatabase(copy) }
    // The original goes on, in the same term and in a later one; the copy is what a backup restores.
    let original = try PostgresEntitlementStore(server.settings(name))
    try await original.put(customer("ben"))
    let lost = try await original.position()
    await original.close()
    let restored = try PostgresEntitlementStore(server.settings(copy))
    try await restored.put(customer("cat"))
    #expect(await restored.feed.waitFor(kept, atMost: .seconds(60)) == .reached)
    #expect(await restored.feed.waitFor(lost, atMost: .seconds(60)) == .unknown)
    let beyond = StorePosition(of: "ocean", sequence: 0, mark: kept.mark + 1, term: kept.term)
    #expect(await restored.feed.waitFor(beyond, atMost: .seconds(60)) == .unknown)
    for (position, isIncluded) in [(kept, true), (lost, false), (beyond, false)] {
      #expect(try await restored.includes(position) == isIncluded)
    }
    let last = try await restored.position()
    #expect(try await restored.includes(last))
    let next = StorePosition(of: "ocean", sequence: 0, mark: last.mark + 1, term: last.term)
    #expect(try await !restored.includes(next))
    await restored.close()
  }

  @Test(
    "A process that followed commits that a failover lost raises all customers, also if others took their positions"
  )
  func lostCommits() async throws {
    try await withDatabase { settings in
      let reader = try PostgresEntitlementStore(settings)
      let control = try PostgresConnection<PostgresError>(settings)
      let slot = reader.changes.slot(of: customer("never written"))
      try control.execute(
        """
        BEGIN; UPDATE head SET epoch = 2, position = 3; INSERT INTO history (epoch, name, position) VALUES (2, 22, 0);
        INSERT INTO change SELECT number, now(), '{}' FROM generate_series(1, 3) number; COMMIT
        """)
      #expect(await reader.feed.waitFor(commits: 3, atMost: .seconds(60)))
      #expect(reader.changes.lastCommit(in: slot) == 0)
      // The standby that took over had only the first of them, and another writer has committed since.
      try control.execute(
        """
        BEGIN; UPDATE head SET epoch = 3, position = 5; INSERT INTO history (epoch, name, position) VALUES (3, 33, 1);
        DELETE FROM change WHERE position > 1;
        INSERT INTO change SELECT number, now(), '{}' FROM generate_series(2, 5) number; COMMIT
        """)
      #expect(await reader.feed.waitFor(commits: 5, atMost: .seconds(60)))
      #expect(reader.changes.lastCommit(in: slot) > 0)
      await reader.close()
    }
  }

  @Test("A takeover raises no customer of a process that follows")
  func takeover() async throws {
    try await withDatabase { settings in
      let reader = try PostgresEntitlementStore(settings)
      let control = try PostgresConnection<PostgresError>(settings)
      let slot = reader.changes.slot(of: customer("never written"))
      for epoch in 2...4 {
        try control.execute(
          """
          BEGIN; UPDATE head SET epoch = \(epoch), position = position + 2;
          INSERT INTO history (epoch, name, position) SELECT \(epoch), \(epoch), position - 2 FROM head;
          INSERT INTO change SELECT position - number, now(), '{}' FROM head, generate_series(0, 1) number; COMMIT
          """)
        #expect(await reader.feed.waitFor(commits: Int64(epoch - 1) * 2, atMost: .seconds(60)))
      }
      #expect(reader.feed.term == 4)
      #expect(reader.changes.lastCommit(in: slot) == 0)
      await reader.close()
    }
  }

  @Test("While the database is away, reads and writes fail at once; then the feed continues")
  func away() async throws {
    let server = try PostgresServer(["--fsync", "off"])
    let settings = server.settings(try server.makeDatabase())
    let store = try PostgresEntitlementStore(settings)
    try await store.put(customer("ana"))
    try server.stop()
    while !store.feed.isAway { try await Task.sleep(for: .milliseconds(5)) }
    let start = ContinuousClock.now
    await #expect(throws: StoreError.self) { try await store.put(customer("ben")) }
    await #expect(throws: StoreError.self) { try await store.position() }
    #expect(ContinuousClock.now - start < .seconds(20), "neither waits until the database is back")
    let later = store.feed.contact.advanced(byMilliseconds: 6_000)
    #expect(store.feed.staleness(at: later) == .stale(since: store.feed.contact))
    #expect(store.feed.staleness(at: later.advanced(byMilliseconds: 3_600_000)) == .expired)
    try server.start()
    while store.feed.isAway { try await Task.sleep(for: .milliseconds(5)) }
    // The sessions of before show their loss at their first use.
    while (try? await store.put(customer("cat"))) == nil {}
    while (try? await store.position()) == nil {}
    let position = try await store.position()
    #expect(store.feed.position == position.mark)
    await store.close()
  }

  @Test(
    "While the database accepts sessions, it is not away, although it ends several before they have an answer"
  )
  func endedAgain() async throws {
    try await withDatabase { settings in
      // On a busy machine the sessions wait for long until each was ended.
      let store = try PostgresEntitlementStore(settings, answerTimeout: .seconds(600))
      let lock = try PostgresConnection<PostgresError>(settings)
      let control = try PostgresConnection<PostgresError>(settings)
      // Each session of the feed waits for the table.
      try lock.execute("BEGIN; LOCK TABLE change IN ACCESS EXCLUSIVE MODE")
      let waiting = """
        SELECT coalesce(max(pid), 0) FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'
        """
      var seen: Set<Int64> = [0]
      while seen.count < 5 {
        let session = try control.number(waiting)
        guard seen.insert(session).inserted else {
          try await Task.sleep(for: .milliseconds(5))
          continue
        }
        if seen.count < 5 { try control.execute("SELECT pg_terminate_backend(\(session), 60000)") }
      }
      #expect(!store.feed.isAway)
      try lock.execute("ROLLBACK")
      try await store.put(customer("ana"))
      #expect(try await store.position().mark == 1)
      await store.close()
    }
  }

  @Test("Announcements older than a day, and all but the last terms, are deleted by the process that writes")
  func trimmed() async throws {
    try await withDatabase { settings in
      let control = try PostgresConnection<PostgresError>(settings)
      let store = try PostgresEntitlementStore(settings)
      try await store.put(customer("ana"))
      try await store.put(customer("ben"))
      try control.execute(
        """
        UPDATE change SET at = at - interval '25 hours' WHERE position = 1;
        INSERT INTO history (epoch, name, position) VALUES (-9999, 5, 0), (-9998, 6, 0)
        """)
      let deleted =
        "SELECT 1 FROM change WHERE position = 1 UNION ALL SELECT 1 FROM history WHERE epoch = -9999"
      while try control.number("SELECT count(*) FROM (\(deleted)) deleted") > 0 {
        try await Task.sleep(for: .milliseconds(50))
      }
      #expect(try control.number("SELECT count(*) FROM change") == 1)
      #expect(try control.number("SELECT count(*) FROM history") == 2)
      await store.close()
    }
  }

  private func withDatabase(
    isPooled: Bool = false, _ body: (PostgresSettings) async throws -> Void
  ) async throws {
    try await PostgresSlots.shared.withDatabase(isPooled: isPooled, body)
  }
}

extension PostgresEntitlementStore {
  func put(_ customer: CustomerKey) async throws(StoreError) {
    try await write { transaction throws(StoreError) in
      let answers = PrecomputedAnswers(CustomerFacts(), in: ocean, from: Instant(millisecondsSince1970: 0))
      try transaction.putFacts(CustomerFacts(), answers: answers, of: customer)
    }
  }

  /// Whether a snapshot has the commits up to a position, whatever this process knows.
  fileprivate func includes(_ position: StorePosition) async throws(StoreError) -> Bool {
    try await read { snapshot throws(StoreError) in
      try snapshot.includes(CommitMark(term: position.term, commits: position.mark))
    }
  }

  fileprivate func position() async throws(StoreError) -> StorePosition {
    try await read { snapshot throws(StoreError) in try snapshot.position(of: "ocean") }
  }
}
