internal import AppStore
package import Entitlements
package import Store

/// A question of Apple's that is to be looked at, with what decides about it.
package struct DueConsumptionRequest: Hashable, Sendable {
  package let request: ConsumptionRequestRecord
  /// What is known of the purchase.
  package let purchase: TransactionFact?
  /// Whose it is; empty: nobody has claimed it.
  package let owners: [String]
  /// Whether each of them agreed that Apple is told.
  package let isConsented: Bool

  fileprivate init(_ inquiry: ConsumptionRequestRecord, in store: any StoreTransaction) throws(StoreError) {
    request = inquiry
    owners = try store.owners(of: inquiry.line)
    var isConsented = !owners.isEmpty
    for owner in owners {
      let consent = try store.consent(of: inquiry.line.customer(owner))
      isConsented = isConsented && consent?.isGiven == true
    }
    self.isConsented = isConsented
    purchase = try store.facts(of: inquiry.line).transactions.first {
      $0.transactionID == inquiry.transactionID
    }
  }
}

// Apple's questions about purchases whose customers want the money back.
extension EvidenceLedger {
  /// Records whether a customer agrees that Apple is told how much was used. The same again changes nothing.
  package func recordConsent(
    _ isGiven: Bool, of customerID: String, _ scope: CommandScope
  ) async throws(LedgerError) -> (consent: ConsumptionConsent?, outcome: CommandResult) {
    try check(customerID, "customer_id")
    let outcome = try await run(scope) { handler throws(LedgerError) in
      try handler.recordConsent(isGiven, of: customerID)
    }
    let (catalog, now) = (catalog.value, now())
    let consent = try await write { store throws(StoreError) in
      let customer = CustomerKey(
        appID: scope.appID, environment: scope.environment, customerID: customerID)
      return try store.consent(of: Derivation(store, catalog: catalog, now: now).mergeTarget(of: customer))
    }
    return (consent, outcome)
  }

  /// At most `limit` questions that are due, each with what decides about it.
  package func dueConsumptionRequests(limit: Int) async throws(LedgerError) -> [DueConsumptionRequest] {
    let moment = now()
    return try await write { store throws(StoreError) in
      try store.inquiries(dueBy: moment, limit: limit).map { inquiry throws(StoreError) in
        try DueConsumptionRequest(inquiry, in: store)
      }
    }
  }

  /// Remembers what became of a question that was looked at. Not if somebody settled it meanwhile; and not if what
  /// decides about it is no longer as it was, for instance since the customer agreed: then it is still due.
  ///
  /// That it was missed is told in the timeline of whoever has the purchase.
  package func update(_ inquiry: ConsumptionRequestRecord, ifUnchanged due: DueConsumptionRequest)
    async throws(LedgerError)
  {
    let (catalog, now) = (catalog.value, now())
    try await write { store throws(StoreError) in
      guard let known = try store.inquiry(inquiry.id), known.state == .open,
        try DueConsumptionRequest(known, in: store) == due
      else { return }
      try store.put(inquiry)
      if inquiry.state == .missed {
        try Derivation(store, catalog: catalog, now: now).mention(
          .refundRequestMissed, about: inquiry.line, by: .init(cause: .time, evidence: nil),
          at: inquiry.answerBy)
      }
      if inquiry.state != .open { ConsumptionMetrics.settled(inquiry) }
    }
  }
}

extension CommandHandler {
  /// Records a customer's word under the name under which the customer goes on.
  fileprivate func recordConsent(
    _ isGiven: Bool, of customerID: String
  ) throws(LedgerError) -> CommandResult {
    let customer = try inStore { () throws(StoreError) in
      try derivation().mergeTarget(of: self.customer(customerID))
    }
    let known = try inStore { () throws(StoreError) in try store.consent(of: customer) }
    guard known?.isGiven != isGiven else { return CommandResult() }
    return try execute(
      .consent(isGiven, customerID: customer.customerID), onBehalfOf: customer.customerID)
  }
}
