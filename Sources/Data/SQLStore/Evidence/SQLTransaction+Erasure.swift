internal import AppStore
internal import Bytes
internal import Entitlements
internal import Store

extension SQLSession {
  func mergedCustomers(into customer: CustomerKey) throws(StoreError) -> [String] {
    try rows(
      "SELECT customer_id FROM merged_customer WHERE into_customer_id = ? AND app = ? AND environment = ?",
      customer
    ) { $0.text(0) ?? "" }
  }

  func pseudonym(ofCustomerHash hash: String) throws(StoreError) -> String? {
    try rows(
      "SELECT pseudonym FROM erasure WHERE customer_hash = ? AND pseudonym <> '' ORDER BY position", hash
    ) {
      $0.text(0) ?? ""
    }.last
  }
}

// The erasure of a customer's identifiers.
extension SQLTransaction {
  func evidence(naming customer: CustomerKey) throws(StoreError) -> [StoredEvidence] {
    try evidence.evidence(naming: customer)
  }

  func evidence(about line: LineKey) throws(StoreError) -> [StoredEvidence] {
    try evidence.evidence(about: line)
  }

  func replace(_ evidence: EvidenceID, with content: EvidenceContent) throws(StoreError) {
    defer { workspace?.removeAll() }
    try self.evidence.replace(evidence, with: content)
  }

  func delete(grant line: LineKey) throws(StoreError) {
    evidenceLookup.keep(nil, ofGrant: line)
    try fact.grants.delete(grant: line)
  }

  func replace(grant line: LineKey, with fact: GrantFact) throws(StoreError) {
    try run(
      "UPDATE grant_fact SET fact = ?4 WHERE line_id = ?1 AND app = ?2 AND environment = ?3", line,
      FactCoding.encode(fact))
    self.fact.grants.ofLine.keep(fact, of: line)
  }

  func renameActors(
    ofCommandsAbout customer: CustomerKey, to name: (String) -> String
  ) throws(StoreError) -> Int64 {
    defer { workspace?.removeAll() }
    let rows = [
      ("event", "customer_id = ?1 AND app = ?2 AND environment = ?3"),
      (
        "event",
        """
        evidence_id IN (
          SELECT evidence_id FROM customer_evidence
          WHERE customer_id = ?1 AND app = ?2 AND environment IN (?3, ''))
        """
      ),
      // An entry does not name an environment.
      (
        "audit_entry",
        """
        entry_id IN (SELECT entry_id FROM audit_customer WHERE customer_id = ?1 AND app IN (?2, '')) AND ?3 <> ''
        """
      ),
      // A job may be about any customer, in several environments.
      ("migration", "app = ?2 AND ?1 <> '' AND ?3 <> ''"),
    ]
    var count: Int64 = 0
    for (table, condition) in rows {
      let actors = try self.rows(
        "SELECT DISTINCT actor FROM \(table) WHERE actor <> '' AND \(condition)", customer
      ) { $0.text(0) ?? "" }
      for actor in actors {
        let renamed = name(actor)
        guard !renamed.hasSameBytes(as: actor) else { continue }
        count += try runCounting(
          "UPDATE \(table) SET actor = ?5 WHERE actor = ?4 AND actor <> '' AND \(condition)", customer, actor,
          renamed)
      }
    }
    return count
  }

