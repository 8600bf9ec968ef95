internal import AppStore
internal import Entitlements
internal import Store

/// Appends rows to `event`.
final class EventRows {
  private let insert: any SQLStatement
  private let selectLast: any SQLStatement
  /// The last sequence of each app, as far as it was read.
  private var lastSequences: [String: Int64] = [:]

  init(_ connection: any SQLConnection) throws(StoreError) {
    selectLast = try connection.prepare(lastSequenceOfApp)
    insert = try connection.prepare(
      """
      INSERT INTO event (
        customer_id, app, environment, entitlement, type, effective_at, recorded_at, evidence_id, actor,
        before, after, subject, counterparty_role, counterparty, sequence)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """)
  }

  /// Appends an event with the next sequence of the app: consecutive, because bodies run in turn, a rollback frees it,
  /// and rows are never deleted.
  func append(_ event: NewEvent) throws(StoreError) -> StoredEvent {
    let change = event.change
    let sequence = try lastSequence(of: event.customer.appID) + 1
    try insert.bind(event.customer)
    try insert.bind(4, change.entitlement)
    try insert.bind(5, change.kind.rawValue)
    try insert.bind(6, change.effectiveAt.millisecondsSince1970)
    try insert.bind(7, event.recordedAt.millisecondsSince1970)
    try insert.bind(8, event.evidenceID?.rawValue)
    try insert.bind(9, event.actor)
    try insert.bind(10, StatusCoding.encode(change.before))
    try insert.bind(11, StatusCoding.encode(change.after))
    try insert.bind(12, change.subject.map(SubjectCoding.encode) ?? [])
    try insert.bind(13, event.counterparty?.role.rawValue ?? "")
    try insert.bind(14, event.counterparty?.customerID ?? "")
    try insert.bind(15, sequence)
    try insert.run()
    lastSequences[event.customer.appID] = sequence
    return StoredEvent(sequence: sequence, event: event)
  }

  /// Discards cached state after a rollback.
  func rolledBack() { lastSequences = [:] }

  private func lastSequence(of appID: String) throws(StoreError) -> Int64 {
    if let last = lastSequences[appID] { return last }
    try selectLast.bind(1, appID)
    defer { selectLast.reset() }
    let last = try selectLast.step() ? selectLast.number(0) : 0
    lastSequences[appID] = last
    return last
  }
}

private let lastSequenceOfApp = "SELECT coalesce(max(sequence), 0) FROM event WHERE app = ?"

extension SQLTransaction {
  /// Scans the latest events only, because there is no index by time.
  func customers(withEventsAfter now: Instant, in domain: ClockDomain) throws(StoreError) -> [CustomerKey] {
    try rows(
      """
      SELECT DISTINCT app, environment, customer_id FROM event
      WHERE event_id > (SELECT coalesce(max(event_id), 0) - 100000 FROM event) AND recorded_at > ?
        AND \(domain.condition)
      """, now
    ) { row throws(StoreError) in
      CustomerKey(appID: row.text(0) ?? "", environment: try row.value(1), customerID: row.text(2) ?? "")
    }
  }
}

/// Reads events page by page.
final class EventQueries {
  private let selectOfApp: any SQLStatement
  private let selectOfCustomer: any SQLStatement
  private let selectLastOfApp: any SQLStatement
  private let selectLastOfCustomer: any SQLStatement
  private let selectApps: any SQLStatement

