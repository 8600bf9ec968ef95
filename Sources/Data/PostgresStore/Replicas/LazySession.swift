internal import Glibc
internal import PostgreSQL
internal import Store

/// A session that opens with its first use, and again after it was lost. Only one thread at a time uses it.
// Unchecked: it moves to its thread once.
final class LazySession: @unchecked Sendable {
  /// The reads of one discard, because messages may go on arriving.
  private static let maxDiscards = 1_000

  let settings: PostgresSettings
  private let timeout: Duration
  private let channel: String?
  private let feed: StoreFeed?
  private var opened: PostgresConnection<StoreError>?
  /// ``StoreFeed/lossCount`` when the session was opened.
  private var seenLosses = 0

  /// `timeout` is the longest duration of a round trip; by default, calls fail within a second while the database is
  /// away. `channel` is one to listen to, unless a pooler is in between. With `feed`, calls fail at once while the database
  /// is away.
  init(
    _ settings: PostgresSettings, timeout: Duration = .seconds(1), listeningTo channel: String? = nil,
    feed: StoreFeed? = nil
  ) {
    self.settings = settings
    self.timeout = timeout
    self.feed = feed
    self.channel = settings.isPooled ? nil : channel
  }

  /// The session, opened if it is not.
  func connection() throws(StoreError) -> PostgresConnection<StoreError> {
    if feed?.isAway == true { throw .doesNotAnswer }
    let losses = feed?.lossCount ?? 0
    if let opened, !opened.isBroken, losses == seenLosses { return opened }
    let connection: PostgresConnection<StoreError>
    if let opened {
      try opened.reopen()
      connection = opened
    } else {
      connection = try PostgresConnection(settings)
      connection.timeout = timeout
      opened = connection
    }
    seenLosses = losses
    if let feed { connection.interrupt { feed.isAway || feed.lossCount != losses } }
    if let channel { try connection.listen(to: channel) }
    return connection
  }

  /// Waits until the channel has a message, but not longer than `listening`; without a channel for `polling`.
  func wait(listening: Duration, polling: Duration) throws(StoreError) {
    guard channel != nil else {
      usleep(UInt32(clamping: polling.components.attoseconds / 1_000_000_000_000))
      return
    }
    _ = try connection().notifications(waitingAtMost: listening)
  }

  /// Reads the messages that arrived while no one waited. Otherwise they would fill the connection, and then the queue
  /// that all sessions of the server share, until commits with a notification fail.
  func discardMessages() throws(StoreError) {
    guard channel != nil, let opened, !opened.isBroken else { return }
    for _ in 0..<Self.maxDiscards {
      if try opened.notifications(waitingAtMost: .milliseconds(1)).isEmpty { return }
    }
  }
}
