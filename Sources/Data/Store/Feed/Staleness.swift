package import AppStore

/// The limits of answers from memory while the database is away.
package struct StalenessPolicy: Hashable, Sendable {
  /// The silence of the database after which answers are marked as stale.
  package var maxStalenessMilliseconds: Int64
  /// The silence after which calls are no longer answered.
  package var serveStaleForMilliseconds: Int64
  /// Whether the service is ready while its answers are stale.
  package var isReadyWhileStale: Bool

  package init(
    maxStalenessMilliseconds: Int64 = 5_000, serveStaleForMilliseconds: Int64 = 3_600_000,
    isReadyWhileStale: Bool = true
  ) {
    self.maxStalenessMilliseconds = maxStalenessMilliseconds
    self.serveStaleForMilliseconds = serveStaleForMilliseconds
    self.isReadyWhileStale = isReadyWhileStale
  }
}

/// The permitted age of an answer from memory.
package enum Staleness: Hashable, Sendable {
  /// As old as the delay of the feed.
  case fresh
  /// The database has not answered since then.
  case stale(since: Instant)
  /// It has not answered for longer than ``StalenessPolicy/serveStaleForMilliseconds``.
  case expired
}
