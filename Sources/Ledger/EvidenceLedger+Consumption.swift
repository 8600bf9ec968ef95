internal import AppStore
package import Entitlements
package import Store

/// A question of Apple's that is to be looked at, with what decides about it.
package struct DueInquiry: Sendable {
  package let inquiry: ConsumptionInquiry
  /// What is known of the purchase.
  package let purchase: TransactionFact?
  /// Whose it is; empty: nobody has claimed it.
  package let owners: [String]
  /// Whether each of them agreed that Apple is told.
  package let isConsented: Bool
}

// Apple's questions about purchases whose customers want the money back.
extension EvidenceLedger {
  /// Records whether a customer agrees that Apple is told how much was used. The same again changes nothing.
  package func recordConsent(
    _ isGiven: Bool, of customerID: String, _ scope: CommandScope
  ) async throws(LedgerError) -> (consent: ConsumptionConsent?, outcome: CommandOutcome) {
    try check(customerID, "customer_id")
    let outcome = try await carryOut(scope) { desk throws(LedgerError) in
      try desk.recordConsent(isGiven, of: customerID)
    }
    let (catalog, now) = (catalog.value, now())
    let consent = try await write { store throws(StoreError) in
      let customer = CustomerKey(
        appID: scope.appID, environment: scope.environment, customerID: customerID)
      return try store.consent(of: Derivation(store, catalog: catalog, now: now).survivor(of: customer))
    }
    return (consent, outcome)
  }

  /// At most `limit` questions that are due, each with what decides about it.
  package func inquiriesDue(limit: Int) async throws(LedgerError) -> [DueInquiry] {
    let moment = now()
    return try await write { store throws(StoreError) in
      var due: [DueInquiry] = []
      for inquiry in try store.inquiries(dueBy: moment, limit: limit) {
        let owners = try store.owners(of: inquiry.line)
        var isConsented = !owners.isEmpty
        for owner in owners {
          let consent = try store.consent(of: inquiry.line.customer(owner))
          isConsented = isConsented && consent?.isGiven == true
        }
        let purchase = try store.facts(of: inquiry.line).transactions.first {
          $0.transactionID == inquiry.transactionID
        }
        due.append(
          DueInquiry(inquiry: inquiry, purchase: purchase, owners: owners, isConsented: isConsented))
      }
      return due
    }
  }

  /// Remembers what became of a question, unless somebody settled it meanwhile.
  package func put(_ inquiry: ConsumptionInquiry) async throws(LedgerError) {
    try await write { store throws(StoreError) in
      guard try store.inquiry(inquiry.id)?.state == .open else { return }
      try store.put(inquiry)
      if inquiry.state != .open { ConsumptionMetrics.settled(inquiry) }
    }
  }
}

extension CommandDesk {
  /// Records a customer's word under the name under which the customer goes on.
  fileprivate func recordConsent(
    _ isGiven: Bool, of customerID: String
  ) throws(LedgerError) -> CommandOutcome {
    let customer = try reading { () throws(StoreError) in
      try derivation().survivor(of: self.customer(customerID))
    }
    let known = try reading { () throws(StoreError) in try store.consent(of: customer) }
    guard known?.isGiven != isGiven else { return CommandOutcome() }
    return try issue(
      .consent(isGiven, customerID: customer.customerID), onBehalfOf: customer.customerID)
  }
}
