internal import AppStore
internal import Store

private let columns = """
  external_purchase_id, app, environment, token_type, created_at, expires_at, report_by, evidence_id, notified_at,
  complained_at, reported_at, report_status, request_identifier, is_reported
  """

extension SQLSession {
  /// Returns the tokens that match a condition.
  fileprivate func externalTokens(
    _ condition: String, _ values: any StatementValue...
  ) throws(StoreError) -> [ExternalTokenRecord] {
    try rows(
      "SELECT \(columns) FROM external_token WHERE \(condition)", binding: values
    ) { row throws(StoreError) in
      var token = ExternalTokenRecord(
        row.text(0) ?? "", of: row.text(1) ?? "", in: try row.value(2),
        createdAt: Instant(millisecondsSince1970: row.number(4)),
        evidenceID: EvidenceID(rawValue: row.number(7)))
      token.tokenType = row.text(3) ?? ""
      token.expiresAt = row.instant(5)
      token.notifiedAt = row.instant(8)
      token.complainedAt = row.instant(9)
      token.reportedAt = row.instant(10)
      token.reportStatus = row.text(11) ?? ""
      token.requestIdentifier = row.text(12) ?? ""
      return token
    }
  }
}

// Reads of external purchase tokens.
extension SQLReader {
  func externalTokens(_ query: ExternalTokenFilter) throws(StoreError) -> [ExternalTokenRecord] {
    let isOpen = query.onlyUnreported ? "is_reported = 0" : "TRUE"
    let after = query.after
    return try externalTokens(
      """
      app = ?1 AND coalesce(environment = ?2, TRUE) AND (report_by, external_purchase_id) > (?3, ?4) AND \(isOpen)
      ORDER BY report_by, external_purchase_id LIMIT ?5
      """, query.appID, query.environment, after?.time ?? .distantPast, after?.id ?? "", query.limit)
  }

  func unreportedExternalTokens() throws(StoreError) -> [OpenDuties] {
    try openDuties(in: "external_token", where: "is_reported = 0", since: "report_by")
  }
}

// External purchase tokens in a write.
extension SQLTransaction {
  func externalToken(
    _ externalPurchaseID: String, of appID: String, in environment: Environment
  ) throws(StoreError) -> ExternalTokenRecord? {
    try externalTokens(
      "external_purchase_id = ? AND app = ? AND environment = ?", externalPurchaseID, appID, environment
    ).first
  }

  func put(_ token: ExternalTokenRecord) throws(StoreError) {
    try run(
      Upsert.sql("external_token", key: "external_purchase_id, app, environment", columns),
      token.externalPurchaseID, token.appID, token.environment, token.tokenType, token.createdAt,
      token.expiresAt, token.reportBy, token.evidenceID, token.notifiedAt, token.complainedAt,
      token.reportedAt, token.reportStatus, token.requestIdentifier, token.isReported)
  }
}
