internal import AppStore
internal import Bytes
internal import CustomerImport
internal import Entitlements
internal import Store

private let ofCustomer = "customer_id = ?1 AND app = ?2 AND environment = ?3"

private let columns = """
  customer_id, app, environment, entitlement, kind, detected_at, checked_at, stated_until, event_id, reason, until,
  evidence_id
  """

// Reads of RevenueCat's events and open disagreements.
extension SQLReader {
  func importedEvent(
    _ eventID: String, of appID: String, in environment: Environment
  ) throws(StoreError) -> [UInt8]? {
    try rows(
      "SELECT body FROM imported_event WHERE event_id = ? AND app = ? AND environment = ?", eventID, appID,
      environment
    ) { $0.bytes(0) }.first
  }

  func importedEventIDs(naming customer: CustomerKey, limit: Int) throws(StoreError) -> [String] {
    try rows(
      """
      SELECT event_id FROM imported_event_customer WHERE customer_id = ? AND app = ? AND environment = ?
      ORDER BY occurred_at DESC, event_id DESC LIMIT ?
      """, customer, limit
    ) { $0.text(0) ?? "" }
  }

  func importedEventIDs(
    aboutPurchase purchase: String, of appID: String, in environment: Environment, limit: Int
  ) throws(StoreError) -> [String] {
    try rows(
      """
      SELECT event_id FROM imported_event WHERE purchase = ? AND app = ? AND environment = ?
      ORDER BY occurred_at DESC, event_id DESC LIMIT ?
      """, purchase, appID, environment, limit
    ) { $0.text(0) ?? "" }
  }

  func comparison(of customer: CustomerKey) throws(StoreError) -> PendingComparison? {
    try rows("SELECT events FROM access_comparison WHERE \(ofCustomer)", customer) {
      PendingComparison(customer: customer, events: $0.number(0))
    }.first
  }

  func comparisons(
    dueBy instant: Instant, in domain: ClockDomain, limit: Int
  ) throws(StoreError) -> [PendingComparison] {
    try rows(
      """
      SELECT customer_id, app, environment, events FROM access_comparison
      WHERE due_at <= ? AND \(domain.condition) ORDER BY due_at LIMIT ?
      """, instant, limit
    ) { row throws(StoreError) in
      PendingComparison(
        customer: CustomerKey(
          appID: row.text(1) ?? "", environment: try row.value(2), customerID: row.text(0) ?? ""),
        events: row.number(3))
    }
  }

  func nextComparison(in domain: ClockDomain) throws(StoreError) -> Instant? {
    try earliest(in: "access_comparison", where: domain.condition)
  }

  func openDisagreements(_ query: DisagreementFilter) throws(StoreError) -> [OpenDisagreement] {
    let after = query.after
    return try rows(
      """
      SELECT \(columns) FROM access_disagreement
      WHERE app = ?1 AND environment = ?2 AND coalesce(customer_id = ?3, TRUE)
        AND (detected_at, customer_id, entitlement) > (?4, ?5, ?6)
      ORDER BY detected_at, customer_id, entitlement LIMIT ?7
      """, query.appID, query.environment, query.customerID,
      after?.detectedAt ?? .distantPast, after?.customerID ?? "",
      after?.entitlement ?? "", query.limit
    ) { row throws(StoreError) in
      OpenDisagreement(
        customer: CustomerKey(
          appID: row.text(1) ?? "", environment: try row.value(2), customerID: row.text(0) ?? ""),
        entitlement: row.text(3) ?? "", kind: try row.value(4),
        detectedAt: Instant(millisecondsSince1970: row.number(5)),
        checkedAt: Instant(millisecondsSince1970: row.number(6)), statedUntil: row.instant(7),
        eventID: row.text(8) ?? "", reason: try row.value(9), until: row.instant(10),
        evidenceID: row.isNull(11) ? nil : EvidenceID(rawValue: row.number(11)))
    }
  }

  func detectionTime(
    ofDisagreementAbout entitlement: String, of customer: CustomerKey
  ) throws(StoreError) -> Instant? {
    try rows(
      "SELECT detected_at FROM access_disagreement WHERE \(ofCustomer) AND entitlement = ?4", customer,
      entitlement
    ) { Instant(millisecondsSince1970: $0.number(0)) }.first
  }

  func appsWithImportedEvents() throws(StoreError) -> [String] {
    try rows("SELECT DISTINCT app FROM imported_event ORDER BY 1") { $0.text(0) ?? "" }
  }

  func openDisagreementCounts() throws(StoreError) -> [OpenCount] {
    try openCounts(in: "access_disagreement", where: "TRUE")
  }
}

// RevenueCat's events and comparisons in a write.
extension SQLTransaction {
  func insert(_ event: ImportedEvent) throws(StoreError) -> Bool {
    let inserted = try runCounting(
      """
      INSERT INTO imported_event (event_id, app, environment, type, occurred_at, received_at, purchase, body)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
      """, event.eventID, event.appID, event.environment, event.type, event.occurredAt, event.receivedAt,
      event.purchase, event.body)
    guard inserted > 0 else { return false }
    for id in event.customerIDs {
      try run(
        """
        INSERT INTO imported_event_customer (customer_id, app, environment, occurred_at, event_id)
        VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
        """, id, event.appID, event.environment, event.occurredAt, event.eventID)
    }
    if let customerID = event.customerID {
      try run(
        """
        INSERT INTO access_comparison (customer_id, app, environment, due_at, events) VALUES (?, ?, ?, 0, 1)
        ON CONFLICT (customer_id, app, environment)
        DO UPDATE SET due_at = 0, events = access_comparison.events + 1
        """, customerID, event.appID, event.environment)
    }
    return true
  }

