internal import PostgreSQL
internal import SQLStore
internal import Store

/// A session of the row logic with PostgreSQL.
///
/// A statement without result is not sent until its transaction needs an answer: then all of them go to the server in
/// one round trip. Their errors appear there too.
final class PostgresDatabase: SQLConnection {
  let connection: PostgresConnection<StoreError>
  let dialect = SQLDialect.postgres
  let isRemote = true
  /// The statements that were run since the last round trip.
  private var deferred: [PostgresRequest] = []
  /// The number of scans that there were.
  private var scanCount = 0
  private var combiner = WriteCombiner()
  private var reads = FetchedReads()
  /// The right to write; `nil` in a reader's session.
  private(set) var claim: WriterClaim?
  private var shouldStop: (() -> Bool)?
  private var writerSession = WriterSession(instance: nil)
  private let isPooled: Bool
  /// Receives the positions of commits, and notices when the database does not answer; `nil` in a session of maintenance.
  private let feed: StoreFeed?
  /// ``StoreFeed/lossCount`` when the session was opened.
  private var seenLosses: Int
  /// The hashes of the customers that the open transaction changed.
  private var changed = PostgresArray(of: .int8)
  /// Called when another writer took over, before the error reaches a caller.
  var wasReplaced: (() -> Void)?
  /// Called with the new epoch when this writer continues on a new session.
  var didTakeOverAgain: ((Int64) -> Void)?

  /// Opens a reader's session, which may become the writer's.
  init(_ settings: PostgresSettings, feed: StoreFeed? = nil) throws(StoreError) {
    connection = try PostgresConnection(settings)
    isPooled = settings.isPooled
    self.feed = feed
    seenLosses = feed?.lossCount ?? 0
    guard feed != nil else { return }
    // A database that is away would not learn of it.
    connection.cancel { [weak self] in self?.isLost != true }
    interrupt(if: nil)
  }

  /// Whether the database stopped answering, also if it answers on other sessions by now: a round trip of this session may
  /// never end.
  private var isLost: Bool { feed.map { $0.isAway || $0.lossCount != seenLosses } ?? false }

  private func reopen() throws(StoreError) {
    seenLosses = feed?.lossCount ?? 0
    try connection.reopen()
  }

  /// Becomes the store's writer. The one before, in whatever process, can commit nothing from now on.
  func claimWriting() throws(StoreError) {
    // At the start, before the feed notices silence.
    connection.timeout = .seconds(30)
    defer { connection.timeout = nil }
    claim = try WriterClaim.take(on: connection)
  }

  /// Remains the store's writer after the database lost its last commits.
  ///
  /// - Throws: ``StoreError/anotherWriter`` if another one took over.
  func claimWritingAgain() throws(StoreError) {
    claim = try claim?.takeAgain(on: connection)
  }

  /// Becomes the store's writer if no other replica has the lease or a newer catalog.
  ///
  /// - Returns: whether it did.
  func claimWriting(with lease: Lease, catalog: UInt64) throws(StoreError) -> Bool {
    writerSession = WriterSession(instance: lease.instance)
    try writerSession.begin(on: connection, isPooled: isPooled)
    claim = try WriterClaim.take(on: connection, with: lease, catalog: catalog)
    return claim != nil
  }

  func prepare(_ sql: String) -> any SQLStatement { PostgresRowStatement(sql, self) }

  func prepareScan(_ sql: String) -> any SQLStatement {
    scanCount += 1
    return PostgresScan(sql, number: scanCount, self)
  }

  func execute(_ sql: String) throws(StoreError) {
    deferred = []
    reads.removeAll()
    try connection.execute(sql)
  }

  var isInTransaction: Bool { !deferred.isEmpty || connection.isInTransaction }

  /// Not while the database is away, nor after another replica took over.
  var canRepeat: Bool { feed?.isAway != true && shouldStop?() != true }

  func interrupt(if shouldStop: (() -> Bool)?) {
    self.shouldStop = shouldStop
    guard feed != nil else { return connection.interrupt(if: shouldStop) }
    connection.interrupt { [weak self] in self.map { $0.isLost || $0.shouldStop?() == true } ?? false }
  }

  func willCommit(_ changed: Set<CustomerKey>) {
    self.changed = PostgresArray(changed.lazy.map(\.storedHash))
  }

  func didCommit() {
    if let claim { feed?.committed(claim.position) }
  }

  func commitMark() throws(StoreError) -> CommitMark? {
    let rows = try send(
      PostgresRequest(
        "SELECT position, (SELECT name FROM history ORDER BY epoch DESC LIMIT 1) FROM head"))
    guard rows.count > 0 else { throw .corrupt("the table head is empty") }
    return CommitMark(term: UInt64(bitPattern: rows.number(0, 1)), commits: rows.number(0, 0))
  }

  /// A term has the commits up to the beginning of the next one, and the last term those up to the head.
  func includes(_ mark: CommitMark) throws(StoreError) -> Bool {
    let rows = try send(
      PostgresRequest(
        """
        SELECT count(*) FROM history own WHERE name = $1 AND $2 <= coalesce(
          (SELECT position FROM history later WHERE later.epoch > own.epoch ORDER BY later.epoch LIMIT 1),
          (SELECT position FROM head))
        """, [.int8(Int64(bitPattern: mark.term)), .int8(mark.commits)]))
    return rows.number(0, 0) > 0
  }

  func databaseSize() throws(StoreError) -> Int64 {
    let request = PostgresRequest("SELECT pg_database_size(current_database())")
    return try send(request).number(0, 0)
  }

