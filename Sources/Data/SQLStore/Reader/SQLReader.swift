internal import AppStore
internal import Entitlements
internal import FamilySharing
package import Store

/// Reads through its own connection, with one read transaction for each event loop tick or ``ReadJob``.
final class SQLReader: StoreSnapshot, CheckReader, SQLSession {
  let connection: any SQLConnection
  private let begin: any SQLStatement
  private let end: any SQLStatement
  private let customer: CustomerRow
  /// The commits that the writer announced.
  private let changes: CustomerVersions
  private let ownership: OwnershipRows
  private let claim: ClaimRows
  private let fact: FactRows
  private let evidenceLookup: EvidenceLookupRows
  private let seat: SeatRows
  private let event: EventQueries
  private let compressor: BodyCompressor
  let reportKeys: ReportKeyCache
  /// The statements of texts that never vary.
  private var statements: [String: any SQLStatement] = [:]
  /// Set while a ``ReadJob`` runs.
  private var control: ReadControl?
  /// Whether the read transaction is open.
  private var isInTick = false
  /// The last commit that was announced before the read transaction began.
  private var version: UInt64 = 0
  /// ``CustomerVersions/raiseCount`` when the read transaction before began.
  private var seenRaises = 0

  /// Creates a reader of the store's `connection`; `hash` is that of ``CustomerRow``, and `reportKeys` those of the store's
  /// other readers.
  init(
    _ connection: any SQLConnection, changes: CustomerVersions,
    hash: @escaping CustomerIdentity.Hash = CustomerIdentity.hash,
    reportKeys: ReportKeyCache = ReportKeyCache()
  ) throws(StoreError) {
    self.changes = changes
    self.reportKeys = reportKeys
    self.connection = connection
    begin = try connection.prepare(connection.dialect.beginRead)
    end = try connection.prepare("COMMIT")
    customer = try CustomerRow(connection, hash: hash)
    ownership = try OwnershipRows(connection)
    claim = try ClaimRows(connection)
    fact = try FactRows(connection)
    evidenceLookup = try EvidenceLookupRows(connection)
    seat = try SeatRows(connection)
    event = try EventQueries(connection)
    compressor = try BodyCompressor(connection)
  }

  func answer(
    to entitlement: String, of key: CustomerKey, under fingerprint: UInt64, at now: Instant
  ) throws(StoreError) -> AnswerLookup {
    try beginTick()
    return try customer.answer(to: entitlement, of: key, under: fingerprint, at: now)
  }

  func snapshotVersion() throws(StoreError) -> UInt64 {
    try beginTick()
    return version
  }

  func facts(of key: CustomerKey) throws(StoreError) -> CustomerFacts? {
    try beginTick()
    return try customer.facts(of: key)
  }

  func smallFacts(of key: CustomerKey) throws(StoreError) -> CustomerFacts? {
    try beginTick()
    return try customer.smallFacts(of: key)
  }

  func customers(
    of appID: String, in environment: Environment, after customer: String?, limit: Int
  ) throws(StoreError) -> [CustomerRecord] {
    try beginTick()
    let last = customer.map { CustomerKey(appID: appID, environment: environment, customerID: $0) }
    return try self.customer.page(of: appID, in: environment, after: last, limit: limit)
  }

  func contradictoryCustomers(
    of appID: String, in environment: Environment, after customer: String?, limit: Int
  ) throws(StoreError) -> [CustomerKey] {
    try beginTick()
    let last = customer.map { CustomerKey(appID: appID, environment: environment, customerID: $0) }
    return try self.customer.contradictory(of: appID, in: environment, after: last, limit: limit)
  }

  func evidence(of fact: DecidingFact, of key: CustomerKey) throws(StoreError) -> EvidenceID? {
    try beginTick()
    return try evidenceLookup.evidence(of: fact, of: key)
  }

  func owners(of line: LineKey) throws(StoreError) -> [String] {
    try beginTick()
    return try ownership.owners(line)
  }

  func customerID(
    ofToken token: String, of appID: String, in environment: Environment
  ) throws(StoreError) -> String? {
    try beginTick()
    return try claim.customerID(ofToken: token, of: appID, in: environment)
  }

  func mergeTarget(of customer: CustomerKey) throws(StoreError) -> String? {
    try beginTick()
    return try claim.mergeTarget(of: customer)
  }

  func facts(of line: LineKey) throws(StoreError) -> CustomerFacts {
    try beginTick()
    return try fact.facts(of: line)
  }

  func seats(of purchase: LineKey) throws(StoreError) -> [Seat] {
    try beginTick()
    return try seat.seats(purchase)
  }

  func ownershipChanges(of customer: CustomerKey) throws(StoreError) -> [OwnershipChange] {
    try beginTick()
    return try ownership.changes(of: customer)
  }

  func evidence(after id: EvidenceID?, limit: Int) throws(StoreError) -> [StoredEvidence] {
    try beginTick()
    return try EvidenceQueries(connection, compressor).page(after: id, limit: limit)
  }

  func evidence(_ id: EvidenceID) throws(StoreError) -> StoredEvidence? {
    try beginTick()
    return try EvidenceQueries(connection, compressor).evidence(id)
  }

  func evidence(about line: LineKey) throws(StoreError) -> [StoredEvidence] {
    try beginTick()
    return try EvidenceQueries(connection, compressor).evidence(about: line)
  }

