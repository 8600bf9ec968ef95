internal import AppStore
internal import Store

/// Writes `evidence` and its indexes by customer and line.
final class EvidenceRows {
  let connection: any SQLConnection
  let compressor: BodyCompressor
  let rejected: RejectedEvidenceRows
  /// Evidence that can be found by content.
  let equal: KeyedRead<EvidenceIdentity, Found?>
  private let insert: any SQLStatement
  private let indexByCustomer: any SQLStatement
  private let indexByLine: any SQLStatement
  private let selectLast: any SQLStatement
  private let selectLastKnown: any SQLStatement
  private let putLastKnown: any SQLStatement
  /// When the latest evidence of each environment became known, as far as it was read.
  private var lastKnown: [KnownScope: Instant] = [:]
  /// Those whose row is older: it is written once for all writes of a batch.
  private var unsaved: Set<KnownScope> = []
  /// The last id in use; `nil` if it must be read again.
  private var lastID: EvidenceID?

  /// The evidence in whose order the time does not go back. Without an environment, that of the app's rejected documents.
  private struct KnownScope: Hashable {
    let appID: String
    let environment: Environment?
  }

  typealias Found = (id: EvidenceID, knownAt: Instant)

  /// `maxRejectedBytes` is the limit for each day and app.
  init(
    _ connection: any SQLConnection, in workspace: Workspace? = nil, maxRejectedBytes: Int64
  ) throws(StoreError) {
    self.connection = connection
    compressor = try BodyCompressor(connection)
    rejected = try RejectedEvidenceRows(connection, limit: maxRejectedBytes)
    equal = try KeyedRead(
      """
      SELECT evidence_id, coalesce(known_at, received_at) FROM evidence
      WHERE content_hash = ? AND app = ? AND kind = ? AND customer_id = ? AND rejection = ?
        AND is_found_by_content = 1
      """, on: connection, in: workspace
    ) { _, row throws(StoreError) in
      guard try row.step() else { return nil }
      return (EvidenceID(rawValue: row.number(0)), Instant(millisecondsSince1970: row.number(1)))
    }
    insert = try connection.prepare(
      """
      INSERT INTO evidence (
        content_hash, app, kind, customer_id, rejection, environment, source, received_at, size, body,
        evidence_id, compression, is_found_by_content, known_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """)
    indexByCustomer = try connection.prepare(
      """
      INSERT INTO customer_evidence (customer_id, app, environment, evidence_id)
      VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING
      """)
    indexByLine = try connection.prepare(
      """
      INSERT INTO line_record (line_id, app, environment, kind, id, number, evidence_id)
      VALUES (?1, ?2, ?3, \(LineRecordKind.evidence), '', ?4, ?4)
      ON CONFLICT (line_id, app, environment, kind, id, number) DO NOTHING
      """)
    selectLast = try connection.prepare("SELECT coalesce(max(evidence_id), 0) FROM evidence")
    selectLastKnown = try connection.prepare(
      "SELECT known_at FROM last_known WHERE app = ? AND environment = ?")
    putLastKnown = try connection.prepare(
      """
      INSERT INTO last_known (app, environment, known_at) VALUES (?, ?, ?)
      ON CONFLICT (app, environment) DO UPDATE SET known_at = excluded.known_at
      """)
  }

  /// Searches for equal content first, by the unique index on hash, app, kind, customer and rejection.
  func append(_ evidence: Evidence) throws(StoreError) -> AppendedEvidence {
    if let stored = try equal(EvidenceIdentity(evidence)) {
      return AppendedEvidence(id: stored.id, isDuplicate: true, knownAt: stored.knownAt)
    }
    return try insert(evidence, as: nil, knownAt: try knownAt(of: evidence), isLimited: true)
  }

  /// Skips that search and its index: a notification has a UUID that identifies it.
  func appendNew(_ evidence: Evidence) throws(StoreError) -> AppendedEvidence {
    try insert(evidence, as: nil, knownAt: try knownAt(of: evidence), isFoundByContent: false)
  }

  /// Inserts evidence under its old id; throws if the id is in use.
  func restore(_ evidence: StoredEvidence) throws(StoreError) {
    _ = try insert(
      evidence.evidence, as: evidence.id, knownAt: evidence.knownAt,
      isFoundByContent: evidence.isFoundByContent)
  }

  private func knownAt(of evidence: Evidence) throws(StoreError) -> Instant {
    try knownAt(
      evidence.recordedAt ?? evidence.receivedAt, of: evidence.appID, in: evidence.environment)
  }

  func knownAt(
    _ now: Instant, of appID: String, in environment: Environment?
  ) throws(StoreError) -> Instant {
    let scope = KnownScope(appID: appID, environment: environment)
    if let last = lastKnown[scope] { return max(now, last) }
    try bind(scope, to: selectLastKnown)
    defer { selectLastKnown.reset() }
    guard try selectLastKnown.step() else { return now }
    let last = Instant(millisecondsSince1970: selectLastKnown.number(0))
    lastKnown[scope] = last
    return max(now, last)
  }

  private func record(_ knownAt: Instant, in scope: KnownScope) {
    guard lastKnown[scope] != knownAt else { return }
    lastKnown[scope] = knownAt
    unsaved.insert(scope)
  }

  /// Stores when the latest evidence became known.
  func saveLastKnown() throws(StoreError) {
    for scope in unsaved {
      guard let knownAt = lastKnown[scope] else { continue }
      try bind(scope, to: putLastKnown)
      try putLastKnown.bind(3, knownAt.millisecondsSince1970)
      try putLastKnown.run()
    }
    unsaved = []
  }