  /// Sends the deferred statements and this one, and returns its result.
  func send(_ request: PostgresRequest) throws(StoreError) -> PostgresRows {
    guard let rows = try send([request]).last else { throw .failed("PostgreSQL returned no result") }
    return rows
  }

  /// Sends the deferred statements and these, and returns the results of these.
  private func send(_ requests: [PostgresRequest]) throws(StoreError) -> [PostgresRows] {
    let before = combiner.combined(deferred)
    deferred = []
    return Array(try connection.pipeline(before + requests).suffix(requests.count))
  }

  /// Returns the result of a query, which may have been fetched.
  func result(of request: PostgresRequest) throws(StoreError) -> FetchedRows {
    if let fetched = reads[request] { return fetched }
    return FetchedRows(try send(request))
  }

  func enqueue(_ request: PostgresRequest) { reads.add(request) }

  func fetchEnqueued() throws(StoreError) {
    guard !reads.isEmpty else { return }
    try reads.fetch { requests throws(StoreError) in try send(requests) }
  }

  func discardFetched() { reads.removeAll() }

  /// Runs a statement whose result does not matter, at the latest with the next one whose result does.
  func run(_ request: PostgresRequest) throws(StoreError) {
    do throws(StoreError) {
      try perform(request)
    } catch {
      if error == .anotherWriter { wasReplaced?() }
      throw error
    }
  }

  /// Performs a word of a transaction. Everything up to the commit is deferred, so that a transaction without reads
  /// takes one round trip; a rollback to the savepoint drops what was deferred after it.
  private func perform(_ request: PostgresRequest) throws(StoreError) {
    switch TransactionWord(request.sql) {
    case .begin:
      // Nothing is lost with a session that is not in a transaction. One whose end failed is never continued.
      if connection.isBroken || connection.isInTransaction
        || feed.map({ $0.lossCount != seenLosses }) ?? false
      {
        if let claim { self.claim = try takenAgain(claim) } else { try reopen() }
      }
      deferred = [request]
      if claim != nil, let limit = writerSession.limitOfTransaction(isPooled: isPooled) {
        deferred.append(limit)
      }
    case .commit:
      guard let claim else { return try endRead(request) }
      try commit(request, claim)
    case .rollbackToSavepoint:
      // The savepoint is the last, and what follows it is not wanted.
      if let savepoint = deferred.lastIndex(where: { TransactionWord($0.sql) == .savepoint }) {
        deferred.removeSubrange((savepoint + 1)...)
      } else {
        deferred = []
      }
      deferred.append(request)
    case .savepoint, nil:
      guard isInTransaction else {
        _ = try send(request)
        return
      }
      deferred.append(request)
    }
  }
}

extension PostgresDatabase {
  /// Ends a transaction without a claim. If it stays open, the session ends, so that no other read continues it.
  private func endRead(_ request: PostgresRequest) throws(StoreError) {
    do throws(StoreError) {
      _ = try send(request)
    } catch {
      if connection.isInTransaction { connection.close() }
      throw error
    }
  }

  /// Commits, if no other writer took over. If the connection is lost meanwhile, checks whether it was committed.
  private func commit(_ request: PostgresRequest, _ claim: WriterClaim) throws(StoreError) {
    deferred.append(claim.advance(announcing: changed, notifies: !isPooled))
    do throws(StoreError) {
      _ = try send(request)
      self.claim = claim.advanced
    } catch .outcomeUnknown(let reason) {
      // The look would wait for a database that is away.
      guard feed?.isAway != true else { throw .outcomeUnknown(reason) }
      guard try wasCommitted(claim, reason) else { throw .unavailable(reason) }
    } catch {
      if error.concernsStatements, try isReplaced(claim) { throw .anotherWriter }
      throw error
    }
  }

  /// Returns whether the commit after `claim` happened; its result was lost.
  ///
  /// - Throws: ``StoreError/anotherWriter`` if another writer took over instead of it, and
  ///   ``StoreError/outcomeUnknown(_:)`` for `reason` if it remains unknown.
  private func wasCommitted(_ claim: WriterClaim, _ reason: String) throws(StoreError) -> Bool {
    do throws(StoreError) {
      let next = try takenAgain(claim)
      self.claim = next
      return next.position == claim.advanced.position
    } catch {
      guard error == .anotherWriter else { throw .outcomeUnknown(reason) }
    }
    // Before the notice, which ends the statements of this session.
    let wasCommitted = try? claim.wasAdvanced(on: connection)
    wasReplaced?()
    guard let wasCommitted else { throw .outcomeUnknown(reason) }
    guard wasCommitted else { throw .anotherWriter }
    self.claim = claim.advanced
    return true
  }

  /// Whether another writer took over: what a replaced one has read is stale, so its statements may fail before
  /// its epoch is refused. Ends the failed transaction.
  private func isReplaced(_ claim: WriterClaim) throws(StoreError) -> Bool {
    try connection.execute("ROLLBACK")
    return try !claim.isLatest(on: connection)
  }

  /// Takes the right to write again, on a new session.
  ///
  /// - Throws: ``StoreError/anotherWriter`` also if the database has lost commits of this writer, such as in a failover to
  ///   a standby that lacked them: what the writer has in memory is not true then.
  private func takenAgain(_ claim: WriterClaim) throws(StoreError) -> WriterClaim {
    do throws(StoreError) {
      try reopen()
      try writerSession.begin(on: connection, isPooled: isPooled)
      guard let next = try self.claim?.takeAgain(on: connection), next.position >= claim.position else {
        throw .anotherWriter
      }
      didTakeOverAgain?(next.epoch)
      return next
    } catch {
      // The next transaction tries again, instead of writing with the former claim.
      if error != .anotherWriter { connection.close() }
      throw error
    }
  }
}
