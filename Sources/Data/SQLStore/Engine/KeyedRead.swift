internal import AppStore
internal import Store

/// The rows that a writer has read, kept between its batches, in an engine whose reads cost a round trip
/// each.
///
/// Only one writer changes the tables, so what was read stays right until this writer changes it. A rollback empties the
/// workspace, because it may contain changes that did not happen.
final class Workspace {
  private let connection: any SQLConnection
  private var reads: [any WorkspaceRead] = []

  init(_ connection: any SQLConnection) { self.connection = connection }

  fileprivate func add(_ read: any WorkspaceRead) { reads.append(read) }

  /// Reads the expected rows in one round trip.
  func fetch() throws(StoreError) {
    try connection.fetchEnqueued()
    defer { connection.discardFetched() }
    for read in reads { try read.keepExpected() }
  }

  /// Releases the older results, so that those of a batch fit in.
  func makeRoom() {
    for read in reads { read.makeRoom() }
  }

  func removeAll() {
    connection.discardFetched()
    for read in reads { read.discardAll() }
  }
}

private protocol WorkspaceRead: AnyObject {
  /// Reads the expected rows, which have arrived.
  func keepExpected() throws(StoreError)

  func makeRoom()

  func discardAll()
}

/// A read of the rows with one key, whose result a ``Workspace`` keeps.
final class KeyedRead<Key: Hashable & StatementValue, Value> {
  /// More than a batch needs. Beyond it the read begins again with an empty memory.
  private static var capacity: Int { 8_192 }

  private let select: any SQLStatement
  private let decode: (Key, any SQLStatement) throws(StoreError) -> Value
  /// Whether results are kept: otherwise each read runs the statement.
  let isKept: Bool
  private var kept: [Key: Value] = [:]
  private var expected: Set<Key> = []

  /// Prepares `sql`, whose parameters are those of a key. `decode` steps to the rows.
  init(
    _ sql: String, on connection: any SQLConnection, in workspace: Workspace?,
    decode: @escaping (Key, any SQLStatement) throws(StoreError) -> Value
  ) throws(StoreError) {
    select = try connection.prepare(sql)
    self.decode = decode
    isKept = workspace != nil
    workspace?.add(self)
  }

  /// Returns what is stored under `key`.
  func callAsFunction(_ key: Key) throws(StoreError) -> Value {
    guard isKept else { return try read(key) }
    if let known = kept[key] { return known }
    let value = try read(key)
    keep(value, of: key)
    return value
  }

  private func read(_ key: Key) throws(StoreError) -> Value {
    _ = try key.bind(to: select, at: 1)
    defer { select.reset() }
    return try decode(key, select)
  }

  /// Adds a key to those that ``Workspace/fetch()`` reads, unless its result is kept.
  func expect(_ key: Key) throws(StoreError) {
    guard isKept, kept[key] == nil, expected.insert(key).inserted else { return }
    _ = try key.bind(to: select, at: 1)
    select.enqueue()
  }

  /// Returns the result if it is kept.
  func known(_ key: Key) -> Value? { kept[key] }

  /// Replaces the result, because the rows were changed accordingly.
  func keep(_ value: Value, of key: Key) {
    guard isKept else { return }
    if kept.count >= Self.capacity { kept.removeAll(keepingCapacity: true) }
    kept[key] = value
  }

  /// Changes the result in place, if it is kept, because the rows were changed accordingly.
  func change(_ key: Key, _ body: (inout Value) -> Void) {
    guard let index = kept.index(forKey: key) else { return }
    body(&kept.values[index])
  }

  /// Reads the rows again at the next use, because they were changed.
  func discard(_ key: Key) { kept[key] = nil }
}

extension KeyedRead: WorkspaceRead {
  fileprivate func keepExpected() throws(StoreError) {
    defer { expected.removeAll(keepingCapacity: true) }
    for key in expected { keep(try read(key), of: key) }
  }

  fileprivate func makeRoom() {
    if kept.count >= Self.capacity / 2 { kept.removeAll(keepingCapacity: true) }
  }

  fileprivate func discardAll() {
    kept.removeAll(keepingCapacity: true)
    expected.removeAll(keepingCapacity: true)
  }
}

extension ScopedID: StatementValue {
  func bind(to statement: any SQLStatement, at position: CInt) throws(StoreError) -> CInt {
    try statement.bind(position, id)
    try statement.bind(position + 1, appID)
    try statement.bind(position + 2, environment.rawValue)
    return position + 3
  }
}

/// A line and the id.
extension TransactionKey: StatementValue {
  func bind(to statement: any SQLStatement, at position: CInt) throws(StoreError) -> CInt {
    try statement.bind(line.bind(to: statement, at: position), transactionID)
    return position + 4
  }
}

extension EvidenceIdentity: StatementValue {
  func bind(to statement: any SQLStatement, at position: CInt) throws(StoreError) -> CInt {
    try statement.bind(position, contentHash)
    try statement.bind(position + 1, appID)
    try statement.bind(position + 2, kind.rawValue)
    try statement.bind(position + 3, customerID)
    try statement.bind(position + 4, rejection)
    return position + 5
  }
}
