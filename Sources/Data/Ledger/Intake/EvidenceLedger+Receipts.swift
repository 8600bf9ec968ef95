package import AppStore
package import Entitlements
internal import SignedData
package import Store

// Legacy receipts: what they say, what Apple signs about them, and what is still to be asked.
extension EvidenceLedger {
  /// Takes in a receipt that was found genuine, with what Apple signed about its purchases, in one commit.
  /// When this returns it is durable.
  ///
  /// - Parameters:
  ///   - receipt: What is known of it.
  ///   - alongside: Writes what must be true together with it.
  /// - Returns: what came of it.
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
      entry = try ReceiptWrite(
        receipt, for: app, with: verifier, catalog: catalog.value, receivedAt: now())
    } catch {
      throw .notVerifiable(error)
    }
    return try await write { store throws(StoreError) in
      let taken = try entry.record(in: store)
      try alongside(store, taken)
      return taken
    }
  }

  /// Keeps a receipt that is not to be believed, with a code for why.
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
      receivedAt: now(), content: receipt, verdict: .rejected(reason: reason))
    return try await write { store throws(StoreError) in try store.append(evidence).id }
  }

  /// All that is known of a customer, or of whoever goes on for that one.
  package func facts(of customer: CustomerKey) async throws(LedgerError) -> CustomerFacts {
    let (catalog, now) = (catalog.value, now())
    return try await write { store throws(StoreError) in
      let mergeTarget = try Derivation(store, catalog: catalog, now: now).mergeTarget(of: customer)
      return try store.customer(mergeTarget)?.facts ?? CustomerFacts()
    }
  }

  /// What documents say that are Apple's; the others do not count. Keeps nothing.
  package func verifiedFacts(in submissions: [Submission]) throws(LedgerError) -> CustomerFacts {
    var facts = CustomerFacts()
    for submission in submissions {
      let app = try app(submission.appID)
      guard let verified = try? VerifiedSubmission(submission, for: app, with: verifier) else { continue }
      for document in verified.documents {
        switch document.testimony {
        case .transaction(let fact): facts.insert(fact)
        case .renewal(let fact): facts.insert(fact)
        case .appTransaction(let fact): facts.insert(fact)
        case .command, .notification, .receipt, .nothing: break
        }
      }
    }
    return facts
  }

  /// All that is known of some lines, whosever they are, added to `facts`.
  package func facts(
    of lines: [LineKey], with facts: CustomerFacts
  ) async throws(LedgerError) -> CustomerFacts {
    guard !lines.isEmpty else { return facts }
    return try await write { store throws(StoreError) in
      var facts = facts
      for line in lines { facts.merge(try store.facts(of: line)) }
      return facts
    }
  }

  /// Those of some lines about whose customer Apple was not asked since `moment`.
  package func lines(
    _ numbers: [String], of appID: String, in environment: Environment, notQueriedSince moment: Instant
  ) async throws(LedgerError) -> [String] {
    try await write { store throws(StoreError) in
      var lines: [String] = []
      for number in numbers {
        let line = LineKey(appID: appID, environment: environment, originalTransactionID: number)
        if let last = try store.lastRefresh(of: line), last >= moment { continue }
        lines.append(number)
      }
      return lines
    }
  }

  /// At most `limit` lines about which Apple is to be asked by now, with who has each.
  package func dueRefreshes(
    limit: Int
  ) async throws(LedgerError) -> [(refresh: PendingRefresh, customerID: String?)] {
    let moment = now()
    return try await write { store throws(StoreError) in
      var due: [(refresh: PendingRefresh, customerID: String?)] = []
      for refresh in try store.refreshes(dueBy: moment, limit: limit) {
        due.append((refresh, try store.owners(of: refresh.line).first))
      }
      return due
    }
  }

  /// Apple was asked about a line in vain: it is to be asked later.
  package func postpone(_ refresh: PendingRefresh) async throws(LedgerError) {
    try await write { store throws(StoreError) in try store.put(refresh) }
  }
}
