import SQLStore
import SQLite
import SQLiteStore
import Store
import Synchronization
import Testing

/// A store whose writer has a remote connection to the same tables.
struct RemoteStore: EntitlementStore {
  let base: SQLiteEntitlementStore
  let queue: WriteQueue

  var changes: CustomerVersions { base.changes }
  var feed: StoreFeed { base.feed }

  func read<Value: Sendable>(
    _ priority: ReadPriority, deadline: ContinuousClock.Instant?,
    _ body: @escaping @Sendable (any StoreSnapshot) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    try await base.read(priority, deadline: deadline, body)
  }

  func makeCheckReader() throws(StoreError) -> sending any CheckReader { try base.makeCheckReader() }

  func write<Outcome: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws(StoreError) -> Outcome
  ) async throws(StoreError) -> Outcome { try await queue.write(body) }

  func write<Outcome: Sendable>(
    expecting expected: @autoclosure () -> ExpectedReads,
    _ body: @escaping @Sendable (any StoreTransaction) throws(StoreError) -> Outcome
  ) async throws(StoreError) -> Outcome { try await queue.write(expecting: expected(), body) }

  func dryRun<Outcome: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws(StoreError) -> Outcome
  ) async throws(StoreError) -> Outcome { try await queue.dryRun(body) }

  func purgeRemnants() async -> Bool { await queue.purgeRemnants() }
  func commits() -> AsyncStream<Void> { queue.commits.listen() }
  func health() {}
  func close() async { await queue.close() }
}

/// Writes through a ``RemoteConnection``.
// Unchecked: only the queue's thread uses the connection; the statistics have a lock.
final class RemoteWriter: StoreWriter, @unchecked Sendable {
  struct Statistics {
    var roundTrips = 0
    var batches = 0
    var writes = 0
  }

  private let connection: RemoteConnection
  private let writer: BatchWriter
  private let counted = Mutex(Statistics())

  init(path: String, changes: CustomerVersions) throws {
    let base = try SQLiteConnection<StoreError>(path: path)
    try base.execute("PRAGMA busy_timeout = 5000")
    connection = RemoteConnection(base)
    writer = try BatchWriter(connection, changes: changes)
  }

  var statistics: Statistics { counted.withLock { $0 } }

  func write(_ batch: [WriteJob], joinedBy arrived: () -> [WriteJob]) -> (count: Int, failure: StoreError?) {
    let result = writer.write(batch) {
      Issue.record("a remote batch waits for no other writes")
      return []
    }
    counted.withLock {
      $0.roundTrips = connection.roundTrips
      $0.batches += 1
      $0.writes += result.count
    }
    return result
  }

  func maintain() {}
  func close() {}
}

/// A connection of SQLite that counts the round trips which one to another process would need.
private final class RemoteConnection: SQLConnection {
  private let base: SQLiteConnection<StoreError>
  private(set) var roundTrips = 0
  private var enqueued: Set<String> = []
  private var fetched: Set<String> = []

  init(_ base: SQLiteConnection<StoreError>) { self.base = base }

  var dialect: SQLDialect { base.dialect }
  var isRemote: Bool { true }
  var isInTransaction: Bool { base.isInTransaction }

  func prepare(_ sql: String) throws(StoreError) -> any SQLStatement {
    RemoteStatement(try base.prepare(sql), sql, self)
  }

  func prepareScan(_ sql: String) throws(StoreError) -> any SQLStatement { try prepare(sql) }

  func execute(_ sql: String) throws(StoreError) { try base.execute(sql) }
  func interrupt(if shouldStop: (() -> Bool)?) { base.interrupt(if: shouldStop) }
  func databaseSize() throws(StoreError) -> Int64 { try base.databaseSize() }

  func enqueue(_ request: String) { enqueued.insert(request) }

  func fetchEnqueued() {
    roundTrips += enqueued.isEmpty ? 0 : 1
    fetched.formUnion(enqueued)
    enqueued = []
  }

  func discardFetched() { fetched = [] }

  /// Counts a result that is needed, unless it was fetched.
  func need(_ request: String) { roundTrips += fetched.contains(request) ? 0 : 1 }
}

private final class RemoteStatement: SQLStatement {
  private let base: any SQLStatement
  private let sql: String
  private let connection: RemoteConnection
  private var parameters: [CInt: String] = [:]
  private var isRunning = false

  init(_ base: any SQLStatement, _ sql: String, _ connection: RemoteConnection) {
    self.base = base
    self.sql = sql
    self.connection = connection
  }

  private var request: String { "\(sql) \(parameters.sorted { $0.key < $1.key })" }

  func enqueue() { connection.enqueue(request) }

  func step() throws(StoreError) -> Bool {
    if !isRunning { connection.need(request) }
    isRunning = true
    return try base.step()
  }

  func reset() {
    isRunning = false
    base.reset()
  }

  func run() throws(StoreError) {
    if sql == "COMMIT" { connection.need(sql) }
    try base.run()
  }

  func runCounting() throws(StoreError) -> Int64 {
    connection.need(request)
    return try base.runCounting()
  }

  func bind(_ position: CInt, _ text: String) throws(StoreError) {
    parameters[position] = text
    try base.bind(position, text)
  }

  func bind(_ position: CInt, _ text: String?) throws(StoreError) {
    parameters[position] = text
    try base.bind(position, text)
  }

  func bind(_ position: CInt, _ number: Int64) throws(StoreError) {
    parameters[position] = "\(number)"
    try base.bind(position, number)
  }

  func bind(_ position: CInt, _ number: Int64?) throws(StoreError) {
    parameters[position] = number.map { "\($0)" }
    try base.bind(position, number)
  }

  func bind(_ position: CInt, _ bytes: [UInt8]?) throws(StoreError) {
    parameters[position] = bytes.map { "\($0)" }
    try base.bind(position, bytes)
  }

  func number(_ column: CInt) -> Int64 { base.number(column) }
  func text(_ column: CInt) -> String? { base.text(column) }
  func bytes(_ column: CInt) -> [UInt8] { base.bytes(column) }
  func borrowedBytes(_ column: CInt) -> UnsafeBufferPointer<UInt8> { base.borrowedBytes(column) }
  func isNumber(_ column: CInt) -> Bool { base.isNumber(column) }
  func isNull(_ column: CInt) -> Bool { base.isNull(column) }
}
