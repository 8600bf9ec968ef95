import PostgreSQL
import PostgresSupport
import Store
import Testing

@testable import PostgresStore

/// Entries and messages that are needed no longer: each is removed or read.
@Suite(.enabled(if: PostgresServer.canRun, Comment(rawValue: PostgresServer.isMissing)))
struct InboxUpkeepTests {
  @Test("Entries are removed with the effects of their transaction, or stay without them")
  func removal() async throws {
    try await withReplicas { first, second, control in
      try await first.beat()
      let (sender, receiver) = (try second.shared.inbox, try first.shared.inbox)
      var keys: [InboxKey] = []
      for name in ["x", "y", "z"] { keys.append(try await sender.append(entry(name))) }
      let removed = keys[..<2]
      await #expect(throws: StoreError.failed("no")) {
        try await first.write { transaction throws(StoreError) in
          for key in removed { try receiver.remove(key, in: transaction) }
          throw .failed("no")
        }
      }
      #expect(try await receiver.take(10, except: .init()).map(\.key) == keys)
      _ = try await first.write { transaction throws(StoreError) in
        for key in removed { try receiver.remove(key, in: transaction) }
        return try transaction.append(evidence("a"))
      }
      #expect(try await receiver.take(10, except: .init()).map(\.key) == [keys[2]])
      #expect(try control.number("SELECT count(*) FROM inbox") == 1)
      #expect(try await first.count() == 1)
    }
  }

  @Test("An entry with a low id that is committed late is taken")
  func lateEntry() async throws {
    try await withReplicas { first, second, control in
      let (sender, receiver) = (try second.shared.inbox, try first.shared.inbox)
      let key = try await sender.append(entry("x"))
      #expect(try await receiver.take(10, except: .init()).map(\.key) == [key])
      let late = key.id - 2 * InboxScan.distance
      try control.execute(
        """
        INSERT INTO inbox (id, token, kind, app, method, caller, context, body, received_at)
          SELECT \(late), 'late', kind, app, method, caller, context, body, received_at FROM inbox
        """)
      var found: [InboxEntry] = []
      while found.isEmpty { found = try await receiver.take(10, except: .init(keys: [key])) }
      #expect(found.map(\.key) == [InboxKey(id: late, token: "late")])
    }
  }

  @Test("Messages of a session with which no one waits do not pile up")
  func unreadMessages() async throws {
    try await withReplicas { first, _, control in
      let session = LazySession(first.settings, listeningTo: "channel")
      let connection = try session.connection()
      for number in 0..<3 { try control.execute("NOTIFY channel, '\(number)'") }
      // The server sends the messages before the result.
      #expect(try connection.number("SELECT 1") == 1)
      try session.discardMessages()
      #expect(try connection.notifications(waitingAtMost: .milliseconds(1)).isEmpty)
      // Later ones still arrive.
      try control.execute("NOTIFY channel, 'later'")
      #expect(try connection.notifications(waitingAtMost: .seconds(60)).map(\.payload) == ["later"])
    }
  }

  @Test("A replica that waits for an outcome does not hold up the discarding of messages")
  func discardingWhileWaiting() async throws {
    try await withReplicas { first, second, control in
      try await first.beat()
      let (sender, receiver) = (try second.shared.inbox, try first.shared.inbox)
      let id = try await sender.append(entry("x"))
      async let outcome = sender.outcome(of: id, until: .now + .seconds(60))
      let looks = """
        SELECT count(*) FROM pg_stat_activity
          WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '%FROM inbox, head%'
        """
      while try control.number(looks) == 0 { await Task.yield() }
      let inbox = try #require(sender as? PostgresInbox)
      for _ in 0..<2 { await inbox.discardMessages() }
      try await receiver.finish(id, [1])
      #expect(try await outcome == [1])
      // Later outcomes still arrive.
      await inbox.discardMessages()
      let next = try await sender.append(entry("y"))
      try await receiver.finish(next, [2])
      #expect(try await sender.outcome(of: next, until: .now + .seconds(60)) == [2])
    }
  }

  @Test("Thousands of postponed entries do not hold up others")
  func manyPostponed() async throws {
    try await withReplicas { first, _, control in
      try control.execute(
        """
        INSERT INTO inbox (token, kind, app, method, caller, context, body, received_at)
          SELECT 'a common beginning ' || number, 'call', '', '/x/y', '', '', '', clock_timestamp()
          FROM generate_series(1, 20000) AS number;
        ANALYZE inbox
        """)
      let receiver = try first.shared.inbox
      let postponed = Set(
        (1...19_999).map { InboxKey(id: Int64($0), token: "a common beginning \($0)") })
      // The server decides after five times whether it goes on without the values of the parameters.
      for _ in 1...8 {
        let taken = try await receiver.take(10, except: .init(keys: postponed))
        #expect(taken.map(\.key.id) == [20_000])
      }
    }
  }

  @Test("A count of the entries has its own session, so that no look waits for it")
  func countingSession() async throws {
    try await withReplicas { first, second, control in
      let key = try await second.shared.inbox.append(entry("x"))
      let receiver = try first.shared.inbox
      #expect(try await receiver.take(10, except: .init()).map(\.key) == [key])
      #expect(try await receiver.backlog().count == 1)
      let sessions = """
        SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
          AND (query LIKE '%FROM inbox WHERE done_at IS NULL' OR query LIKE '%AS counted%')
        """
      #expect(try control.number(sessions) == 2)
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
        UPDATE inbox SET done_at = clock_timestamp() - interval '61 minutes' WHERE id = \(old.id);
        UPDATE inbox SET received_at = clock_timestamp() - interval '1 day' WHERE id = \(waiting.id)
        """)
      try await receiver.deleteOldOutcomes()
      #expect(try control.number("SELECT count(*) FROM inbox WHERE id IN (\(new.id), \(waiting.id))") == 2)
      #expect(try control.number("SELECT count(*) FROM inbox") == 2)
      #expect(try await receiver.backlog().oldest >= 86_400_000)
    }
  }
}