  init(_ connection: any SQLConnection) throws(StoreError) {
    let columns = """
      sequence, customer_id, app, environment, entitlement, type, effective_at, recorded_at, evidence_id,
      actor, before, after, subject, counterparty_role, counterparty,
      CASE WHEN type = '\(EntitlementChange.Kind.customerErased.rawValue)' THEN
        (SELECT sealed FROM erased_name WHERE pseudonym = event.customer_id) END
      """
    let ofCustomer = "customer_id = ? AND app = ? AND environment = ?"
    selectOfApp = try connection.prepare(
      "SELECT \(columns) FROM event WHERE app = ? AND sequence > ? ORDER BY sequence LIMIT ?")
    selectOfCustomer = try connection.prepare(
      "SELECT \(columns) FROM event WHERE \(ofCustomer) AND sequence > ? ORDER BY sequence LIMIT ?")
    selectLastOfApp = try connection.prepare(lastSequenceOfApp)
    selectLastOfCustomer = try connection.prepare(
      "SELECT coalesce(max(sequence), 0) FROM event WHERE \(ofCustomer)")
    // Seeks the index once for each app instead of scanning it.
    selectApps = try connection.prepare(
      """
      WITH RECURSIVE apps (app) AS (
        SELECT min(app) FROM event
        UNION ALL SELECT (SELECT min(app) FROM event WHERE app > apps.app) FROM apps WHERE app IS NOT NULL)
      SELECT app FROM apps WHERE app IS NOT NULL
      """)
  }

  func page(of customer: CustomerKey, after sequence: Int64, limit: Int) throws(StoreError) -> [StoredEvent] {
    try selectOfCustomer.bind(customer)
    return try page(selectOfCustomer, parameter: 4, after: sequence, limit)
  }

  func page(ofApp appID: String, after sequence: Int64, limit: Int) throws(StoreError) -> [StoredEvent] {
    try selectOfApp.bind(1, appID)
    return try page(selectOfApp, parameter: 2, after: sequence, limit)
  }

  /// `parameter` is the number of the parameter of the sequence; that of the limit follows.
  private func page(
    _ select: any SQLStatement, parameter: CInt, after sequence: Int64, _ limit: Int
  ) throws(StoreError) -> [StoredEvent] {
    try select.bind(parameter, sequence)
    try select.bind(parameter + 1, Int64(limit))
    defer { select.reset() }
    var page: [StoredEvent] = []
    while try select.step() { page.append(try event(select)) }
    return page
  }

  /// Returns the last sequence; 0 if there is none.
  func lastSequence(of customer: CustomerKey) throws(StoreError) -> Int64 {
    try selectLastOfCustomer.bind(customer)
    defer { selectLastOfCustomer.reset() }
    return try selectLastOfCustomer.step() ? selectLastOfCustomer.number(0) : 0
  }

  /// Returns the last sequence; 0 if there is none.
  func lastSequence(ofApp appID: String) throws(StoreError) -> Int64 {
    try selectLastOfApp.bind(1, appID)
    defer { selectLastOfApp.reset() }
    return try selectLastOfApp.step() ? selectLastOfApp.number(0) : 0
  }

  /// Returns the apps that have events, sorted.
  func apps() throws(StoreError) -> [String] {
    defer { selectApps.reset() }
    var apps: [String] = []
    while try selectApps.step() { apps.append(selectApps.text(0) ?? "") }
    return apps
  }

  /// Decodes the event in the current row.
  private func event(_ row: any SQLStatement) throws(StoreError) -> StoredEvent {
    guard let environment = row.text(3).flatMap(Environment.init(rawValue:)),
      let kind = row.text(5).flatMap(EntitlementChange.Kind.init(rawValue:))
    else { throw .corrupt("an event has an unknown environment or type") }
    let change = EntitlementChange(
      entitlement: row.text(4) ?? "", kind: kind,
      effectiveAt: Instant(millisecondsSince1970: row.number(6)),
      before: try StatusCoding.status(row.bytes(10)), after: try StatusCoding.status(row.bytes(11)),
      subject: try SubjectCoding.subject(row.bytes(12)))
    let counterparty = row.text(13).flatMap(Counterparty.Role.init).map {
      Counterparty(role: $0, customerID: row.text(14) ?? "")
    }
    return StoredEvent(
      sequence: row.number(0),
      event: NewEvent(
        customer: CustomerKey(
          appID: row.text(2) ?? "", environment: environment, customerID: row.text(1) ?? ""),
        change: change, recordedAt: Instant(millisecondsSince1970: row.number(7)),
        evidenceID: row.isNull(8) ? nil : EvidenceID(rawValue: row.number(8)), actor: row.text(9) ?? "",
        counterparty: counterparty),
      sealedName: row.isNull(15) ? nil : row.bytes(15))
  }
}