  func rejectedEvidence(
    of appID: String, where isMatch: ([UInt8]) -> Bool
  ) throws(StoreError) -> [EvidenceID] {
    try beginTick()
    return try EvidenceQueries(connection, compressor).rejected(of: appID, where: isMatch)
  }

  func events(
    of customer: CustomerKey, after sequence: Int64, limit: Int
  ) throws(StoreError) -> [StoredEvent] {
    try beginTick()
    return try event.page(of: customer, after: sequence, limit: limit)
  }

  func events(
    ofApp appID: String, after sequence: Int64, limit: Int
  ) throws(StoreError) -> [StoredEvent] {
    try beginTick()
    return try event.page(ofApp: appID, after: sequence, limit: limit)
  }

  func lastSequence(of customer: CustomerKey) throws(StoreError) -> Int64 {
    try beginTick()
    return try event.lastSequence(of: customer)
  }

  func lastSequence(ofApp appID: String) throws(StoreError) -> Int64 {
    try beginTick()
    return try event.lastSequence(ofApp: appID)
  }

  func appsWithEvidence() throws(StoreError) -> [String] {
    try rows("SELECT DISTINCT app FROM last_known ORDER BY 1") { $0.text(0) ?? "" }
  }

  func appsWithEvents() throws(StoreError) -> [String] {
    try beginTick()
    return try event.apps()
  }

  func position(of appID: String) throws(StoreError) -> StorePosition {
    let sequence = try lastSequence(ofApp: appID)
    guard let mark = try commitMark() else {
      return StorePosition(of: appID, sequence: sequence, mark: try lastEvidence())
    }
    return StorePosition(of: appID, sequence: sequence, mark: mark.commits, term: mark.term)
  }

  func commitMark() throws(StoreError) -> CommitMark? {
    try beginTick()
    return try connection.commitMark()
  }

  func includes(_ mark: CommitMark) throws(StoreError) -> Bool {
    try beginTick()
    return try connection.includes(mark)
  }

  func nextDue(in domain: ClockDomain) throws(StoreError) -> Instant? {
    var next: Instant?
    for condition in domain.dueCustomerConditions(connection.dialect) {
      next = [next, try earliest(in: "customer", where: condition)].compactMap(\.self).min()
    }
    return next
  }

  func counts() throws(StoreError) -> StoreCounts {
    try beginTick()
    return StoreCounts(
      evidence: try count("evidence"), rejectedEvidence: try count("evidence WHERE rejection <> ''"),
      transactions: try count("transaction_fact"), renewals: try count("renewal_fact WHERE chunk = 0"),
      customers: try count("customer WHERE length(identity) > 0"), events: try count("event"))
  }

  private func count(_ source: String) throws(StoreError) -> Int64 {
    try rows("SELECT count(*) FROM \(source)") { $0.number(0) }.first ?? 0
  }

  /// Returns the earliest due time in `table`.
  func earliest(in table: String, where condition: String) throws(StoreError) -> Instant? {
    let due = try rows(
      once: "SELECT due_at FROM \(table) WHERE due_at IS NOT NULL AND \(condition) ORDER BY due_at LIMIT 1"
    ) { $0.instant(0) }
    return due.first ?? nil
  }

  /// Runs `body` over one snapshot until `control` stops it.
  func snapshot<Value>(
    _ control: ReadControl, _ body: (any StoreSnapshot) throws(StoreError) -> Value
  ) throws(StoreError) -> Value {
    self.control = control
    connection.interrupt(if: { control.stopReason != nil })
    defer {
      // Ending the transaction must not be interrupted.
      connection.interrupt(if: nil)
      self.control = nil
      endTick()
    }
    return try body(self)
  }

  /// Begins the tick, and throws the reason to stop if the running ``ReadJob`` has one.
  func use() throws(StoreError) -> any SQLConnection {
    try beginTick()
    return connection
  }

  func statement(once sql: String) throws(StoreError) -> any SQLStatement {
    let connection = try use()
    if let known = statements[sql] { return known }
    let statement = try connection.prepare(sql)
    statements[sql] = statement
    return statement
  }

  /// Ends the read transaction, so that a checkpoint may overwrite the pages that it saw.
  func endTick() {
    guard isInTick else { return }
    isInTick = false
    // Rolling back a read transaction loses nothing. If it fails, the next read reports the error.
    try? end.run()
  }

  /// Begins the read transaction at the first read of a tick; reads without one would each see another
  /// commit.
  private func beginTick() throws(StoreError) {
    if let reason = control?.stopReason { throw reason }
    guard !isInTick else { return }
    let raises = changes.raiseCount
    if raises != seenRaises { compressor.rolledBack() }
    seenRaises = raises
    // Loaded before the transaction begins, so that the snapshot is never older than this commit.
    version = changes.lastCommit
    if !connection.isInTransaction { try begin.run() }
    isInTick = true
  }
}

/// Returns a reader of one snapshot at a time over `connection`; `hash` is that of ``CustomerRow``.
package func makeReader(
  _ connection: sending any SQLConnection, changes: CustomerVersions,
  hash: @escaping CustomerIdentity.Hash = CustomerIdentity.hash
) throws(StoreError) -> sending any CheckReader {
  try SQLReader(connection, changes: changes, hash: hash)
}
