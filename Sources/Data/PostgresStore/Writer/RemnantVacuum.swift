internal import Dispatch
internal import Platform
internal import PostgreSQL
internal import Store
internal import Synchronization

/// Runs `VACUUM` after erasures, on a separate session and thread: it may take hours, or wait for the locks of
/// another one, and nothing else waits for it.
final class RemnantVacuum: Sendable {
  private struct State {
    /// Whether rows were erased that no `VACUUM` has seen yet.
    var isWanted = false
    var isRunning = false
    var isClosed = false
  }

  /// The pause after the first failure; each further one doubles it.
  private static let firstPause = Duration.seconds(1)
  private static let maxPause = Duration.seconds(60)
  /// A wait for the locks of a table ends in time; no limit of the database's settings ends the work.
  private static let limits = "SET lock_timeout = '10s'; SET statement_timeout = 0"

  private let settings: PostgresSettings
  private let feed: StoreFeed
  private let thread = BackgroundThreads(count: 1)
  private let state = Mutex(State())
  /// Ends the pause before another attempt.
  private let closing = DispatchSemaphore(value: 0)

  init(_ settings: PostgresSettings, _ feed: StoreFeed) {
    self.settings = settings.with("application_name", "entitled vacuum")
    self.feed = feed
  }

  /// Starts a `VACUUM` in the background; one that runs may have passed the rows by, so another one follows it.
  func start() {
    let isNew = state.withLock { state in
      state.isWanted = true
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if isNew { thread.async { self.run() } }
  }

  /// Leaves a `VACUUM` to the server, which completes it.
  func close() {
    state.withLock { $0.isClosed = true }
    closing.signal()
  }

  private func run() {
    var pause = Self.firstPause
    while takeRequest() {
      do throws(StoreError) {
        try vacuum()
        pause = Self.firstPause
      } catch {
        state.withLock { $0.isWanted = true }
        _ = closing.wait(timeout: .now() + .seconds(Int(pause.components.seconds)))
        pause = min(pause * 2, Self.maxPause)
      }
    }
  }

  /// Returns whether there is another `VACUUM` to run; if not, the next ``start()`` begins again.
  private func takeRequest() -> Bool {
    state.withLock { state in
      guard state.isWanted, !state.isClosed else {
        state.isRunning = false
        return false
      }
      state.isWanted = false
      return true
    }
  }

  private func vacuum() throws(StoreError) {
    let losses = feed.lossCount
    let connection = try PostgresConnection<StoreError>(settings)
    connection.cancel { false }
    connection.interrupt { [self] in
      feed.isAway || feed.lossCount != losses || state.withLock { $0.isClosed }
    }
    // A pooler would leave the settings to others.
    if !settings.isPooled { try connection.execute(Self.limits) }
    try connection.execute("VACUUM")
  }
}
