/// Blocking round trips, on one session after the other. Not thread-safe.
final class PostgresSession {
  let settings: PostgresSettings
  /// The longest duration of a round trip; `nil` for no limit.
  var timeout: Duration?
  /// Asked while a round trip waits.
  var shouldStop: (() -> Bool)?
  /// Asked when a round trip ends early.
  var shouldCancel: () -> Bool = { true }
  /// `nil` after the session was lost or given up.
  private(set) var handle: SessionHandle?

  init(_ settings: PostgresSettings) throws(PostgresError) {
    self.settings = settings
    try reopen()
  }

  func reopen() throws(PostgresError) {
    handle = nil
    handle = try SessionHandle(settings)
  }

  /// Sends requests together, and returns their results in order. Outside a transaction they are one.
  ///
  /// - Throws: the first error of the server, with the index of its request.
  func run(_ requests: [PostgresRequest]) throws(PostgresError) -> [PostgresRows] {
    let isNamed = !settings.isPooled
    return try roundTrip(requests.map(\.effect)) { (handle, wait) throws(PostgresError) in
      try handle.enterPipeline()
      var sent: [SentRequest] = []
      sent.reserveCapacity(requests.count)
      for request in requests { sent.append(try handle.send(request, isNamed: isNamed)) }
      try handle.sendSync()
      try wait.flush(handle)
      let result = try Self.results(of: sent, on: handle, wait)
      try handle.exitPipeline()
      guard case .success(let rows) = result else { return result }
      let isRolledBack = zip(requests, rows).contains { $0.effect == .commits && $1.isRollback }
      return isRolledBack ? .failure(Self.rolledBack) : .success(rows)
    }
  }

  /// Reads the results of requests, up to the sync.
  private static func results(
    of sent: [SentRequest], on handle: SessionHandle, _ wait: SocketWait
  ) throws(PostgresError) -> Result<[PostgresRows], PostgresError> {
    var rows: [PostgresRows] = []
    rows.reserveCapacity(sent.count)
    var failure: PostgresError?
    for (index, request) in sent.enumerated() {
      var last: PostgresRows?
      var unfinished = request.commandCount
      while unfinished > 0 {
        switch try wait.next(handle) {
        case .rows(let result): last = result
        case .failed(var error):
          error.requestIndex = index
          failure = failure ?? error
        case .endOfCommand: unfinished -= 1
        case .skipped: break
        case .copyIn, .sync: throw .unexpectedResult
        }
      }
      if let last { rows.append(last) }
      if let failure { handle.discardStatement(of: request, after: failure) }
    }
    guard case .sync = try wait.next(handle) else { throw .unexpectedResult }
    return failure.map { .failure($0) } ?? .success(rows)
  }

  /// Runs statements without parameters, which may be separated by semicolons, and returns the last result.
  func execute(_ sql: String) throws(PostgresError) -> PostgresRows? {
    try roundTrip([StatementEffect(sql)]) { (handle, wait) throws(PostgresError) in
      try handle.sendSimple(sql)
      try wait.flush(handle)
      let result = try Self.simpleResult(on: handle, wait)
      guard case .success(let rows) = result, let rows else { return result }
      let isRolledBack = StatementEffect(sql) == .commits && rows.isRollback
      return isRolledBack ? .failure(Self.rolledBack) : .success(rows)
    }
  }

  /// The error of a `COMMIT` of a transaction that failed before. The server reports none, and answers `ROLLBACK`.
  private static let rolledBack = PostgresError(
    sqlState: "25P02", primaryMessage: "the transaction had failed and was rolled back")

  /// Reads the results of a text of statements; the last is returned.
  static func simpleResult(
    on handle: SessionHandle, _ wait: SocketWait
  ) throws(PostgresError) -> Result<PostgresRows?, PostgresError> {
    var result: Result<PostgresRows?, PostgresError> = .success(nil)
    while true {
      switch try wait.next(handle) {
      case .rows(let rows): result = .success(rows)
      case .failed(let error): result = .failure(error)
      case .endOfCommand: return result
      case .skipped, .copyIn, .sync: throw .unexpectedResult
      }
    }
  }

  /// Runs `body`, which sends and receives. It returns an error of the server, after which the session is usable, and
  /// throws if it is not.
  func roundTrip<Value>(
    _ effects: [StatementEffect],
    _ body: (SessionHandle, SocketWait) throws(PostgresError) -> Result<Value, PostgresError>
  ) throws(PostgresError) -> Value {
    guard let handle, !handle.isLost else { throw PostgresError(.unavailable, "the connection is not open") }
    let commits = effects.commit(inTransaction: handle.isInTransaction)
    let wait = SocketWait(timeout: timeout, shouldStop: shouldStop)
    try wait.checkTime()
    let result: Result<Value, PostgresError>
    do throws(PostgresError) {
      result = try body(handle, wait)
    } catch {
      try giveUp(handle, after: error, wait, commits: commits)
    }
    if handle.takeUnreplicatedCommit(), commits {
      throw PostgresError(.outcomeUnknown, "the commit stopped waiting for the standby")
    }
    return try result.get()
  }

  /// Ends a round trip whose results will not be read, and throws its error.
  ///
  /// A commit that takes too long is not cancelled: the server would acknowledge it although no standby has it.
  private func giveUp(
    _ handle: SessionHandle, after error: PostgresError, _ wait: SocketWait, commits: Bool
  ) throws(PostgresError) -> Never {
    if error.kind == .timedOut, !commits, wait.hasSentAll, !settings.isPooled, shouldCancel(),
      Cancellation.run(on: handle)
    {
      throw error
    }
    self.handle = nil
    guard commits, error.kind != .misuse else { throw error }
    throw PostgresError(.outcomeUnknown, error.message, sqlState: error.sqlState)
  }

  /// Closes the session.
  func abandon() { handle = nil }
}