  /// Replaces a customer's id by the pseudonym in every table that has it, and deletes rows that are about the
  /// customer alone.
  ///
  /// - Returns: the number of changed rows.
  func erase(_ customer: CustomerKey, as pseudonym: String) throws(StoreError) -> Int64 {
    defer { workspace?.removeAll() }
    var count = try eraseEvidence(of: customer, as: pseudonym)
    for table in ["event", "ownership_change"] {
      count += try runCounting(
        "UPDATE \(table) SET customer_id = ?4 WHERE customer_id = ?1 AND app = ?2 AND environment = ?3",
        customer, pseudonym)
    }
    count += try runCounting(
      "UPDATE event SET counterparty = ?4 WHERE counterparty = ?1 AND app = ?2 AND environment = ?3",
      customer, pseudonym)
    count += try runCounting(
      """
      UPDATE drift SET customer_id = ?4
      WHERE customer_id = ?1 AND repair_id IN (
        SELECT repair_id FROM repair WHERE app = ?2 AND environment = ?3)
      """, customer, pseudonym)
    // Receipts state their environment, so a job fails for customers of any one.
    count += try runCounting(
      """
      UPDATE migration_failure SET customer_id = ?
      WHERE customer_id = ? AND migration_id IN (SELECT migration_id FROM migration WHERE app = ?)
      """, pseudonym, customer.customerID, customer.appID)
    count += try runCounting(
      """
      UPDATE delivery SET subject = ?4
      WHERE subject = ?1 AND app = ?2 AND environment = ?3 AND kind = 'EVENTS'
      """, customer, pseudonym)
    count += try eraseIdempotencyRecords(naming: customer)
    count += try eraseImportedEvents(naming: customer)
    for table in ["account_token", "merged_customer", "consumption_consent", "note", "customer_attribute"] {
      count += try runCounting(
        "DELETE FROM \(table) WHERE customer_id = ?1 AND app = ?2 AND environment = ?3", customer)
    }
    count += try runCounting(
      "DELETE FROM merged_customer WHERE into_customer_id = ?1 AND app = ?2 AND environment = ?3", customer)
    count += try eraseAuditEntries(of: customer, as: pseudonym)
    return try self.customer.erase(customer) ? count + 1 : count
  }

  /// Replaces the customer's id in evidence and in the list of what evidence is about the customer.
  private func eraseEvidence(of customer: CustomerKey, as pseudonym: String) throws(StoreError) -> Int64 {
    // The list selects the evidence, so it is changed last.
    try runCounting(
      """
      UPDATE evidence SET customer_id = ?4
      WHERE customer_id = ?1 AND evidence_id IN (
        SELECT evidence_id FROM customer_evidence
        WHERE customer_id = ?1 AND app = ?2 AND environment IN (?3, ''))
      """, customer, pseudonym)
      + runCounting(
        """
        UPDATE customer_evidence SET customer_id = ?4
        WHERE customer_id = ?1 AND app = ?2 AND environment IN (?3, '')
        """, customer, pseudonym)
  }
}

// The tokens, lines and operator's ids of the customer, and the record of erasures.
extension SQLTransaction {
  func tokens(of customer: CustomerKey) throws(StoreError) -> Set<String> {
    Set(
      try rows(
        "SELECT token FROM account_token WHERE customer_id = ? AND app = ? AND environment = ?", customer
      ) { $0.text(0) ?? "" })
  }

  func linesConcerning(_ customer: CustomerKey) throws(StoreError) -> [LineKey] {
    let owned = try rows(
      "SELECT DISTINCT line_id FROM ownership_change WHERE customer_id = ? AND app = ? AND environment = ?",
      customer
    ) { $0.text(0) ?? "" }
    let bought = try rows(
      """
      SELECT subject FROM event
      WHERE counterparty = ? AND app = ? AND environment = ? AND counterparty <> ''
      """, customer
    ) { row throws(StoreError) in try SubjectCoding.subject(row.bytes(0))?.originalTransactionID }
    return Set(owned + bought.compactMap(\.self)).sorted().map(customer.line)
  }

  func replaceTokens(of line: LineKey, by replacements: [String: String]) throws(StoreError) -> Int64 {
    let stored = try rows(
      """
      SELECT id, fact FROM line_record
      WHERE line_id = ? AND app = ? AND environment = ? AND kind = \(LineRecordKind.transaction)
      """, line
    ) { row throws(StoreError) in (row.text(0) ?? "", try FactCoding.transaction(row.bytes(1))) }
    defer { workspace?.removeAll() }
    var count: Int64 = 0
    for (id, var fact) in stored {
      guard let token = fact.details.appAccountToken, let new = replacements[token.lowercased()] else {
        continue
      }
      fact.details.appAccountToken = new
      count += try runCounting(
        """
        UPDATE line_record SET fact = ?4
        WHERE line_id = ?1 AND app = ?2 AND environment = ?3
          AND kind = \(LineRecordKind.transaction) AND id = ?5
        """, line, FactCoding.encode(fact), id)
    }
    return count
  }

