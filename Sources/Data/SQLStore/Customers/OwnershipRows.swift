internal import AppStore
internal import Store

/// Reads and writes `line_customer` and `ownership_change`: the owners of each line and their history.
final class OwnershipRows {
  /// Orders owners by the evidence that linked them, then by id, so that a replay has the same order.
  let owners: KeyedRead<LineKey, [String]>
  private let selectLines: any SQLStatement
  private let selectChanges: any SQLStatement
  private let selectChangesByEvidence: any SQLStatement
  private let insertOwner: any SQLStatement
  private let deleteOwner: any SQLStatement
  private let insertChange: any SQLStatement

  init(_ connection: any SQLConnection, in workspace: Workspace? = nil) throws(StoreError) {
    let line = "line_id, app, environment"
    let ofLine = "line_id = ? AND app = ? AND environment = ?"
    let ofCustomer = "customer_id = ? AND app = ? AND environment = ?"
    let change = "line_id, gained, at, evidence_id"
    owners = try KeyedRead(
      "SELECT customer_id FROM line_customer WHERE \(ofLine) ORDER BY evidence_id, customer_id",
      on: connection, in: workspace
    ) { _, row throws(StoreError) in
      var owners: [String] = []
      while try row.step() { owners.append(row.text(0) ?? "") }
      return owners
    }
    selectLines = try connection.prepare(
      "SELECT line_id FROM line_customer WHERE \(ofCustomer)")
    selectChanges = try connection.prepare(
      "SELECT \(change) FROM ownership_change WHERE \(ofCustomer) ORDER BY change_id")
    selectChangesByEvidence = try connection.prepare(
      """
      SELECT \(change) FROM ownership_change WHERE \(ofCustomer) AND evidence_id = ? ORDER BY change_id
      """)
    insertOwner = try connection.prepare(
      "INSERT INTO line_customer (\(line), customer_id, evidence_id) VALUES (?, ?, ?, ?, ?)")
    deleteOwner = try connection.prepare(
      "DELETE FROM line_customer WHERE \(ofLine) AND customer_id = ?")
    insertChange = try connection.prepare(
      """
      INSERT INTO ownership_change (\(line), customer_id, evidence_id, gained, at)
      VALUES (?, ?, ?, ?, ?, ?, ?)
      """)
  }

  func lines(of customer: CustomerKey) throws(StoreError) -> [LineKey] {
    try selectLines.bind(customer)
    defer { selectLines.reset() }
    var lines: [LineKey] = []
    while try selectLines.step() { lines.append(customer.line(selectLines.text(0) ?? "")) }
    return lines
  }

  /// Throws a constraint error if the customer owns the line already; unlinking a line twice only repeats the
  /// history.
  func record(_ change: OwnershipChange) throws(StoreError) {
    let current = change.gained ? insertOwner : deleteOwner
    try current.bind(change.line)
    try current.bind(4, change.customerID)
    if change.gained { try current.bind(5, change.evidenceID.rawValue) }
    try current.run()
    keepOwners(after: change)
    try insertChange.bind(change.line)
    try insertChange.bind(4, change.customerID)
    try insertChange.bind(5, change.evidenceID.rawValue)
    try insertChange.bind(6, change.gained ? 1 : 0)
    try insertChange.bind(7, change.at.millisecondsSince1970)
    try insertChange.run()
  }

  private func keepOwners(after change: OwnershipChange) {
    let known = owners.known(change.line)
    if change.gained, known == [] {
      owners.keep([change.customerID], of: change.line)
    } else if !change.gained, known == [change.customerID] {
      owners.keep([], of: change.line)
    } else {
      owners.discard(change.line)
    }
  }

  /// Orders changes as they were recorded.
  func changes(of customer: CustomerKey) throws(StoreError) -> [OwnershipChange] {
    try selectChanges.bind(customer)
    return try changes(of: customer, in: selectChanges)
  }

  func changes(of customer: CustomerKey, by evidence: EvidenceID) throws(StoreError) -> [OwnershipChange] {
    try selectChangesByEvidence.bind(customer)
    try selectChangesByEvidence.bind(4, evidence.rawValue)
    return try changes(of: customer, in: selectChangesByEvidence)
  }

  private func changes(
    of customer: CustomerKey, in select: any SQLStatement
  ) throws(StoreError) -> [OwnershipChange] {
    defer { select.reset() }
    var changes: [OwnershipChange] = []
    while try select.step() {
      changes.append(
        OwnershipChange(
          line: customer.line(select.text(0) ?? ""), customerID: customer.customerID,
          gained: select.number(1) == 1, at: Instant(millisecondsSince1970: select.number(2)),
          evidenceID: EvidenceID(rawValue: select.number(3))))
    }
    return changes
  }
}

extension SQLStatement {
  /// Binds a line key to the first three parameters.
  func bind(_ line: LineKey) throws(StoreError) {
    _ = try line.bind(to: self, at: 1)
  }

  /// Binds a customer key to the first three parameters.
  func bind(_ customer: CustomerKey) throws(StoreError) {
    _ = try customer.bind(to: self, at: 1)
  }
}
