import AppStore
import Dispatch
import PostgreSQL
import PostgresSupport
import Store
import TestSupport
import Testing

@testable import PostgresStore

/// The inbox, in which a follower hands entries to the leader and gets their outcomes.
@Suite(.enabled(if: PostgresServer.canRun, Comment(rawValue: PostgresServer.isMissing)))
struct ReplicaInboxTests {
  @Test("An entry of a follower reaches the leader once, and its outcome returns", arguments: [false, true])
  func inbox(isPooled: Bool) async throws {
    try await withReplicas(isPooled: isPooled) { first, second, _ in
      try await first.beat()
      let (sender, receiver) = (try second.shared.inbox, try first.shared.inbox)
      let sent = entry("x")
      async let received = outcome(of: sent, through: sender)
      var found: [InboxEntry] = []
      while found.isEmpty { found = try await receiver.take(10, except: .init()) }
      #expect(found.map(\.body) == [Array("x".utf8)] && found.map(\.caller) == ["billing"])
      #expect(found.map(\.key.token) == [sent.key.token])
      #expect(try await receiver.take(10, except: .init(keys: Set(found.map(\.key)))).isEmpty)
      try await receiver.finish(found[0].key, [1, 2])
      #expect(try await received == [1, 2])
      #expect(try await receiver.take(10, except: .init()).isEmpty)
      // The first outcome stays.
      try await receiver.finish(found[0].key, [3])
      #expect(try await sender.outcome(of: found[0].key, until: .now + .seconds(60)) == [1, 2])
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
        let entries = try await receiver.take(64, except: .init())
        try await withThrowingTaskGroup(of: Void.self) { group in
          for entry in entries { group.addTask { try await receiver.finish(entry.key, entry.body) } }
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
      let key = try await sender.append(entry("x"))
      await #expect(throws: StoreError.failed("no")) {
        try await first.write { transaction throws(StoreError) in
          _ = try receiver.finish(key, [1], in: transaction)
          throw .failed("no")
        }
      }
      #expect(try await receiver.take(10, except: .init()).map(\.key) == [key])
      func finish(_ outcome: [UInt8]) async throws -> Bool {
        try await first.write { transaction throws(StoreError) in
          _ = try transaction.append(evidence("a"))
          return try receiver.finish(key, outcome, in: transaction)
        }
      }
      #expect(try await finish([1]))
      #expect(try await receiver.take(10, except: .init()).isEmpty)
      #expect(try await receiver.backlog().count == 0)
      // A leader that lost the result of that commit executes the entry again.
      #expect(try await !finish([2]))
      #expect(try await sender.outcome(of: key, until: .now + .seconds(60)) == [1])
    }
  }

  @Test("A follower stores no outcome")
  func outcomeOfFollower() async throws {
    try await withReplicas { first, second, _ in
      try await first.beat()
      let inbox = try second.shared.inbox
      let key = try await inbox.append(entry("x"))
      await #expect(throws: StoreError.notTheLeader) { try await inbox.finish(key, [1]) }
    }
  }

  @Test("Waiting for an outcome ends at the deadline, and the entry stays")
  func deadline() async throws {
    try await withReplicas { first, second, _ in
      try await first.beat()
      let inbox = try second.shared.inbox
      let key = try await inbox.append(entry("x"))
      await #expect(throws: StoreError.deadlineExceeded) {
        try await inbox.outcome(of: key, until: .now + .milliseconds(50))
      }
      #expect(try await first.shared.inbox.take(10, except: .init()).map(\.key) == [key])
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

  @Test("Entries of excluded kinds and methods are left out, and those after them are taken")
  func exclusion() async throws {
    try await withReplicas { first, second, _ in
      try await first.beat()
      let (sender, receiver) = (try second.shared.inbox, try first.shared.inbox)
      let call = try await sender.append(entry("call"))
      let request = try await sender.append(
        InboxEntry(kind: .request, appID: "", method: "/n", caller: "", context: [], body: []))
      let other = try await sender.append(
        InboxEntry(kind: .call, appID: "", method: "/x/z", caller: "", context: [], body: []))
      func taken(_ excluded: InboxExclusion) async throws -> [InboxKey] {
        try await receiver.take(10, except: excluded).map(\.key)
      }
      #expect(try await taken(.init()) == [call, request, other])
      #expect(try await taken(.init(kinds: [.request])) == [call, other])
      #expect(try await taken(.init(methods: ["/x/y", "/none"])) == [request, other])
      #expect(try await taken(.init(keys: [other], kinds: [.request], methods: ["/x/y"])) == [])
    }
  }

  @Test("Large entries are read a few at a time, so that none takes too long")
  func largeEntries() async throws {
    try await withReplicas { first, second, control in
      let (sender, receiver) = (try second.shared.inbox, try first.shared.inbox)
      var keys: [InboxKey] = []
      for size in [PostgresInbox.batchBytes / 2, PostgresInbox.batchBytes / 2, 5, PostgresInbox.batchBytes] {
        let key = try await sender.append(entry("\(size)"))
        try control.execute(
          "UPDATE inbox SET body = convert_to(repeat('x', \(size)), 'UTF8') WHERE id = \(key.id)")
        keys.append(key)
      }
      func taken(after count: Int) async throws -> [InboxKey] {
        try await receiver.take(10, except: .init(keys: Set(keys[..<count]))).map(\.key)
      }
      #expect(try await taken(after: 0) == Array(keys[..<2]))
      #expect(try await taken(after: 2) == Array(keys[2...]))
      #expect(try await taken(after: 3) == [keys[3]])
    }
  }

  @Test("Large outcomes are read a few at a time, and each reaches its caller")
  func largeOutcomes() async throws {
    try await withReplicas { first, second, control in
      let inbox = try second.shared.inbox
      let sizes = [PostgresInbox.batchBytes / 2, PostgresInbox.batchBytes / 2, 5]
      var keys: [InboxKey] = []
      for size in sizes {
        let key = try await inbox.append(entry("\(size)"))
        try control.execute(
          """
          UPDATE inbox SET outcome = convert_to(repeat('x', \(size)), 'UTF8'), done_at = clock_timestamp()
            WHERE id = \(key.id)
          """)
        keys.append(key)
      }
      let found = try OutcomeListener.read(keys, PostgresConnection(first.settings))
      #expect(Set(found.map { $0.0 }) == Set(keys[..<2]))
      let received = try await withThrowingTaskGroup(of: Int.self) { group in
        for key in keys {
          group.addTask { try await inbox.outcome(of: key, until: .now + .seconds(60)).count }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(received.sorted() == sizes.sorted())
    }
  }

  @Test("An entry of a kind that only a newer version knows stays, and does not delay others")
  func newerKind() async throws {
    try await withReplicas { first, second, control in
      try await first.beat()
      let (sender, receiver) = (try second.shared.inbox, try first.shared.inbox)
      let newer = try await sender.append(entry("newer"))
      let known = try await sender.append(entry("known"))
      try control.execute("UPDATE inbox SET kind = 'newer' WHERE id = \(newer.id)")
      #expect(try await receiver.take(10, except: .init()).map(\.key) == [known])
      try await receiver.finish(known, [1])
      #expect(try await receiver.backlog().count == 1)
    }
  }
}

private func outcome(of entry: InboxEntry, through inbox: any Inbox) async throws -> [UInt8] {
  let key = try await inbox.append(entry)
  return try await inbox.outcome(of: key, until: .now + .seconds(60))
}

func entry(_ body: String) -> InboxEntry {
  InboxEntry(
    kind: .call, appID: "ocean", method: "/x/y", caller: "billing", context: [], body: Array(body.utf8))
}
