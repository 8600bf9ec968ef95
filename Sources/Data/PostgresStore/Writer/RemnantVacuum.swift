internal import Dispatch
internal import Logging
internal import Platform
internal import PostgreSQL
internal import Store
internal import Synchronization

/// Runs `VACUUM` after erasures, on a separate session and thread: it may take hours, or wait for the locks of
/// another one, and nothing else waits for it.
final class RemnantVacuum: Sendable {
  private struct State {
    /// The number of requests, and of those that a `VACUUM` of all tables has followed.
    var requests = 0
    var completed = 0
    var isRunning = false
    var isClosed = false
  }

  /// The tables of one request, which are not all free at the same time.
  private struct Round {
    let request: Int
    /// The position of the last erasure before it; `nil` until the first attempt.
    var erasure: Int64?
    /// Those that were done, by their quoted names.
    var done: Set<String> = []
    var hasFailed = false
  }

  /// The pause after the first failure; each further one doubles it.
  private static let firstPause = Duration.seconds(1)
  private static let maxPause = Duration.seconds(60)

  private let settings: PostgresSettings
  private let feed: StoreFeed
  /// The wait for the locks of a table has a limit, which is replaced by tests; no limit of the database's settings ends
  /// the work.
  private let limits: String
  private let logger: Logger
  private let thread = BackgroundThreads(count: 1)
  private let state = Mutex(State())
  /// Ends the pause before another attempt.
  private let closing = DispatchSemaphore(value: 0)

  init(
    _ settings: PostgresSettings, _ feed: StoreFeed, lockTimeout: String = "10s",
    logger: Logger = Logger(label: "entitled.store")
  ) {
    self.settings = settings.with("application_name", "entitled vacuum")
    self.feed = feed
    limits = "SET lock_timeout = '\(lockTimeout)'; SET statement_timeout = 0"
    self.logger = logger
  }

  /// Starts a `VACUUM` in the background; one that runs may have passed the rows by, so another one follows it.
  func start() {
    let isNew = state.withLock { state in
      state.requests += 1
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if isNew { thread.async { self.run() } }
  }

  /// Whether no `VACUUM` followed the last erasure, because its process ended before.
  static func isMissing(_ connection: PostgresConnection<StoreError>) throws(StoreError) -> Bool {
    try connection.number("SELECT count(*) FROM vacuumed WHERE erasure < (\(lastErasure))") > 0
  }

  private static let lastErasure = "SELECT coalesce(max(position), 0) FROM erasure"

  /// Leaves a `VACUUM` to the server, which completes it.
  func close() {
    state.withLock { $0.isClosed = true }
    closing.signal()
  }

  private func run() {
    var pause = Self.firstPause
    var round = Round(request: 0)
    while let request = nextRequest() {
      if request != round.request { round = Round(request: request, hasFailed: round.hasFailed) }
      if vacuum(&round) {
        state.withLock { $0.completed = request }
        pause = Self.firstPause
      } else {
        _ = closing.wait(timeout: .now() + .seconds(Int(pause.components.seconds)))
        pause = min(pause * 2, Self.maxPause)
      }
    }
  }

  /// The number of the last request; `nil` if nothing is to be done, after which the next ``start()`` begins again.
  private func nextRequest() -> Int? {
    state.withLock { state in
      guard state.completed < state.requests, !state.isClosed else {
        state.isRunning = false
        return nil
      }
      return state.requests
    }
  }

  private var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Returns whether all tables are done. The first failure is logged, and the success after it.
  private func vacuum(_ round: inout Round) -> Bool {
    do throws(StoreError) {
      try vacuumTables(&round)
    } catch {
      guard !round.hasFailed, !isClosed else { return false }
      round.hasFailed = true
      logger.warning("VACUUM after an erasure failed, and is repeated", metadata: ["error": "\(error)"])
      return false
    }
    if round.hasFailed { logger.notice("VACUUM after an erasure succeeded") }
    round.hasFailed = false
    return true
  }

  /// Vacuums each table that is not done; one that is locked keeps none of the others.
  ///
  /// - Throws: the first error, with the name of its table.
  private func vacuumTables(_ round: inout Round) throws(StoreError) {
    let connection = try connect()
    let erasure = if let known = round.erasure { known } else { try connection.number(Self.lastErasure) }
    round.erasure = erasure
    let tables = try connection.query(PostgresRequest(Self.tables))
    var failure: StoreError?
    for table in (0..<tables.count).compactMap({ tables.text($0, 0) }) where !round.done.contains(table) {
      do throws(StoreError) {
        try connection.execute("VACUUM \(table)")
        round.done.insert(table)
      } catch {
        failure = failure ?? .failed("\(table): \(error)")
        if connection.isBroken { break }
      }
    }
    if let failure { throw failure }
    _ = try connection.query(
      PostgresRequest("UPDATE vacuumed SET erasure = greatest(erasure, $1)", [.int8(erasure)]))
  }

  /// The quoted names of the tables of a database that has nothing else.
  private static let tables = """
    SELECT format('%I.%I', nspname, relname) FROM pg_class JOIN pg_namespace space ON space.oid = relnamespace
    WHERE relkind = 'r' AND relpersistence <> 't' AND nspname NOT IN ('pg_catalog', 'information_schema')
    ORDER BY 1
    """

  private func connect() throws(StoreError) -> PostgresConnection<StoreError> {
    let losses = feed.lossCount
    let connection = try PostgresConnection<StoreError>(settings)
    connection.cancel { false }
    connection.interrupt { [self] in feed.isAway || feed.lossCount != losses || isClosed }
    // A pooler would leave the settings to others.
    if !settings.isPooled { try connection.execute(limits) }
    return connection
  }
}
