internal import AppStore
internal import PostgreSQL
internal import Store

/// The session that reads the announcements of commits, one round trip at a time.
final class ChangeSession {
  /// The announcements of one read.
  struct Announcements {
    /// The number of commits.
    let head: Int64
    /// The name of the term of the last one; 0 if there was no writer.
    let term: UInt64
    /// In the order of commits.
    var commits: [Commit] = []
    /// Whether there are no later ones.
    var isComplete: Bool { commits.count < ChangeSession.pageSize }
  }

  /// One commit.
  struct Commit {
    let position: Int64
    /// ``CustomerKey/storedHash`` of those that may have changed.
    let customers: [Int64]
    /// The time since then by the clock of the database, in microseconds.
    let age: Int64
  }

  /// The pause between two reads without a notification. Each read is a sign of life too.
  private static let listenPause = Duration.milliseconds(100)
  static var longestPause: Duration { listenPause }
  /// The pause between two reads where a pooler forwards no notifications.
  static let pollPause = Duration.milliseconds(20)
  private static let pageSize = 1_000

  private let connection: PostgresConnection<StoreError>
  private let isPooled: Bool

  /// Opens the session, whose round trips fail after `timeout`.
  init(_ settings: PostgresSettings, timeout: Duration) throws(StoreError) {
    connection = try PostgresConnection(settings)
    connection.timeout = timeout
    connection.cancel { false }
    isPooled = settings.isPooled
    if !isPooled { try connection.listen(to: ChangeFeedWorker.channel) }
  }

  /// Returns the announcements after `position`, a page at most.
  func announcements(after position: Int64) throws(StoreError) -> Announcements {
    let rows = try connection.query(
      PostgresRequest(
        """
        SELECT head.position, (SELECT name FROM history ORDER BY epoch DESC LIMIT 1), announced.position,
          announced.customers, (extract(epoch FROM clock_timestamp() - announced.at) * 1000000)::bigint
        FROM head LEFT JOIN LATERAL (
          SELECT * FROM change WHERE change.position > $1 ORDER BY change.position LIMIT \(Self.pageSize)
        ) announced ON TRUE ORDER BY announced.position
        """, [.int8(position)]))
    guard rows.count > 0 else { throw .corrupt("the table head is empty") }
    var read = Announcements(head: rows.number(0, 0), term: UInt64(bitPattern: rows.number(0, 1)))
    for row in 0..<rows.count where !rows.isNull(row, 2) {
      read.commits.append(
        Commit(
          position: rows.number(row, 2), customers: rows.numbers(row, 3).compactMap(\.self),
          age: rows.number(row, 4)))
    }
    return read
  }

  /// Returns the feed at the position that the database has now.
  func makeFeed(_ policy: StalenessPolicy, at now: Instant) throws(StoreError) -> StoreFeed {
    let head = try announcements(after: .max).head
    return StoreFeed(terms: try terms(), position: head, policy: policy, now: now)
  }

  /// The terms of the history that are kept.
  private static let maxTerms = 10_000

  /// Returns the terms of the history in their order, the latest ``maxTerms`` at most.
  func terms() throws(StoreError) -> [StoreTerm] { try Self.terms(on: connection) }

  /// The same, read by another session.
  static func terms(on connection: PostgresConnection<StoreError>) throws(StoreError) -> [StoreTerm] {
    let rows = try connection.query(
      PostgresRequest(
        """
        SELECT name, position FROM (SELECT * FROM history ORDER BY epoch DESC LIMIT \(maxTerms)) latest
          ORDER BY epoch
        """))
    return (0..<rows.count).map { row in
      StoreTerm(
        name: UInt64(bitPattern: rows.number(row, 0)), start: StoreTerm.Start(mark: rows.number(row, 1)))
    }
  }

  /// Waits for a commit, or for the time of the next read.
  func wait() throws(StoreError) {
    guard !isPooled else {
      ChangeFeedWorker.sleep(Self.pollPause)
      return
    }
    _ = try connection.notifications(waitingAtMost: Self.listenPause)
  }

  /// Deletes announcements that are older than a day, a bounded number of them, and the oldest terms. An error means that a
  /// later call has more to delete.
  func trim() {
    _ = try? connection.query(
      PostgresRequest(
        """
        DELETE FROM change
        WHERE position < (SELECT min(position) + 10000 FROM change) AND at < now() - interval '1 day'
        """))
    _ = try? connection.query(
      PostgresRequest(
        "DELETE FROM history WHERE epoch <= (SELECT max(epoch) FROM history) - \(Self.maxTerms)"))
  }
}
