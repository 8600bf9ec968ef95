internal import PostgreSQL
internal import SQLStore
internal import Store
internal import Synchronization

/// Reads what the sessions of an inbox receive while it is not used.
struct InboxListening: ReplicaWorker {
  /// A session receives some thousand messages meanwhile, for which its connection has room.
  private static let interval = Duration.seconds(10)

  let inbox: PostgresInbox

  func run() async {
    repeat { await inbox.discardMessages() } while (try? await Task.sleep(for: Self.interval)) != nil
  }
}

/// The table `inbox`.
final class PostgresInbox: Inbox {
  /// The channel of new entries.
  static let arrivals = "entitled_inbox"
  /// The channel of new outcomes.
  static let outcomes = "entitled_outcome"
  /// The time for which an outcome is kept for the replica that waits for it.
  private static let retention = "1 hour"
  /// The number of old entries that one statement deletes.
  private static let deletionPageSize = 1_000
  /// The bytes after which a statement has no further entry, because it has a second only.
  static let batchBytes = 4 << 20
  /// The longest duration of a count of all entries without outcome.
  private static let countTimeout = Duration.seconds(10)
  /// The longest wait of a replica for the commits up to an outcome, before it reads the commits it has received.
  private static let applyTimeout = Duration.seconds(1)

  private let appender: InboxAppender
  private let listener: OutcomeListener
  private let writer: OutcomeWriter
  private let taker: SessionThread
  /// Counts entries without outcome, which takes long while the server keeps old ones, so that ``taker`` does not wait.
  private let counter: SessionThread
  private let queue: WriteQueue
  private let feed: StoreFeed
  private let scan = Mutex(InboxScan())

  init(_ settings: PostgresSettings, _ queue: WriteQueue, _ feed: StoreFeed) {
    appender = InboxAppender(settings)
    listener = OutcomeListener(settings)
    writer = OutcomeWriter(queue)
    taker = SessionThread("taker", LazySession(settings, listeningTo: Self.arrivals))
    counter = SessionThread("backlog", LazySession(settings, timeout: Self.countTimeout))
    self.queue = queue
    self.feed = feed
  }

  /// The statement that wakes the listeners of a channel when its transaction commits.
  static func notification(of channel: String) -> PostgresRequest {
    PostgresRequest("SELECT pg_notify($1, '')", [.text(channel)])
  }

  func append(_ entry: InboxEntry) async throws(StoreError) -> InboxKey { try await appender.append(entry) }

  func outcome(
    of key: InboxKey, until deadline: ContinuousClock.Instant
  ) async throws(StoreError) -> [UInt8] {
    let found = try await listener.outcome(of: key, until: deadline)
    _ = await feed.waitFor(commits: found.position, atMost: Self.applyTimeout)
    return found.outcome
  }

  /// Discards the messages of sessions that only listen: every replica waits for outcomes sometimes, and one that led
  /// before takes no entries.
  func discardMessages() async {
    try? await taker.run { session throws(StoreError) in try session.discardMessages() }
    listener.discardMessages()
  }

  func take(_ limit: Int, except excluded: InboxExclusion) async throws(StoreError) -> [InboxEntry] {
    try await taker.run { [self] session throws(StoreError) in
      let found = try look(limit, except: excluded, session.connection())
      guard found.isEmpty else { return found }
      try session.wait(listening: .milliseconds(200), polling: .milliseconds(20))
      return try look(limit, except: excluded, session.connection())
    }
  }

  private func look(
    _ limit: Int, except excluded: InboxExclusion, _ connection: PostgresConnection<StoreError>
  ) throws(StoreError) -> [InboxEntry] {
    let now = ContinuousClock.now
    let start = scan.withLock { $0.start(at: now) }
    // A full scan that failed because it took too long, too: the next ones begin at the lowest known id.
    defer { if start == .min { scan.withLock { $0.ended(from: now, at: .now) } } }
    let found = try Self.entries(limit, except: excluded, from: start, connection)
    scan.withLock { $0.saw(excluded.keys.map(\.id) + found.map(\.key.id)) }
    return found
  }

