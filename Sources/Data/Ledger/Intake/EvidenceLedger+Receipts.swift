package import AppStore
package import Entitlements
internal import SignedData
package import Store

// Legacy receipts, and the queries to Apple about their purchases.
extension EvidenceLedger {
  /// Ingests a verified receipt with Apple's signed documents about it in one commit. It is durable on
  /// return.
  ///
  /// - Parameters:
  ///   - receipt: The receipt and its documents.
  ///   - alongside: Writes what belongs to the same commit. It may run twice.
  /// - Returns: the result with the facts of the owner.
  /// - Throws: ``LedgerError/invalid(field:problem:)``, ``LedgerError/unknownApp(_:configured:)``,
  ///   ``LedgerError/notVerifiable(_:)``, ``LedgerError/store(_:)``.
  package func submit(
    _ receipt: ReceiptSubmission,
    alongside: @escaping @Sendable (any StoreTransaction, ReceiptResult) throws(StoreError) -> Void = {
      (_, _) throws(StoreError) in
    }
  ) async throws(LedgerError) -> ReceiptResult {
    if let customerID = receipt.customerID { try check(customerID, "customer_id") }
    let entry: ReceiptWrite
    let app = try app(receipt.appID)
    do {
      entry = try ReceiptWrite(receipt, for: app, with: verifier, catalog: catalog.value)
    } catch {
      throw .notVerifiable(error)
    }
    let clock = clocks[receipt.environment]
    return try await commit(expecting: entry.expectedReads) { store throws(StoreError) in
      let (result, effects) = try entry.record(in: store, at: clock.now())
      try alongside(store, result)
      return (result, effects)
    }
  }

  /// Stores a rejected receipt with the reason code.
  ///
  /// - Throws: as ``submit(_:alongside:)``.
  package func recordRejection(
    receipt: EvidenceContent, of appID: String, for customerID: String?, reason: String,
    source: Evidence.Source = .submission
  ) async throws(LedgerError) -> EvidenceID {
    if let customerID { try check(customerID, "customer_id") }
    try app(appID)
    let evidence = Evidence(
      appID: appID, environment: nil, customerID: customerID, kind: .appReceipt, source: source,
      receivedAt: clocks.now(in: nil), content: receipt, verdict: .rejected(reason: reason))
    return try await write { store throws(StoreError) in try store.append(evidence).id }
  }

  /// Returns all facts of a customer, or of the customer's merge target; empty if there are none.
  ///
  /// - Throws: ``LedgerError/store(_:)`` only.
  package func facts(of customer: CustomerKey) async throws(LedgerError) -> CustomerFacts {
    try await read { snapshot throws(StoreError) in
      try snapshot.facts(of: snapshot.finalMergeTarget(of: customer)) ?? CustomerFacts()
    }
  }

  /// The facts of some lines, independent of their owners, merged into `facts`.
  ///
  /// - Throws: ``LedgerError/store(_:)`` only.
  package func facts(
    of lines: [LineKey], with facts: CustomerFacts
  ) async throws(LedgerError) -> CustomerFacts {
    guard !lines.isEmpty else { return facts }
    return try await read { snapshot throws(StoreError) in
      var facts = facts
      for line in lines { facts.merge(try snapshot.facts(of: line)) }
      return facts
    }
  }

  /// Returns those of the lines that Apple was not queried about since `instant`, in their order.
  ///
  /// - Throws: ``LedgerError/store(_:)`` only.
  package func lines(
    _ ids: [String], of appID: String, in environment: Environment, notQueriedSince instant: Instant
  ) async throws(LedgerError) -> [String] {
    let now = clocks.now(in: environment)
    return try await read { snapshot throws(StoreError) in
      var lines: [String] = []
      for id in ids {
        let line = LineKey(appID: appID, environment: environment, lineID: id)
        // A later time is of a clock that was ahead.
        if let last = try snapshot.lastRefresh(of: line), instant <= last, last <= now { continue }
        lines.append(id)
      }
      return lines
    }
  }

  /// Returns at most `limit` pending queries that are due now, the longest overdue first, each with the
  /// longest-standing owner of its line. All are of one snapshot.
  ///
  /// - Throws: ``LedgerError/store(_:)`` only.
  package func dueRefreshes(
    by clock: ServiceClock? = nil, limit: Int
  ) async throws(LedgerError) -> [(refresh: PendingRefresh, customerID: String?)] {
    let clock = clock ?? clocks[nil]
    let (now, domain) = (clock.now(), clock.domain)
    return try await read { snapshot throws(StoreError) in
      var due: [(refresh: PendingRefresh, customerID: String?)] = []
      for refresh in try snapshot.refreshes(dueBy: now, in: domain, limit: limit) {
        due.append((refresh, try snapshot.owner(of: refresh.line)))
      }
      return due
    }
  }

  /// Makes the pending queries due that wait longer than `maxPause` milliseconds from now: the clock was ahead when they
  /// were postponed.
  ///
  /// - Throws: ``LedgerError/store(_:)`` only.
  package func hastenRefreshes(
    by clock: ServiceClock, maxPause: Int64
  ) async throws(LedgerError) {
    let now = clock.now()
    try await write { store throws(StoreError) in
      try store.hastenRefreshes(
        dueAfter: now.advanced(byMilliseconds: maxPause), to: now, in: clock.domain)
    }
  }

  /// Replaces a pending query that failed, with its new due time and number of attempts. Durable on return.
  ///
  /// - Throws: ``LedgerError/store(_:)`` only; the query is due as before.
  package func postpone(_ refresh: PendingRefresh) async throws(LedgerError) {
    try await write { store throws(StoreError) in try store.put(refresh) }
  }
}
