internal import AppStore
package import Entitlements
package import Store

/// A due consumption request with the state that decides about it.
package struct DueConsumptionRequest: Hashable, Sendable {
  /// The stored request, which is open.
  package let request: ConsumptionRequestRecord
  /// The transaction; `nil` if it is not stored.
  package let purchase: TransactionFact?
  /// As ``LineReader/purchases(addingUpWith:of:_:)``; empty without a purchase.
  package let stacked: CustomerFacts
  /// The owners; empty while the purchase is unclaimed.
  package let owners: [String]
  /// Whether every owner consented to sending consumption data to Apple.
  package let isConsented: Bool

  /// Reads the state of a request: in a snapshot to decide, and in the write to find out whether it changed. `facts` reads
  /// those of a customer.
  fileprivate init(
    _ request: ConsumptionRequestRecord, in store: any LineReader,
    _ facts: (CustomerKey) throws(StoreError) -> CustomerFacts?
  ) throws(StoreError) {
    self.request = request
    owners = try store.owners(of: request.line)
    var isConsented = !owners.isEmpty
    for owner in owners {
      let consent = try store.consent(of: request.line.customer(owner))
      isConsented = isConsented && consent?.isGiven == true
    }
    self.isConsented = isConsented
    let purchase = try store.facts(of: request.line).transactions.first {
      $0.transactionID == request.transactionID
    }
    self.purchase = purchase
    stacked =
      try purchase.map { purchase throws(StoreError) in
        try store.purchases(addingUpWith: purchase, of: request.line, facts)
      } ?? CustomerFacts()
  }
}

extension LineReader {
  /// The owner's purchases of the same non-renewing subscription, this one included; their durations add up. Empty for other
  /// products, and without an owner. `facts` reads those of a customer.
  package func purchases(
    addingUpWith purchase: TransactionFact, of line: LineKey,
    _ facts: (CustomerKey) throws(StoreError) -> CustomerFacts?
  ) throws(StoreError) -> CustomerFacts {
    guard purchase.type == .nonRenewingSubscription, let owner = try owner(of: line),
      let owned = try facts(line.customer(owner))
    else { return CustomerFacts() }
    return CustomerFacts(
      transactions: owned.transactions.filter {
        $0.productID == purchase.productID && $0.type == purchase.type
      })
  }
}

// Consumption requests, and the customers' consent to answer them.
extension EvidenceLedger {
  /// Records whether a customer consents to sending consumption data to Apple. Repeating it changes nothing.
  /// A merged customer's decision is that of its merge target.
  ///
  /// - Returns: the result of the command, with the decision in force after it.
  /// - Throws: as ``EvidenceLedger/merge(_:into:_:)``.
  package func recordConsent(
    _ isGiven: Bool, of customerID: String, _ scope: CommandScope
  ) async throws(LedgerError) -> CommandResult {
    try check(customerID, "customer_id")
    return try await run(scope, reading: scope.reads(customers: [customerID])) {
      handler throws(LedgerError) in
      try handler.recordConsent(isGiven, of: customerID)
    }
  }

  /// Returns at most `limit` consumption requests that are due now, the longest overdue first, each with the
  /// state that decides about it. All are of one snapshot.
  ///
  /// - Throws: ``LedgerError/store(_:)``.
  package func dueConsumptionRequests(
    by clock: ServiceClock? = nil, limit: Int
  ) async throws(LedgerError) -> [DueConsumptionRequest] {
    let clock = clock ?? clocks[nil]
    let (now, domain) = (clock.now(), clock.domain)
    return try await read { snapshot throws(StoreError) in
      try snapshot.consumptionRequests(dueBy: now, in: domain, limit: limit).map {
        request throws(StoreError) in
        try DueConsumptionRequest(request, in: snapshot) { customer throws(StoreError) in
          try snapshot.facts(of: customer)
        }
      }
    }
  }

  /// Opens the consumption requests again that were missed later than now and whose deadline has not passed, and makes the
  /// open ones due that wait longer than `maxPause` milliseconds: the clock was ahead.
  ///
  /// - Throws: ``LedgerError/store(_:)`` only.
  package func reopenConsumptionRequests(
    by clock: ServiceClock, maxPause: Int64
  ) async throws(LedgerError) {
    let now = clock.now()
    try await write { store throws(StoreError) in
      let requests = try store.consumptionRequests(
        missedAfter: now, orDueAfter: now.advanced(byMilliseconds: maxPause), in: clock.domain)
      for var request in requests where now < request.answerBy {
        request.state = .open
        request.dueAt = now
        request.settledAt = nil
        try store.put(request)
      }
    }
  }

  /// Stores the new state of a consumption request, unless the stored request or its inputs changed
  /// meanwhile, for instance because the customer consented: the request then stays due.
  ///
  /// A missed request is recorded in the timelines of the purchase's owners.
  ///
  /// - Throws: ``LedgerError/store(_:)`` only: a request that changed meanwhile is left as it is.
  package func update(
    _ request: ConsumptionRequestRecord, ifUnchanged due: DueConsumptionRequest
  ) async throws(LedgerError) {
    let (catalog, clock) = (catalog.value, clocks[request.line.environment])
    try await commit { store throws(StoreError) -> (Void, [LedgerEffect]) in
      guard let stored = try store.consumptionRequest(request.id), stored.state == .open,
        try DueConsumptionRequest(
          stored, in: store, { customer throws(StoreError) in try store.allFacts(of: customer) }) == due
      else { return ((), []) }
      var applier = FactApplier(store, catalog: catalog, now: clock.now())
      try applier.update(request)
      if request.state == .missed {
        applier.changes.emitInformational(
          .refundRequestMissed, to: .owners(request.line), about: request.transactionID, by: .time,
          at: request.answerBy)
      }
      return ((), try Derivation.run(applier).effects)
    }
  }
}

extension CommandHandler {
  /// Records the consent of the customer's merge target.
  fileprivate func recordConsent(
    _ isGiven: Bool, of customerID: String
  ) throws(LedgerError) -> CommandResult {
    let customer = try inStore { () throws(StoreError) in
      try store.finalMergeTarget(of: self.customer(customerID))
    }
    let current = try inStore { () throws(StoreError) in try store.consent(of: customer) }
    guard current?.isGiven != isGiven else { return CommandResult(consent: current) }
    var result = try execute(
      .consent(isGiven, customerID: customer.customerID), onBehalfOf: customer.customerID)
    result.consent = try inStore { () throws(StoreError) in try store.consent(of: customer) }
    return result
  }
}
