import PostgreSQL
import PostgresSupport
import Store
import Testing

@testable import PostgresStore

/// The inbox after a failover to a standby that lacked its last entry: another one gets the id.
@Suite(.enabled(if: PostgresServer.canRun, Comment(rawValue: PostgresServer.isMissing)))
struct InboxFailoverTests {
  @Test("The leader's outcome and removal of a lost entry leave the one that has its id now")
  func leader() async throws {
    try await withReplicas { first, second, control in
      try await first.beat()
      let (sender, receiver) = (try second.shared.inbox, try first.shared.inbox)
      let lost = try await sender.append(entry("lost"))
      #expect(try await receiver.take(10, except: .init()).map(\.key) == [lost])
      try lose(lost, control)
      let new = try await sender.append(entry("new"))
      let other = try await sender.append(entry("other"))
      #expect(new.id == lost.id && new.token != lost.token)
      // The leader still executes the lost one.
      #expect(try await receiver.take(10, except: .init(keys: [lost])).map(\.key) == [new, other])
      try await receiver.finish(lost, [1])
      try await first.write { transaction throws(StoreError) in
        for key in [lost, other] { try receiver.remove(key, in: transaction) }
      }
      let left = try await receiver.take(10, except: .init())
      #expect(left.map(\.key) == [new] && left.map(\.body) == [Array("new".utf8)])
    }
  }

  @Test("A replica that waits for the outcome of a lost entry gets none of the one that has its id now")
  func follower() async throws {
    try await withReplicas { first, second, control in
      try await first.beat()
      let (sender, receiver) = (try second.shared.inbox, try first.shared.inbox)
      let lost = try await sender.append(entry("lost"))
      let call = Task { try await sender.outcome(of: lost, until: .now + .seconds(600)) }
      try lose(lost, control)
      let new = try await sender.append(entry("new"))
      #expect(new.id == lost.id)
      async let answer = sender.outcome(of: new, until: .now + .seconds(60))
      try await receiver.finish(new, [2])
      #expect(try await answer == [2])
      let found = try OutcomeListener.read([lost, new], PostgresConnection(first.settings))
      #expect(found.map { $0.0 } == [new])
      call.cancel()
      await #expect(throws: StoreError.cancelled) { try await call.value }
    }
  }

  @Test("The effects of a lost entry that the leader has begun are stored once")
  func effects() async throws {
    try await withReplicas { first, second, control in
      try await first.beat()
      let (sender, receiver) = (try second.shared.inbox, try first.shared.inbox)
      func isFinished(_ key: InboxKey) async throws -> Bool {
        try await first.write { transaction throws(StoreError) in
          try receiver.finish(key, [1], in: transaction)
        }
      }
      let lost = try await sender.append(entry("lost"))
      try lose(lost, control)
      let new = try await sender.append(entry("new"))
      #expect(new.id == lost.id)
      #expect(try await isFinished(lost))
      #expect(try await !isFinished(lost), "a repetition after a commit whose result was lost")
      #expect(try await receiver.take(10, except: .init()).map(\.key) == [new])
      #expect(try await isFinished(new))
      #expect(try await !isFinished(new))
      // Its sender appends it again, because it did not learn that the first append had succeeded.
      let repeated = entry("repeated")
      let before = try await sender.append(repeated)
      try lose(before, control)
      _ = try await sender.append(entry("other"))
      let after = try await sender.append(repeated)
      #expect(after.token == before.token && after.id != before.id)
      #expect(try await !isFinished(before))
      #expect(try await isFinished(after))
    }
  }

  /// Does to an entry and to the sequence of ids what a failover does: a standby has the sequence as of its last commits.
  private func lose(_ key: InboxKey, _ control: PostgresConnection<PostgresError>) throws {
    try control.execute(
      """
      DELETE FROM inbox WHERE token = '\(key.token)';
      SELECT setval(pg_get_serial_sequence('inbox', 'id'), \(key.id), false)
      """)
  }
}
