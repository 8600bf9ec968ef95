internal import AppStore
internal import Foundation
internal import Metrics
internal import Platform
internal import PostgreSQL
internal import SQLStore
internal import Store
internal import Synchronization

/// Follows the commits of all processes on a thread with its own session: raises ``CustomerVersions`` for the customers
/// that a commit changed, wakes the listeners of commits, and then advances the ``StoreFeed``.
///
/// It also notices first when the database does not answer.
final class ChangeFeedWorker: Sendable {
  /// The channel of the notification that each commit sends.
  static let channel = "entitled_change"
  /// The pause between two deletions of old announcements.
  private static let trimPause = Duration.seconds(10)
  /// The longest pause before another session: other processes wait for these commits.
  private static let maxRetryPause = Duration.milliseconds(250)
  /// The number of sessions in a row that may end without an answer, although the database accepts them.
  private static let maxEndedSessions = 5

  private let settings: PostgresSettings
  private let timeout: Duration
  private let feed: StoreFeed
  private let changes: CustomerVersions
  private let commits: Signal
  private let now: @Sendable () -> Instant
  private let isWriter: @Sendable () -> Bool
  private let onLoss: @Sendable (StoreError) -> Void
  private let isClosed = Atomic(false)

  /// Creates a worker that advances `feed`.
  ///
  /// - Parameters:
  ///   - settings: how its session is opened.
  ///   - timeout: the longest time of a round trip; without an answer for longer, the database is away.
  ///   - feed: at the position from which to follow.
  ///   - changes: raised for the customers of each commit.
  ///   - commits: wakes the listeners of commits.
  ///   - now: the machine's time.
  ///   - isWriter: whether this process writes; it then deletes old announcements.
  ///   - onLoss: called when the database stopped answering, on the thread of the worker.
  init(
    _ settings: PostgresSettings, timeout: Duration, feed: StoreFeed, changes: CustomerVersions,
    commits: Signal,
    now: @escaping @Sendable () -> Instant, isWriter: @escaping @Sendable () -> Bool,
    onLoss: @escaping @Sendable (StoreError) -> Void
  ) {
    self.settings = settings
    self.timeout = timeout
    self.feed = feed
    self.changes = changes
    self.commits = commits
    self.now = now
    self.isWriter = isWriter
    self.onLoss = onLoss
  }

  /// Starts the thread, which continues until ``close()``.
  func start() {
    let thread = Thread { self.run() }
    thread.name = "store-feed"
    thread.start()
  }

  /// Ends the thread within a tenth of a second, or when its round trip ends.
  func close() { isClosed.store(true, ordering: .relaxed) }

  /// Blocks the thread.
  static func sleep(_ duration: Duration) {
    Thread.sleep(forTimeInterval: duration / .seconds(1))
  }

  /// Follows the commits of all processes until it is closed. After a loss it opens another session, whose reads
  /// begin at the last position; the writer's process trims the table of changes.
  private func run() {
    var session: ChangeSession?
    var failures = 0
    var nextTrim = ContinuousClock.now + Self.trimPause
    while !isClosed.load(ordering: .relaxed) {
      do throws(StoreError) {
        let open = if let session { session } else { try ChangeSession(settings, timeout: roundTripTimeout) }
        session = open
        let isComplete = try follow(open)
        failures = 0
        if isComplete { try open.wait() }
        if nextTrim <= .now {
          if isWriter() { open.trim() }
          nextTrim = .now + Self.trimPause
        }
      } catch {
        failures += 1
        reportLoss(error, failures, wasOpen: session != nil)
        session = nil
      }
    }
  }

  /// Together with the pause before it, a round trip takes no longer than ``timeout``.
  private var roundTripTimeout: Duration { max(timeout - ChangeSession.longestPause * 2, timeout / 2) }

  /// A session that the server ended is opened again at once. If none can be opened, the database is away. One that
  /// accepts sessions is not, although an operator or a pooler may end several of them before they are used; callers would
  /// fail without need.
  private func reportLoss(_ error: StoreError, _ failures: Int, wasOpen: Bool) {
    guard failures > 1 || error.isSilence else { return }
    let isAway = !wasOpen || failures > Self.maxEndedSessions || error.isSilence
    if isAway, feed.lost(isSilent: error.isSilence) { onLoss(error) }
    Self.sleep(min(.milliseconds(10) * failures, Self.maxRetryPause))
  }

  /// Reads and applies one page of announcements. Returns whether it was the last.
  private func follow(_ session: ChangeSession) throws(StoreError) -> Bool {
    let start = now()
    let position = feed.position
    let read = try session.announcements(after: position)
    var isContained = true
    if read.term != feed.term || feed.needsTerms {
      let ticket = feed.termReadBegan()
      isContained = feed.replaceTerms(try session.terms(), ticket)
    }
    apply(read, after: position, isContained: isContained)
    feed.answered(at: start)
    return read.isComplete
  }

  /// `isContained`: whether the history still has the commits up to `position`.
  private func apply(_ read: ChangeSession.Announcements, after position: Int64, isContained: Bool) {
    guard read.head >= position else {
      // An older state of the database was restored.
      changes.raiseAll()
      feed.reset(to: read.head)
      commits.send()
      return
    }
    let end = read.isComplete ? read.head : read.commits.last?.position ?? read.head
    if end > position || !isContained {
      if isContained, read.commits.first?.position == position + 1 {
        changes.committed(hashes: read.commits.flatMap(\.customers))
      } else {
        // Announcements that this process did not read are deleted, or it read some of commits that were lost.
        changes.raiseAll()
      }
      for commit in read.commits { FeedMetrics.record(age: commit.age) }
      commits.send()
    }
    feed.advance(to: end)
  }
}

private enum FeedMetrics {
  // Created once, because each commit of other processes is recorded.
  private static let lag = Timer(label: "entitled_feed_lag_seconds")

  /// Records a commit that was applied `age` microseconds after it, by the clock of the database.
  static func record(age: Int64) { lag.recordMicroseconds(max(0, age)) }
}
