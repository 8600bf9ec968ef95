internal import AppStore
internal import Entitlements
internal import Store

// Evidence, the facts derived from it, and its indexes.
extension SQLTransaction {
  func append(_ evidence: Evidence) throws(StoreError) -> AppendedEvidence {
    try self.evidence.append(evidence)
  }

  func hasRoomForRejectedPost(to appID: String, at instant: Instant) throws(StoreError) -> Bool {
    try evidence.rejected.hasRoomForPost(to: appID, at: instant)
  }

  func appendNew(_ evidence: Evidence) throws(StoreError) -> AppendedEvidence {
    try self.evidence.appendNew(evidence)
  }

  func restore(_ evidence: StoredEvidence) throws(StoreError) { try self.evidence.restore(evidence) }

  func knownAt(
    _ now: Instant, of appID: String, in environment: Environment?
  ) throws(StoreError) -> Instant {
    try evidence.knownAt(now, of: appID, in: environment)
  }

  func nextEvidenceID() throws(StoreError) -> EvidenceID { try evidence.nextID() }

  func evidence(_ id: EvidenceID) throws(StoreError) -> StoredEvidence? { try evidence.evidence(id) }

  func index(_ evidence: EvidenceID, under customer: CustomerKey) throws(StoreError) {
    try self.evidence.index(evidence, under: customer)
  }

  func index(_ evidence: EvidenceID, under line: LineKey) throws(StoreError) {
    try self.evidence.index(evidence, under: line)
  }

  func put(
    _ fact: TransactionFact, of line: LineKey, from evidence: EvidenceID
  ) throws(StoreError) -> FactInsertion {
    let insertion = try self.fact.put(fact, of: line, from: evidence)
    if insertion == .latest {
      evidenceLookup.keep(evidence, of: TransactionKey(fact.transactionID, of: line))
    }
    return insertion
  }

  func put(
    _ fact: RenewalFact, of line: LineKey, knownAt: Instant, from evidence: EvidenceID
  ) throws(StoreError) -> FactInsertion {
    try self.fact.put(fact, of: line, knownAt: knownAt, from: evidence)
  }

  func put(
    _ fact: AppTransactionFact, of line: LineKey, from evidence: EvidenceID
  ) throws(StoreError) -> Bool {
    try self.fact.grants.put(fact, of: line, from: evidence)
  }

  func put(_ fact: GrantFact, of line: LineKey, from evidence: EvidenceID) throws(StoreError) {
    let isNew = if case .some(.none) = self.fact.grants.ofLine.known(line) { true } else { false }
    try self.fact.grants.put(fact, of: line, from: evidence)
    evidenceLookup.keep(isNew ? evidence : nil, ofGrant: line)
  }

  func grant(
    ofPurchase externalID: String, in source: String, of appID: String, in environment: Environment
  ) throws(StoreError) -> LineKey? {
    try rows(
      """
      SELECT line_id FROM grant_fact
      WHERE external_id = ? AND source = ? AND app = ? AND environment = ? AND source <> ''
      """, externalID, source, appID, environment
    ) { LineKey(appID: appID, environment: environment, lineID: $0.text(0) ?? "") }.first
  }

  func willStoreGrant(in line: LineKey) {
    fact.grants.ofLine.keep(nil, of: line)
    ownership.owners.keep([], of: line)
  }

  func grant(_ id: String, of appID: String) throws(StoreError) -> LineKey? {
    try fact.grants.grant(id, of: appID)
  }

  func evidence(of fact: DecidingFact, of customer: CustomerKey) throws(StoreError) -> EvidenceID? {
    try evidenceLookup.evidence(of: fact, of: customer)
  }

  func facts(of line: LineKey) throws(StoreError) -> CustomerFacts { try fact.facts(of: line) }
}

extension SQLTransaction {
  func purgeBodies(
    of selection: EvidenceSelection, in domain: ClockDomain, receivedBefore instant: Instant,
    undeliveredSince undelivered: Instant, after id: EvidenceID?, limit: Int
  ) throws(StoreError) -> (last: EvidenceID?, purged: Int) {
    // In order of arrival, so that the scan stops at the first piece that is too recent. Pieces of other clocks are skipped
    // here, because a condition of the query could search the whole table in one write.
    let select = try connection.prepare(
      """
      SELECT evidence_id, received_at, kind, rejection, body IS NOT NULL, coalesce(environment, '') FROM evidence
      WHERE evidence_id > ? ORDER BY evidence_id LIMIT ?
      """)
    try select.bind(1, id?.rawValue ?? 0)
    try select.bind(2, Int64(limit))
    var (last, chosen): (EvidenceID?, [EvidenceID]) = (nil, [])
    var recent: [EvidenceID] = []
    while try select.step() {
      let evidence = EvidenceID(rawValue: select.number(0))
      let isRejected = select.text(3) != ""
      // Without an environment, the machine's clock dates it.
      let isOfDomain =
        Environment(rawValue: select.text(5) ?? "").map(domain.contains) ?? (domain != .sandbox)
      let isOld = select.number(1) < instant.millisecondsSince1970
      // A rejected document has the time of the one that contained it, which may be that of another clock.
      if isOfDomain, !isOld, !isRejected { break }
      last = evidence
      guard isOfDomain, isOld else { continue }
      let isChosen =
        switch selection {
        case .rejected: isRejected
        case .accepted(let kinds):
          !isRejected && kinds.contains(Evidence.Kind(rawValue: select.text(2) ?? ""))
        }
      guard isChosen, select.number(4) == 1 else { continue }
      if select.number(1) < undelivered.millisecondsSince1970 {
        chosen.append(evidence)
      } else {
        recent.append(evidence)
      }
    }
    select.reset()
    for evidence in recent where try !isUndelivered(evidence) { chosen.append(evidence) }
    for evidence in chosen {
      try run("UPDATE evidence SET body = NULL, compression = 0 WHERE evidence_id = ?", evidence)
    }
    return (last, chosen.count)
  }

  /// Whether a notification is a pending message or a dead letter of a webhook of its app, or is after its cursor.
  private func isUndelivered(_ evidence: EvidenceID) throws(StoreError) -> Bool {
    try !rows(
      """
      SELECT 1 FROM notification JOIN webhook_cursor ON webhook_cursor.app = notification.app
      WHERE notification.evidence_id = ?1 AND notification.state <> 'REJECTED' AND webhook_cursor.kind = 'NOTIFICATIONS'
        AND (webhook_cursor.position < ?1 OR EXISTS (
          SELECT 1 FROM delivery WHERE delivery.app = webhook_cursor.app AND delivery.kind = webhook_cursor.kind
            AND delivery.name = webhook_cursor.name AND delivery.position = ?1))
      LIMIT 1
      """, evidence
    ) { $0.number(0) }.isEmpty
  }
}
