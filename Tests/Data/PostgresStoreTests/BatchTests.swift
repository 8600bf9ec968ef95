import AppStore
import Entitlements
import PostgreSQL
import PostgresStore
import PostgresSupport
import Store
import TestSupport
import Testing

/// The writes of a batch, which are sent together, and the reads that are kept.
@Suite(.enabled(if: PostgresServer.canRun, Comment(rawValue: PostgresServer.isMissing)))
struct BatchTests {
  private let line = LineKey(appID: "ocean", environment: .sandbox, lineID: "L1")

  @Test("The rows that a batch inserts into a table are one statement")
  func combinedInserts() async throws {
    try await withDatabase { settings in
      let store = try PostgresEntitlementStore(settings)
      let control = try PostgresConnection<PostgresError>(settings)
      try control.execute(
        """
        CREATE SEQUENCE statements;
        CREATE FUNCTION count_statement() RETURNS trigger LANGUAGE plpgsql AS
          'BEGIN PERFORM nextval(''statements''); RETURN NULL; END';
        CREATE TRIGGER counted AFTER INSERT ON evidence FOR EACH STATEMENT EXECUTE FUNCTION count_statement();
        CREATE TRIGGER counted AFTER INSERT ON line_record FOR EACH STATEMENT EXECUTE FUNCTION count_statement();
        """)
      try await store.write { [line] transaction throws(StoreError) in
        for number in 0..<100 {
          let stored = try transaction.appendNew(Self.evidence("e\(number)"))
          try transaction.index(stored.id, under: line)
        }
      }
      #expect(try control.number("SELECT last_value FROM statements") == 2)
      #expect(try control.number("SELECT count(*) FROM line_record") == 100)
      #expect(try control.number("SELECT count(DISTINCT content_hash) FROM evidence") == 100)
      await store.close()
    }
  }

  @Test("Writes for which a transaction has no time left run in the next one")
  func slowBodies() async throws {
    try await withDatabase { settings in
      let store = try PostgresEntitlementStore(settings, maxBodyTime: .zero)
      let stored = try await withThrowingTaskGroup { group in
        for number in 0..<20 {
          group.addTask {
            try await store.write { transaction throws(StoreError) in
              try transaction.appendNew(Self.evidence("e\(number)")).id
            }
          }
        }
        return try await group.reduce(into: Set<EvidenceID>()) { $0.insert($1) }
      }
      #expect(stored.count == 20)
      // Each had a transaction for itself.
      #expect(store.feed.position == 20)
      await store.close()
    }
  }

