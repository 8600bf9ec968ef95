/// Stores evidence and everything derived from it.
///
/// The protocol states promises, not their implementation; a contract test suite checks them for every
/// implementation. Rows that must be consistent with each other are written by one ``write(_:)``.
package protocol EntitlementStore: Sendable {
  /// Runs `body` on a reader thread over one snapshot, so that no event loop waits for the disk.
  ///
  /// The snapshot contains every write that was acknowledged before the call. `body` must do nothing but
  /// read and compute: the store stops it between two reads, or inside one, when the deadline passes or the
  /// task is cancelled.
  ///
  /// - Throws: the error of `body`; ``StoreError/overloaded(waiting:)`` without running it if too many
  ///   reads wait; ``StoreError/deadlineExceeded``, ``StoreError/cancelled`` and ``StoreError/closed``
  ///   whether it waits or runs.
  func read<Value: Sendable>(
    _ priority: ReadPriority, deadline: ContinuousClock.Instant?,
    _ body: @escaping @Sendable (any StoreSnapshot) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value

  /// Returns a reader for the Check methods of one event loop; all other code calls
  /// ``read(_:deadline:_:)``. Two threads must not use it at the same time.
  func makeCheckReader() throws(StoreError) -> sending any CheckReader

  /// Returns a loader of stored answers for the Check methods of one event loop, if a ``CheckReader`` would wait for a
  /// network; `nil` otherwise.
  func makeAnswerLoader() throws(StoreError) -> (any AnswerLoader)?

  /// Runs `body` in one transaction: either all of its writes are stored or, if it throws, none.
  ///
  /// Returns only after the transaction is durable, so that a power loss cannot undo it. Bodies run one
  /// after the other; each sees the writes of those before it. Several may share one durable commit. The
  /// store may run a body again, so it must have no effect outside the transaction.
  ///
  /// - Throws: the error of `body`; ``StoreError/overloaded(waiting:)`` without running it if too many
  ///   writes wait; ``StoreError/diskFull`` and others if the commit failed; ``StoreError/outcomeUnknown(_:)`` if the
  ///   connection to the database was lost meanwhile.
  func write<Value: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value

  /// Runs `body` as ``write(_:)`` does. `expected` are rows that it will read: a store behind a network may fetch them
  /// together, which saves round trips. It changes no result: `body` may read other rows too.
  func write<Value: Sendable>(
    expecting expected: @autoclosure () -> ExpectedReads,
    _ body: @escaping @Sendable (any StoreTransaction) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value

  /// Runs `body` as ``write(_:)`` does, and then rolls its writes back.
  ///
  /// - Throws: as ``write(_:)``.
  func dryRun<Value: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value

  /// Removes what replaced and deleted rows left behind in logs and free space, after an erasure. It waits a bounded
  /// time for readers.
  ///
  /// - Returns: whether nothing is left. Otherwise the store removes it as soon as it can, also after it is opened
  ///   again.
  @discardableResult
  func purgeRemnants() async -> Bool

  /// The commit in which each customer last changed; raised before ``write(_:)`` returns, and for commits of other
  /// processes before ``feed`` advances.
  var changes: CustomerVersions { get }

  /// This process's view of the store's history.
  var feed: StoreFeed { get }

  /// Emits an element after each commit, also those of other processes.
  ///
  /// Commits that follow while the consumer is busy emit one element together, so the consumer reads until there is
  /// nothing new and then waits again.
  func commits() -> AsyncStream<Void>

  /// Checks that the store accepts writes. After a failed write it tries another one, so that a store that receives no
  /// other writes recovers too.
  ///
  /// - Throws: ``StoreError/removed(path:)`` if the store is gone; otherwise the error with which writes fail.
  func health() async throws(StoreError)

  /// The division of work among the replicas that share the store; `nil` for a store that one process has for
  /// itself.
  var replication: (any Replication)? { get }

  /// The uploaded inputs of migration jobs, if other processes need them too; `nil`: they are files of this machine.
  var uploads: (any UploadStore)? { get }

  /// Interrupts reads, waits for the accepted writes, and closes the store. Every later call throws
  /// ``StoreError/closed``.
  func close() async
}

/// The urgency of a read, which decides its position in the queue and the share of reader threads it may use.
package enum ReadPriority: Int, CaseIterable, Sendable {
  /// Bulk work that no caller waits for, such as reconciliation.
  case background
  /// A call that a person or a service waits for, or a worker's next step.
  case interactive
  /// Check with evaluation: one reader thread is reserved for it.
  case check
}

extension EntitlementStore {
  /// A store of one process has no replicas.
  package var replication: (any Replication)? { nil }
  /// A store of one process keeps uploads in files.
  package var uploads: (any UploadStore)? { nil }
  /// A store of one process reads answers through its ``CheckReader``.
  package func makeAnswerLoader() -> (any AnswerLoader)? { nil }

  /// For stores whose reads cost no round trip.
  package func write<Value: Sendable>(
    expecting expected: @autoclosure () -> ExpectedReads,
    _ body: @escaping @Sendable (any StoreTransaction) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    try await write(body)
  }

  /// Runs `body` over one snapshot; see ``read(_:deadline:_:)``.
  package func read<Value: Sendable>(
    _ priority: ReadPriority = .interactive,
    _ body: @escaping @Sendable (any StoreSnapshot) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    try await read(priority, deadline: nil, body)
  }

  /// Runs `body` over one snapshot, interactively; see ``read(_:deadline:_:)``.
  package func read<Value: Sendable>(
    deadline: ContinuousClock.Instant?,
    _ body: @escaping @Sendable (any StoreSnapshot) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    try await read(.interactive, deadline: deadline, body)
  }
}