  private func bind(_ scope: KnownScope, to statement: any SQLStatement) throws(StoreError) {
    try statement.bind(1, scope.appID)
    try statement.bind(2, scope.environment?.rawValue ?? "")
  }

  /// Valid until the next insert of the same write. Ids are never reused, because evidence is never deleted.
  func nextID() throws(StoreError) -> EvidenceID { EvidenceID(rawValue: try last().rawValue + 1) }

  /// The id of the last piece of evidence.
  private func last() throws(StoreError) -> EvidenceID {
    if let lastID { return lastID }
    defer { selectLast.reset() }
    let last = EvidenceID(rawValue: try selectLast.step() ? selectLast.number(0) : 0)
    lastID = last
    return last
  }

  /// Decompresses the body.
  func evidence(_ id: EvidenceID) throws(StoreError) -> StoredEvidence? {
    try EvidenceQueries(connection, compressor).evidence(id)
  }

  func evidence(naming customer: CustomerKey) throws(StoreError) -> [StoredEvidence] {
    try EvidenceQueries(connection, compressor).naming(customer)
  }

  /// Includes notifications of version 1.
  func evidence(about line: LineKey) throws(StoreError) -> [StoredEvidence] {
    let queries = EvidenceQueries(connection, compressor)
    return try queries.evidence(about: line) + queries.notificationsOfVersion1(about: line)
  }

  /// Has no effect if it is indexed already.
  func index(_ evidence: EvidenceID, under customer: CustomerKey) throws(StoreError) {
    try indexByCustomer(evidence, customer.customerID, customer.appID, customer.environment)
  }

  /// Has no effect if it is indexed already.
  func index(_ evidence: EvidenceID, under line: LineKey) throws(StoreError) {
    try indexByLine.bind(line)
    try indexByLine.bind(4, evidence.rawValue)
    try indexByLine.run()
  }

  /// A missing environment is stored as an empty text, because NULL is not part of a primary key.
  private func indexByCustomer(
    _ evidence: EvidenceID, _ customerID: String, _ appID: String, _ environment: Environment?
  ) throws(StoreError) {
    try indexByCustomer.bind(1, customerID)
    try indexByCustomer.bind(2, appID)
    try indexByCustomer.bind(3, environment?.rawValue ?? "")
    try indexByCustomer.bind(4, evidence.rawValue)
    try indexByCustomer.run()
  }

  /// Replaces the content of a piece of evidence.
  func replace(_ evidence: EvidenceID, with content: EvidenceContent) throws(StoreError) {
    let update = try connection.prepare(
      """
      UPDATE evidence SET content_hash = ?, size = ?, body = ?, compression = ?, is_found_by_content = 0
      WHERE evidence_id = ?
      """)
    let body = try content.body.map { body throws(StoreError) in
      try compressor.compress(body, isAccepted: true)
    }
    try update.bind(1, content.hash)
    try update.bind(2, Int64(content.size))
    try update.bind(3, body?.bytes)
    try update.bind(4, (body?.form ?? .verbatim).rawValue)
    try update.bind(5, evidence.rawValue)
    try update.run()
  }

  /// Discards cached state after a rollback.
  func rolledBack() {
    compressor.rolledBack()
    lastKnown = [:]
    unsaved = []
    lastID = nil
  }

  /// Inserts evidence under `id`, or under the next free id. `isLimited` applies the limit of rejected evidence.
  private func insert(
    _ evidence: Evidence, as id: EvidenceID?, knownAt: Instant, isFoundByContent: Bool = true,
    isLimited: Bool = false
  ) throws(StoreError) -> AppendedEvidence {
    var body = try evidence.content.body.map { body throws(StoreError) in
      try compressor.compress(body, isAccepted: evidence.verdict == .accepted)
    }
    if isLimited, evidence.verdict != .accepted {
      if let size = body?.bytes.count,
        try !rejected.shouldStore(evidence.content, compressedSize: size)
      {
        body = nil
      }
    }
    let identity = EvidenceIdentity(evidence)
    _ = try identity.bind(to: insert, at: 1)
    try insert.bind(6, evidence.environment?.rawValue)
    try insert.bind(7, evidence.source.rawValue)
    try insert.bind(8, evidence.receivedAt.millisecondsSince1970)
    try insert.bind(9, Int64(evidence.content.size))
    try insert.bind(10, body?.bytes)
    let id = if let id { id } else { try nextID() }
    try insert.bind(11, id.rawValue)
    try insert.bind(12, (body?.form ?? .verbatim).rawValue)
    try insert.bind(13, isFoundByContent ? 1 : 0)
    try insert.bind(14, knownAt == evidence.receivedAt ? nil : knownAt.millisecondsSince1970)
    try insert.run()
    if isFoundByContent { equal.keep((id, knownAt), of: identity) }
    lastID = max(id, try last())
    if isLimited, evidence.verdict != .accepted {
      try rejected.makeRoom(for: id, evidence, bodyBytes: body?.bytes.count ?? 0)
    }
    if let customer = evidence.customerID {
      try indexByCustomer(id, customer, evidence.appID, evidence.environment)
    }
    record(knownAt, in: KnownScope(appID: evidence.appID, environment: evidence.environment))
    return AppendedEvidence(id: id, isDuplicate: false, knownAt: knownAt)
  }
}
