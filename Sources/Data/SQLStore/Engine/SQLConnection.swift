package import Store

/// A connection to the database of a store. Only one thread at a time uses it and its statements.
///
/// The row logic of this target is written once for every engine over this protocol and ``SQLStatement``.
package protocol SQLConnection: AnyObject {
  /// The words in which its engine differs from others.
  var dialect: SQLDialect { get }

  /// Whether a result costs a round trip to another process. Then a writer keeps what it reads, and errors of statements
  /// without result may appear at a later statement of the transaction.
  var isRemote: Bool { get }

  /// Prepares one statement with parameters, written `?` or `?1`.
  func prepare(_ sql: String) throws(StoreError) -> any SQLStatement

  /// Prepares a query without parameters whose result may be larger than the memory. Inside a transaction, reset it
  /// before the transaction ends.
  func prepareScan(_ sql: String) throws(StoreError) -> any SQLStatement

  /// Runs statements without parameters and result rows.
  func execute(_ sql: String) throws(StoreError)

  /// Runs the statements of ``SQLStatement/enqueue()`` together. Their next steps with the same parameters have the
  /// results, until ``discardFetched()``.
  func fetchEnqueued() throws(StoreError)

  /// Releases the results of ``fetchEnqueued()``, before a statement changes their rows.
  func discardFetched()

  /// Whether a transaction is open. Some errors end it.
  var isInTransaction: Bool { get }

  /// Whether a transaction that failed because its session was lost may succeed in another one.
  var canRepeat: Bool { get }

  /// Interrupts statements when `shouldStop` returns `true`; `nil` removes the check.
  func interrupt(if shouldStop: (() -> Bool)?)

  /// Returns the size of the database in bytes.
  func databaseSize() throws(StoreError) -> Int64

  /// Prepares the announcement of the open transaction to other processes. It is about to be committed and changed at
  /// most these customers.
  func willCommit(_ changed: Set<CustomerKey>)

  /// Publishes the last commit in this process, whose ``CustomerVersions`` are raised.
  func didCommit()

  /// Returns the number of commits that the open transaction sees; `nil` if no other process writes to the database.
  func commitMark() throws(StoreError) -> CommitMark?

  /// Whether the history that the open transaction sees has the commits up to `mark`.
  func includes(_ mark: CommitMark) throws(StoreError) -> Bool
}

// The defaults are those of an engine whose database only one process uses.
extension SQLConnection {
  /// An engine in this process does not lose a transaction to another one.
  package var canRepeat: Bool { false }
  /// No other process needs an announcement.
  package func willCommit(_ changed: Set<CustomerKey>) {}
  /// Publishes nothing.
  package func didCommit() {}
  /// No other process writes to the database.
  package func commitMark() -> CommitMark? { nil }
  /// Each transaction sees all earlier commits.
  package func includes(_ mark: CommitMark) -> Bool { true }
}

extension SQLConnection {
  /// Runs `body` over one snapshot: that of the open transaction, or of a new one that ends with it.
  func inSnapshot<Value>(_ body: () throws(StoreError) -> Value) throws(StoreError) -> Value {
    guard !isInTransaction else { return try body() }
    try execute(dialect.beginRead)
    do throws(StoreError) {
      let value = try body()
      try execute("COMMIT")
      return value
    } catch {
      try? execute("ROLLBACK")
      throw error
    }
  }
}

/// The few words of SQL in which the engines differ.
package struct SQLDialect: Sendable {
  /// Begins a transaction that may write.
  package let beginWrite: String
  /// Begins a transaction that reads one snapshot.
  package let beginRead: String
  /// Returns a condition: whether the blob in a column contains some bytes.
  package let contains: @Sendable (_ column: String, _ bytes: [UInt8]) -> String

  /// Creates a dialect from its words.
  package init(
    beginWrite: String, beginRead: String, contains: @escaping @Sendable (String, [UInt8]) -> String
  ) {
    self.beginWrite = beginWrite
    self.beginRead = beginRead
    self.contains = contains
  }
}

/// A statement, prepared once and run many times. Parameters are counted from 1, columns from 0.
package protocol SQLStatement: AnyObject {
  /// Steps to the next row.
  ///
  /// - Returns: whether there is a row. After `true` or an error, the caller must call ``reset()``.
  func step() throws(StoreError) -> Bool

  /// Resets the statement, so that it can run again. The parameters stay bound.
  func reset()

  /// Adds the query with its parameters to those that ``SQLConnection/fetchEnqueued()`` runs; without effect in an
  /// engine that is not remote.
  func enqueue()

  /// Runs a statement without result rows, and resets it.
  func run() throws(StoreError)

  /// As ``run()``. Returns the number of inserted, updated or deleted rows.
  func runCounting() throws(StoreError) -> Int64

  /// Binds a text until it is bound again; ``reset()`` keeps it. In the other functions `nil` is NULL.
  func bind(_ position: CInt, _ text: String) throws(StoreError)
  func bind(_ position: CInt, _ text: String?) throws(StoreError)
  func bind(_ position: CInt, _ number: Int64) throws(StoreError)
  func bind(_ position: CInt, _ number: Int64?) throws(StoreError)
  func bind(_ position: CInt, _ bytes: [UInt8]?) throws(StoreError)

  /// Returns an integer; 0 for NULL, and 1 or 0 for a condition.
  func number(_ column: CInt) -> Int64
  /// Returns a text; `nil` for NULL.
  func text(_ column: CInt) -> String?
  /// Returns the bytes of a blob or a text; empty for NULL.
  func bytes(_ column: CInt) -> [UInt8]
  /// Returns the engine's own bytes of a blob, valid until the next call of this statement; empty for NULL.
  func borrowedBytes(_ column: CInt) -> UnsafeBufferPointer<UInt8>
  /// Whether the value is an integer or a condition.
  func isNumber(_ column: CInt) -> Bool
  /// Whether the value is NULL.
  func isNull(_ column: CInt) -> Bool
}