  func hasImportedEvents(naming customer: CustomerKey) throws(StoreError) -> Bool {
    try rows("SELECT 1 FROM imported_event_customer WHERE \(ofCustomer) LIMIT 1", customer) { $0.number(0) }
      .first != nil
  }

  func settle(
    _ comparisons: [PendingComparison], _ disagreements: [OpenDisagreement]?, next: Instant?
  ) throws(StoreError) {
    for comparison in comparisons {
      let open = disagreements?.filter { $0.customer == comparison.customer }
      try settle(comparison, open, next: next)
    }
  }

  private func settle(
    _ comparison: PendingComparison, _ disagreements: [OpenDisagreement]?, next: Instant?
  ) throws(StoreError) {
    let customer = comparison.customer
    let settled =
      if let next {
        try runCounting(
          "UPDATE access_comparison SET due_at = ?5 WHERE \(ofCustomer) AND events = ?4", customer,
          comparison.events, next)
      } else {
        try runCounting(
          "DELETE FROM access_comparison WHERE \(ofCustomer) AND events = ?4", customer, comparison.events)
      }
    guard settled > 0, let disagreements else { return }
    try run("DELETE FROM access_disagreement WHERE \(ofCustomer)", customer)
    for open in disagreements {
      try run(
        Upsert.sql("access_disagreement", key: "customer_id, app, environment, entitlement", columns),
        open.customer, open.entitlement, open.kind.rawValue, open.detectedAt, open.checkedAt,
        open.statedUntil,
        open.eventID, open.reason.rawValue, open.until, open.evidenceID)
    }
  }

  func deleteImportedEvents(
    of appID: String, receivedBefore instant: Instant, limit: Int
  ) throws(StoreError) -> Int {
    let old = try rows(
      "SELECT event_id, environment FROM imported_event WHERE app = ? AND received_at < ? LIMIT ?", appID,
      instant, limit
    ) { row in (id: row.text(0) ?? "", environment: row.text(1) ?? "") }
    for event in old {
      for table in ["imported_event_customer", "imported_event"] {
        try run(
          "DELETE FROM \(table) WHERE event_id = ? AND app = ? AND environment = ?", event.id, appID,
          event.environment)
      }
    }
    return old.count
  }

  /// Deletes the events that name a customer, and the comparisons of the customer, also those of the anonymous ids that the
  /// customer had before signing in.
  func eraseImportedEvents(naming customer: CustomerKey) throws(StoreError) -> Int64 {
    var count: Int64 = 0
    for customer in try [customer] + anonymousCustomers(namedWith: customer) {
      for id in try events(naming: customer) {
        for table in ["imported_event_customer", "imported_event"] {
          count += try runCounting(
            "DELETE FROM \(table) WHERE event_id = ? AND app = ? AND environment = ?", id, customer.appID,
            customer.environment)
        }
      }
      for table in ["access_comparison", "access_disagreement"] {
        count += try runCounting("DELETE FROM \(table) WHERE \(ofCustomer)", customer)
      }
    }
    return count
  }

  /// The anonymous ids in the events that name a customer, without those in events of another customer.
  private func anonymousCustomers(namedWith customer: CustomerKey) throws(StoreError) -> [CustomerKey] {
    var names: [String] = []
    for id in try events(naming: customer) { names += try self.names(inEvent: id, of: customer) }
    var found: [CustomerKey] = []
    // Each event is read once: the aliases of a customer share most of their events.
    var namesAnother: [OpaqueID: Bool] = [:]
    for anonymous in names.filter(AccessStatements.isAnonymous).distinctIDs.map(customer.other)
    where anonymous != customer {
      let ids = try events(naming: anonymous).map(OpaqueID.init)
      for id in ids where namesAnother[id] == nil {
        namesAnother[id] = try self.names(inEvent: id.text, of: customer).contains {
          !customer.isAmong([$0]) && !AccessStatements.isAnonymous($0)
        }
      }
      if !ids.contains(where: { namesAnother[$0] == true }) { found.append(anonymous) }
    }
    return found
  }

  private func events(naming customer: CustomerKey) throws(StoreError) -> [String] {
    try rows("SELECT event_id FROM imported_event_customer WHERE \(ofCustomer)", customer) {
      $0.text(0) ?? ""
    }
  }

  /// The customers that an event of the app and environment of `customer` names.
  private func names(inEvent id: String, of customer: CustomerKey) throws(StoreError) -> [String] {
    try rows(
      """
      SELECT customer_id FROM imported_event_customer WHERE event_id = ? AND app = ? AND environment = ?
      """, id, customer.appID, customer.environment
    ) { $0.text(0) ?? "" }
  }
}
