internal import AppStore
internal import Entitlements
internal import SQLite
internal import Store

/// Appends rows to `event`.
final class EventRows {
  private let connection: Connection
  private let insert: Statement

  init(_ connection: Connection) throws(StoreError) {
    self.connection = connection
    // SQLite assigns the row id after the largest one; since rows are never deleted, sequences are not
    // reused.
    insert = try Statement(
      """
      INSERT INTO event (
        customer_id, app, environment, entitlement, type, effective_at, recorded_at, evidence_id, actor,
        before, after, subject, counterparty_role, counterparty)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, on: connection)
  }

  /// Assigns the next sequence: consecutive, because bodies run one after the other and a rollback frees it.
  func append(_ event: NewEvent) throws(StoreError) -> StoredEvent {
    let change = event.change
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
    try insert.run()
    return StoredEvent(sequence: connection.lastInsertedRow, event: event)
  }
}

extension SQLiteTransaction {
  /// Scans the latest events only, because there is no index by time.
  func customers(withEventsAfter now: Instant) throws(StoreError) -> [CustomerKey] {
    try rows(
      """
      SELECT DISTINCT app, environment, customer_id FROM event
      WHERE sequence > (SELECT ifnull(max(sequence), 0) - 100000 FROM event) AND recorded_at > ?
      """, now
    ) { row throws(StoreError) in
      CustomerKey(appID: row.text(0) ?? "", environment: try row.value(1), customerID: row.text(2) ?? "")
    }
  }
}

/// Reads events page by page.
final class EventQueries {
  private let selectAll: Statement
  private let selectOfCustomer: Statement
  private let selectLast: Statement
  private let selectLastOfCustomer: Statement

  init(_ connection: Connection) throws(StoreError) {
    let columns = """
      sequence, customer_id, app, environment, entitlement, type, effective_at, recorded_at, evidence_id,
      actor, before, after, subject, counterparty_role, counterparty
      """
    let ofCustomer = "customer_id = ? AND app = ? AND environment = ?"
    selectAll = try Statement(
      "SELECT \(columns) FROM event WHERE sequence > ? ORDER BY sequence LIMIT ?", on: connection)
    selectOfCustomer = try Statement(
      "SELECT \(columns) FROM event WHERE \(ofCustomer) AND sequence > ? ORDER BY sequence LIMIT ?",
      on: connection)
    selectLast = try Statement("SELECT ifnull(max(sequence), 0) FROM event", on: connection)
    selectLastOfCustomer = try Statement(
      "SELECT ifnull(max(sequence), 0) FROM event WHERE \(ofCustomer)", on: connection)
  }

  /// Reads by sequence, or by the index of the customer.
  func page(
    of customer: CustomerKey?, after sequence: Int64, limit: Int
  ) throws(StoreError) -> [StoredEvent] {
    let select = customer == nil ? selectAll : selectOfCustomer
    if let customer { try select.bind(customer) }
    let first: CInt = customer == nil ? 1 : 4
    try select.bind(first, sequence)
    try select.bind(first + 1, Int64(limit))
    defer { select.reset() }
    var page: [StoredEvent] = []
    while try select.step() { page.append(try event(select)) }
    return page
  }

  /// Returns the last sequence; 0 if there is none.
  func lastSequence(of customer: CustomerKey?) throws(StoreError) -> Int64 {
    let select = customer == nil ? selectLast : selectLastOfCustomer
    if let customer { try select.bind(customer) }
    defer { select.reset() }
    return try select.step() ? select.number(0) : 0
  }

  /// Decodes the event in the current row.
  private func event(_ row: Statement) throws(StoreError) -> StoredEvent {
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
        counterparty: counterparty))
  }
}
