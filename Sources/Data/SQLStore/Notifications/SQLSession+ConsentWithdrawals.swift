internal import AppStore
internal import Store

private let columns = """
  app_transaction_id, app, environment, withdrawn_at, evidence_id, settled_at, settlement_id, is_settled
  """

extension SQLSession {
  /// Returns the withdrawals that match a condition.
  fileprivate func consentWithdrawals(
    _ condition: String, _ values: any StatementValue...
  ) throws(StoreError) -> [ConsentWithdrawalRecord] {
    try rows(
      "SELECT \(columns) FROM consent_withdrawal WHERE \(condition)", binding: values
    ) { row throws(StoreError) in
      var withdrawal = ConsentWithdrawalRecord(
        row.text(0) ?? "", of: row.text(1) ?? "", in: try row.value(2),
        withdrawnAt: Instant(millisecondsSince1970: row.number(3)),
        evidenceID: EvidenceID(rawValue: row.number(4)))
      withdrawal.settledAt = row.instant(5)
      withdrawal.settlementID = row.isNull(6) ? nil : EvidenceID(rawValue: row.number(6))
      return withdrawal
    }
  }

  fileprivate func consentWithdrawal(
    ofInstall appTransactionID: String, _ appID: String, _ environment: Environment
  ) throws(StoreError) -> ConsentWithdrawalRecord? {
    try consentWithdrawals(
      "app_transaction_id = ? AND app = ? AND environment = ?", appTransactionID, appID, environment
    ).first
  }
}

// Reads of withdrawals of consent.
extension SQLReader {
  func consentWithdrawal(
    _ appTransactionID: String, of appID: String, in environment: Environment
  ) throws(StoreError) -> ConsentWithdrawalRecord? {
    try consentWithdrawal(ofInstall: appTransactionID, appID, environment)
  }

  func consentWithdrawals(_ query: ConsentWithdrawalFilter) throws(StoreError) -> [ConsentWithdrawalRecord] {
    let isOpen = query.onlyOpen ? "is_settled = 0" : "TRUE"
    let after = query.after
    return try consentWithdrawals(
      """
      app = ?1 AND coalesce(environment = ?2, TRUE) AND (withdrawn_at, app_transaction_id) > (?3, ?4) AND \(isOpen)
      ORDER BY withdrawn_at, app_transaction_id LIMIT ?5
      """, query.appID, query.environment, after?.time ?? .distantPast, after?.id ?? "", query.limit)
  }

  func openConsentWithdrawals() throws(StoreError) -> [OpenDuties] {
    try openDuties(in: "consent_withdrawal", where: "is_settled = 0", since: "withdrawn_at")
  }
}

extension KeyedRead<ScopedID, Bool> {
  /// Whether an app has withdrawals of consent in an environment; the id of the key is empty.
  static func consentWithdrawals(
    on connection: any SQLConnection, in workspace: Workspace?
  ) throws(StoreError) -> KeyedRead {
    try KeyedRead(
      "SELECT 1 FROM consent_withdrawal WHERE app_transaction_id > ? AND app = ? AND environment = ? LIMIT 1",
      on: connection, in: workspace
    ) { _, row throws(StoreError) in try row.step() }
  }
}

// Withdrawals of consent in a write.
extension SQLTransaction {
  func consentWithdrawal(
    _ appTransactionID: String, of appID: String, in environment: Environment
  ) throws(StoreError) -> ConsentWithdrawalRecord? {
    // Most apps have none, so that their new purchases need no round trip to look for one.
    if workspace != nil, try !hasConsentWithdrawals(ScopedID("", of: appID, in: environment)) { return nil }
    return try consentWithdrawal(ofInstall: appTransactionID, appID, environment)
  }

  func consentChanges(
    ofInstall line: LineKey, settledBy settlement: Evidence.Kind
  ) throws(StoreError) -> [ConsentChange] {
    try rows(
      """
      SELECT l.evidence_id, coalesce(n.signed_at, n.received_at, e.known_at, e.received_at),
        CASE WHEN n.evidence_id IS NULL THEN 1 ELSE 0 END
      FROM line_evidence AS l JOIN evidence AS e ON e.evidence_id = l.evidence_id
        LEFT JOIN notification AS n
          ON n.evidence_id = l.evidence_id AND n.type = 'RESCIND_CONSENT' AND n.state <> 'REJECTED'
      WHERE l.line_id = ? AND l.app = ? AND l.environment = ? AND (n.evidence_id IS NOT NULL OR e.kind = ?)
      ORDER BY l.evidence_id
      """, line, settlement.rawValue
    ) { row in
      ConsentChange(
        evidenceID: EvidenceID(rawValue: row.number(0)),
        at: Instant(millisecondsSince1970: row.number(1)), isSettlement: row.number(2) == 1)
    }
  }

  func put(_ withdrawal: ConsentWithdrawalRecord) throws(StoreError) {
    hasConsentWithdrawals.keep(true, of: ScopedID("", of: withdrawal.appID, in: withdrawal.environment))
    try run(
      Upsert.sql("consent_withdrawal", key: "app_transaction_id, app, environment", columns),
      withdrawal.appTransactionID, withdrawal.appID, withdrawal.environment, withdrawal.withdrawnAt,
      withdrawal.evidenceID, withdrawal.settledAt, withdrawal.settlementID, withdrawal.isSettled)
  }
}