  @Test("An expected key that the database refuses fails no write")
  func refusedKey() async throws {
    try await withDatabase { settings in
      let store = try PostgresEntitlementStore(settings)
      var wrong = ExpectedReads()
      wrong.customers = [CustomerKey(appID: "ocean", environment: .sandbox, customerID: "a\0")]
      try await withThrowingTaskGroup { group in
        for number in 0..<20 {
          group.addTask { [wrong] in
            try await store.write(expecting: number == 5 ? wrong : ExpectedReads()) {
              transaction throws(StoreError) in
              _ = try transaction.appendNew(Self.evidence("e\(number)"))
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(try await store.count() == 20)
      await store.close()
    }
  }

  @Test("A role that may not insert evidence is found without a row")
  func revokedRight() async throws {
    try await withDatabase { settings in
      let store = try PostgresEntitlementStore(settings)
      try await store.dryRun { transaction throws(StoreError) in try transaction.testInsertion() }
      // The role of the tests is a superuser, which needs no right.
      try PostgresConnection<PostgresError>(settings).execute(
        """
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
          'BEGIN RAISE EXCEPTION USING ERRCODE = ''42501'', MESSAGE = ''permission denied''; END';
        CREATE TRIGGER refused BEFORE INSERT ON evidence FOR EACH STATEMENT EXECUTE FUNCTION refuse();
        """)
      await #expect(throws: StoreError.failed("permission denied (SQLSTATE 42501)")) {
        try await store.dryRun { transaction throws(StoreError) in try transaction.testInsertion() }
      }
      await store.close()
    }
  }

  @Test("Changes of one row keep their order when a batch combines statements")
  func orderOfChanges() async throws {
    try await withDatabase { settings in
      let store = try PostgresEntitlementStore(settings)
      try await store.write { [line] transaction throws(StoreError) in
        for number in 1...10 {
          let other = line.other("M\(number)")
          try transaction.put(Self.refresh(of: line, dueAt: Int64(number)))
          try transaction.put(Self.refresh(of: other, dueAt: 1))
          try transaction.completeRefreshes(of: [line, other], at: Instant(millisecondsSince1970: 2))
          try transaction.put(Self.refresh(of: line, dueAt: Int64(100 + number)))
          try transaction.enqueue(other, token: nil, replacing: nil)
          if number > 1 { try transaction.dequeue(other) }
        }
      }
      let due = try await store.read { snapshot throws(StoreError) in
        try snapshot.refreshes(dueBy: Instant(millisecondsSince1970: 1000), in: .all, limit: 100)
      }
      #expect(due.map(\.line) == [line])
      #expect(due.map(\.dueAt.millisecondsSince1970) == [110])
      let control = try PostgresConnection<PostgresError>(settings)
      #expect(try control.number("SELECT count(*) FROM unclaimed_line") == 1)
      await store.close()
    }
  }

  @Test("Later bodies do not see the writes of a failed body")
  func rolledBackReads() async throws {
    try await withDatabase { settings in
      let store = try PostgresEntitlementStore(settings)
      let stored = try await store.write { transaction throws(StoreError) in
        try transaction.appendNew(Self.evidence("e"))
      }
      await #expect(throws: StoreError.failed("undone")) {
        try await store.write { [line] transaction throws(StoreError) in
          _ = try transaction.owners(of: line)
          try transaction.record(Self.link(line, to: "ana", from: stored.id))
          #expect(try transaction.owners(of: line) == ["ana"])
          throw .failed("undone")
        }
      }
      try await store.write { [line] transaction throws(StoreError) in
        #expect(try transaction.owners(of: line) == [])
        try transaction.record(Self.link(line, to: "ben", from: stored.id))
      }
      let owners = try await store.read { [line] snapshot throws(StoreError) in try snapshot.owners(of: line)
      }
      #expect(owners == ["ben"])
      await store.close()
    }
  }

  @Test("Writes with expected reads find what is stored, and what earlier writes of the batch stored")
  func expectedReads() async throws {
    try await withDatabase { settings in
      for _ in 0..<2 {
        // The second store has read nothing yet.
        let store = try PostgresEntitlementStore(settings)
        try await withThrowingTaskGroup(of: Void.self) { group in
          for number in 0..<40 {
            let line = line.other("L\(number % 20)")
            group.addTask {
              try await store.write(expecting: Self.reads(of: line)) { transaction throws(StoreError) in
                try Self.claim(line, in: transaction)
              }
            }
          }
          try await group.waitForAll()
        }
        await store.close()
      }
      let control = try PostgresConnection<PostgresError>(settings)
      #expect(try control.number("SELECT count(*) FROM line_customer") == 20)
      #expect(try control.number("SELECT count(*) FROM account_token") == 20)
      #expect(try control.number("SELECT count(*) FROM evidence") == 20)
    }
  }

  private static func reads(of line: LineKey) -> ExpectedReads {
    var reads = ExpectedReads()
    reads.lines = [line]
    reads.tokens = [ScopedID("t\(line.lineID)", of: line.appID, in: line.environment)]
    reads.customers = [line.customer("c\(line.lineID)")]
    reads.evidence = [EvidenceIdentity(evidence(line.lineID))]
    return reads
  }

  /// Links a line to its customer unless it has one.
  private static func claim(_ line: LineKey, in transaction: any StoreTransaction) throws(StoreError) {
    let (customer, token) = (line.customer("c\(line.lineID)"), "t\(line.lineID)")
    let stored = try transaction.append(evidence(line.lineID))
    let bound = try transaction.customerID(ofToken: token, of: line.appID, in: line.environment)
    let owners = try transaction.owners(of: line)
    #expect(stored.isDuplicate == (bound != nil))
    #expect(owners == (bound.map { [$0] } ?? []))
    guard bound == nil else { return }
    try transaction.record(link(line, to: customer.customerID, from: stored.id))
    try transaction.register(token: token, for: customer)
  }

  private static func link(_ line: LineKey, to customer: String, from evidence: EvidenceID) -> OwnershipChange
  {
    OwnershipChange(
      line: line, customerID: customer, gained: true, at: Instant(millisecondsSince1970: 1),
      evidenceID: evidence)
  }

  private static func refresh(of line: LineKey, dueAt: Int64) -> PendingRefresh {
    PendingRefresh(line: line, dueAt: Instant(millisecondsSince1970: dueAt), attempts: 0, reason: "")
  }

  private static func evidence(_ text: String) -> Evidence {
    Evidence(
      appID: "ocean", environment: .sandbox, customerID: nil, kind: .signedTransaction, source: .submission,
      receivedAt: Instant(millisecondsSince1970: 5), content: EvidenceContent(Array(text.utf8)),
      verdict: .accepted)
  }
}
