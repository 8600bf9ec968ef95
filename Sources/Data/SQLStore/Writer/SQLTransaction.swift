internal import AppStore
internal import Entitlements
internal import FamilySharing
package import Store

/// The transaction of one or more write bodies, on the writer's connection.
final class SQLTransaction: StoreTransaction, SQLSession {
  let evidence: EvidenceRows
  let fact: FactRows
  let evidenceLookup: EvidenceLookupRows
  let ownership: OwnershipRows
  let claim: ClaimRows
  let seat: SeatRows
  let event: EventRows
  let customer: CustomerRow
  let notification: NotificationRows
  let poll: PollRows
  let purchaseState: PurchaseStateRows
  let idempotency: KeyedRead<[UInt8], IdempotencyRecord?>
  let hasConsentWithdrawals: KeyedRead<ScopedID, Bool>
  let segment = SegmentRows()
  let outlines = AccessOutlines()
  let connection: any SQLConnection
  /// The rows that were read; `nil` in an engine whose reads cost no round trip.
  let workspace: Workspace?
  /// The keys of sums that are stored, in an engine without a workspace: rows of `report_key` are inserted only, so that each
  /// write need not insert its keys again.
  var storedReportKeys: Set<Int64> = []
  /// Replaces 64 KiB.
  private let writeProbe: any SQLStatement
  /// The customers whose read model was replaced since the last commit. Some of the writes may have been rolled back.
  private(set) var changedCustomers: Set<CustomerKey> = []
  /// The statements of texts that never vary.
  private var statements: [String: any SQLStatement] = [:]

  /// `hash` is that of ``CustomerRow``; `maxRejectedBytes` that of ``EvidenceRows``.
  init(
    _ connection: any SQLConnection, hash: @escaping CustomerIdentity.Hash = CustomerIdentity.hash,
    maxRejectedBytes: Int64
  ) throws(StoreError) {
    workspace = connection.isRemote ? Workspace(connection) : nil
    evidence = try EvidenceRows(connection, in: workspace, maxRejectedBytes: maxRejectedBytes)
    fact = try FactRows(connection, in: workspace)
    evidenceLookup = try EvidenceLookupRows(connection, in: workspace)
    ownership = try OwnershipRows(connection, in: workspace)
    claim = try ClaimRows(connection, in: workspace)
    seat = try SeatRows(connection, in: workspace)
    event = try EventRows(connection)
    customer = try CustomerRow(connection, in: workspace, hash: hash)
    notification = try NotificationRows(connection, in: workspace)
    poll = try PollRows(connection, in: workspace)
    purchaseState = try PurchaseStateRows(connection, in: workspace)
    idempotency = try .idempotencyRecords(on: connection, in: workspace)
    hasConsentWithdrawals = try .consentWithdrawals(on: connection, in: workspace)
    self.connection = connection
    writeProbe = try connection.prepare("UPDATE health_probe SET filler = ?")
  }

  func use() -> any SQLConnection { connection }

  func statement(once sql: String) throws(StoreError) -> any SQLStatement {
    if let known = statements[sql] { return known }
    let statement = try connection.prepare(sql)
    statements[sql] = statement
    return statement
  }

  /// Replaces filler to test whether writing works: enough data to fail on a disk with only a few bytes free.
  func probe() throws(StoreError) {
    var random = SystemRandomNumberGenerator()
    // Random bytes are incompressible.
    try writeProbe.bind(1, (0..<65536).map { _ in UInt8.random(in: .min ... .max, using: &random) })
    try writeProbe.run()
  }

  func testInsertion() throws(StoreError) {
    try run(once: "INSERT INTO evidence SELECT * FROM evidence WHERE FALSE")
  }

  /// Returns what ``putFacts(_:answers:of:)`` stored last.
  func customer(_ key: CustomerKey) throws(StoreError) -> CustomerState? { try customer.state(key) }

  func putFacts(
    _ facts: CustomerFacts, answers: PrecomputedAnswers, of key: CustomerKey
  ) throws(StoreError) {
    try customer.put(facts, answers, of: key)
    changedCustomers.insert(key)
  }

  func mark(_ key: CustomerKey, isContradictory: Bool) throws(StoreError) {
    try customer.mark(key, isContradictory: isContradictory)
  }

  func allFacts(of key: CustomerKey) throws(StoreError) -> CustomerFacts? { try customer.facts(of: key) }

  func facts(
    ofLine line: String, from chunk: Int, of key: CustomerKey
  ) throws(StoreError) -> CustomerFacts {
    try customer.facts(ofLine: line, from: chunk, of: key)
  }

  func putFacts(
    _ facts: CustomerFacts, ofLine line: String, chunk: Int, of key: CustomerKey
  ) throws(StoreError) {
    try customer.put(facts, ofLine: line, chunk: chunk, of: key)
  }

  func deleteLineFacts(of key: CustomerKey) throws(StoreError) { try customer.deleteLines(of: key) }

  /// Returns ``changedCustomers``, and clears the list.
  func takeChangedCustomers() -> Set<CustomerKey> {
    defer { changedCustomers.removeAll(keepingCapacity: true) }
    return changedCustomers
  }

  /// Writes what is cached of this transaction, before a savepoint or a commit.
  func saveCached() throws(StoreError) { try evidence.saveLastKnown() }

  /// Discards cached state after a rollback.
  func rolledBack() {
    evidence.rolledBack()
    event.rolledBack()
    customer.rolledBack()
    fact.prices.rolledBack()
    segment.discard()
    storedReportKeys.removeAll()
    workspace?.removeAll()
  }

  func append(_ event: NewEvent) throws(StoreError) -> StoredEvent { try self.event.append(event) }
}

extension StoreTransaction {
  /// The connection of the transaction, for statements that only one engine has; `nil` for a store without SQL.
  package var sqlConnection: (any SQLConnection)? { (self as? SQLTransaction)?.connection }
}

// Notifications.
extension SQLTransaction {
  func notification(
    withUUID uuid: String, of appID: String, in environment: Environment
  ) throws(StoreError) -> NotificationRecord? {
    try notification.byUUID(ScopedID(uuid, of: appID, in: environment))
  }

  func notification(_ evidence: EvidenceID) throws(StoreError) -> NotificationRecord? {
    try notification.notification(evidence)
  }

  func put(_ notification: NotificationRecord) throws(StoreError) {
    try self.notification.put(notification)
  }
}

// Seat claims.
extension SQLTransaction {
  func put(_ seat: Seat, of purchase: LineKey, from evidence: EvidenceID) throws(StoreError) {
    try self.seat.put(seat, of: purchase, from: evidence)
  }

  func seats(of purchase: LineKey) throws(StoreError) -> [Seat] { try seat.seats(purchase) }

  func seat(_ line: LineKey) throws(StoreError) -> Seat? { try seat.seat(line) }

  func seat(
    claimedAs seatClaimID: String, of appID: String, in environment: Environment
  ) throws(StoreError) -> Seat? {
    try seat.seat(claimedAs: seatClaimID, of: appID, in: environment)
  }
}