  func eraseRequestIDs(of line: LineKey) throws(StoreError) -> Int64 {
    defer { workspace?.removeAll() }
    return try runCounting(
      """
      UPDATE seat SET request_identifier = ''
      WHERE line_id = ? AND app = ? AND environment = ? AND request_identifier <> ''
      """, line)
      + runCounting(
        """
        UPDATE fulfillment_step SET fulfillment_id = 'erased-' || evidence_id
        WHERE (transaction_id, app, environment) IN (
          SELECT id, app, environment FROM line_record
          WHERE line_id = ? AND app = ? AND environment = ? AND kind = \(LineRecordKind.transaction))
        """, line)
  }

  func record(_ erasure: ErasureRecord, as pseudonym: String) throws(StoreError) {
    try run(
      "INSERT INTO erasure (erasure_id, customer_hash, pseudonym) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
      erasure.id,
      erasure.customerHash, pseudonym)
  }

  func erasures() throws(StoreError) -> [ErasureRecord] {
    try rows("SELECT erasure_id, customer_hash FROM erasure ORDER BY position") {
      ErasureRecord(id: $0.text(0) ?? "", customerHash: $0.text(1) ?? "")
    }
  }

  func putErasedName(_ sealed: [UInt8], of pseudonym: String, at instant: Instant) throws(StoreError) {
    try run(
      """
      INSERT INTO erased_name VALUES (?, ?, ?)
      ON CONFLICT (pseudonym) DO UPDATE SET sealed = excluded.sealed, erased_at = excluded.erased_at
      """, pseudonym, sealed, instant)
  }

  func deleteErasedNames(outside times: ClosedRange<Instant>) throws(StoreError) -> Int64 {
    try runCounting(
      "DELETE FROM erased_name WHERE erased_at < ? OR erased_at > ?", times.lowerBound, times.upperBound)
  }

  func forEachNamedCustomer(_ body: (CustomerKey) -> Void) throws(StoreError) {
    let pairs = [
      "customer_evidence": "customer_id, app, environment", "line_customer": "customer_id, app, environment",
      "ownership_change": "customer_id, app, environment", "account_token": "customer_id, app, environment",
      "merged_customer": "customer_id, app, environment",
      "consumption_consent": "customer_id, app, environment", "audit_customer": "customer_id, app, NULL",
      "note": "customer_id, app, environment",
      "customer_attribute": "customer_id, app, environment", "event": "customer_id, app, environment",
      "event WHERE counterparty <> ''": "counterparty, app, environment",
      "drift JOIN repair USING (repair_id)": "customer_id, app, environment",
      "migration_failure JOIN migration USING (migration_id)": "customer_id, app, environment",
      "delivery WHERE kind = 'EVENTS'": "subject, app, environment",
      "idempotency_customer": "customer_id, app, environment",
      "imported_event_customer": "customer_id, app, environment",
      "access_comparison": "customer_id, app, environment",
      "access_disagreement": "customer_id, app, environment",
      "purchase_state": "customer_id, app, environment",
    ]
    let query = pairs.sorted { $0.key < $1.key }.map { "SELECT \($0.value) FROM \($0.key)" }
      .joined(separator: " UNION ")
    let select = try use().prepareScan(query)
    defer { select.reset() }
    while try select.step() {
      let (id, appID) = (select.text(0) ?? "", select.text(1) ?? "")
      // An audit entry has none, and a migration job may have several.
      let environment = select.text(2).flatMap(Environment.init(rawValue:))
      for environment in environment.map({ [$0] }) ?? Environment.allCases where !id.isEmpty {
        body(CustomerKey(appID: appID, environment: environment, customerID: id))
      }
    }
  }
}