  /// Returns the oldest entries from the id `start` on that are not done and not in `excluded`, at most `limit` and
  /// about ``batchBytes``; the first one is returned whatever its size.
  private static func entries(
    _ limit: Int, except excluded: InboxExclusion, from start: Int64,
    _ connection: PostgresConnection<StoreError>
  ) throws(StoreError) -> [InboxEntry] {
    // A subquery is hashed; PostgreSQL would compare an array of thousands of postponed entries with each row.
    let rows = try connection.query(
      PostgresRequest(
        """
        SELECT id, kind, app, method, caller, context, body, token
        FROM (
          SELECT *, sum(size) OVER (ORDER BY id) - size AS before
          FROM (
            SELECT *, length(context) + length(body) AS size FROM inbox
            WHERE done_at IS NULL AND id >= $5 AND token NOT IN (SELECT unnest($1::text[])) AND kind = ANY($3) AND method <> ALL($4)
            ORDER BY id LIMIT $2
          ) AS waiting
        ) AS counted
        WHERE before < \(batchBytes) ORDER BY id
        """,
        [
          .array(PostgresArray(excluded.keys.map(\.token))), .int8(Int64(limit)),
          // Those of a replica with a newer program wait for a leader with that program.
          .array(PostgresArray(InboxKind.allCases.filter { !excluded.kinds.contains($0) }.map(\.rawValue))),
          .array(PostgresArray(excluded.methods)), .int8(start),
        ]))
    return try (0..<rows.count).map { row throws(StoreError) in
      guard let kind = rows.text(row, 1).flatMap(InboxKind.init) else {
        throw .corrupt("unknown kind of inbox entry '\(rows.text(row, 1) ?? "")'")
      }
      return InboxEntry(
        InboxKey(id: rows.number(row, 0), token: rows.text(row, 7) ?? ""), kind: kind,
        appID: rows.text(row, 2) ?? "", method: rows.text(row, 3) ?? "", caller: rows.text(row, 4) ?? "",
        context: rows.bytes(row, 5), body: rows.bytes(row, 6))
    }
  }

  func finish(_ key: InboxKey, _ outcome: [UInt8]) async throws(StoreError) {
    try await writer.finish((key, outcome))
  }

  func finish(
    _ key: InboxKey, _ outcome: [UInt8], in transaction: any StoreTransaction
  ) throws(StoreError) -> Bool {
    try OutcomeWriter.store((key, outcome), in: transaction)
  }

  func remove(_ key: InboxKey, in transaction: any StoreTransaction) throws(StoreError) {
    try OutcomeWriter.remove(key, in: transaction)
  }

  func deleteOldOutcomes() async throws(StoreError) {
    let request = PostgresRequest(
      """
      DELETE FROM inbox WHERE id IN (
        SELECT id FROM inbox WHERE done_at < clock_timestamp() - interval '\(Self.retention)'
        LIMIT \(Self.deletionPageSize))
      """)
    var count: Int64 = 0
    repeat {
      count = try await queue.write { transaction throws(StoreError) in
        guard let database = transaction.sqlConnection as? PostgresDatabase else { return 0 }
        return try database.send(request).changedRows
      }
    } while count == Self.deletionPageSize
  }

  func backlog() async throws(StoreError) -> (count: Int64, oldest: Int64) {
    try await counter.run { session throws(StoreError) in
      let rows = try session.connection().query(
        PostgresRequest(
          """
          SELECT count(*),
            coalesce(extract(epoch FROM clock_timestamp() - min(received_at)) * 1000, 0)::bigint
          FROM inbox WHERE done_at IS NULL
          """))
      return (rows.number(0, 0), rows.number(0, 1))
    }
  }
}
