internal import AppStore
internal import Entitlements
internal import Store

// Grants, and the erasure of customers.
extension CommandHandler {
  /// Creates a grant.
  func grant(
    _ entitlement: String, _ level: AccessLevel, since: Instant, until: Instant?, to customerID: String
  ) throws(LedgerError) -> CommandResult {
    let number = try inStore { () throws(StoreError) in try store.nextEvidenceID() }
    let fact = GrantFact(
      grantID: "\(LineKey.grantPrefix)\(number.rawValue)", entitlement: entitlement, accessLevel: level,
      since: since, until: until, note: note, actor: actor)
    store.willStoreGrant(in: lineKey(fact.grantID))
    var outcome = try execute(.grant(fact, customerID: customerID), onBehalfOf: customerID)
    let after = try result(of: lineKey(fact.grantID))
    outcome.grant = after.grant
    outcome.customer = after.customer
    outcome.facts = after.facts
    return outcome
  }

  /// Revokes a grant; one that was revoked before stays as it was. Its environment replaces the handler's.
  ///
  /// Reads the grant in the write, because an erasure between a read and the write would remove it.
  func revokeGrant(_ grantID: String) throws(LedgerError) -> CommandResult {
    let line = try inStore { () throws(StoreError) in try store.grant(grantID, of: appID) }
    guard let line else { throw .unknownGrant(grantID) }
    let before = try result(of: line)
    guard var fact = before.grant else { throw .unknownGrant(grantID) }
    guard fact.external == nil else { throw .externalGrant(grantID) }
    guard fact.revokedAt == nil else { return before }
    fact.revokedAt = times[line.environment]
    var outcome = try handler(in: line.environment).execute(
      .revokeGrant(fact), onBehalfOf: before.customer?.customerID)
    let after = try result(of: line)
    outcome.grant = after.grant
    outcome.customer = after.customer
    outcome.facts = after.facts
    return outcome
  }

  /// Erases a customer, together with all customers merged into it. One that was erased before, and is not known
  /// since, stays as it is; the event is repeated for receivers that missed it.
  func erase(_ customerID: String, _ list: ErasureList) throws(LedgerError) -> CommandResult {
    let erased = try inStore { () throws(StoreError) -> CommandResult? in
      let customers = try mergedCustomers(of: customer(customerID))
      guard try exists(customers) else { return try repeated(customers[0], list) }
      let number = try store.nextEvidenceID()
      let pseudonyms = Pseudonym.all(by: number, count: customers.count)
      let command = OperatorCommand(
        .erase(customerIDs: pseudonyms),
        actor: actor.replacingActors(customers.map(\.customerID), with: pseudonyms),
        note: note(renaming: customers, to: pseudonyms))
      let evidence = try store.appendCommand(command, of: appID, in: environment, onBehalfOf: nil, at: now)
      // The evidence names only the pseudonyms, so the command cannot run from it.
      var applier = FactApplier(store, catalog: catalog, now: now)
      var result = CommandResult(evidenceID: evidence)
      for (customer, pseudonym) in zip(customers, pseudonyms) {
        try applier.erase(customer, as: pseudonym, by: evidence, command.actor) {
          list.replacement(ofToken: $0)
        }
        let record = list.erasure(of: customer)
        try store.record(record, as: pseudonym)
        try keepName(customer.customerID, of: pseudonym, list)
        result.erasures.append(.init(record: record, customerID: customer.customerID, pseudonym: pseudonym))
      }
      try applier.eraseKeptGrants(of: customers, as: pseudonyms, by: evidence)
      let derived = try Derivation.run(applier)
      for pseudonym in pseudonyms { try store.index(evidence, under: self.customer(pseudonym)) }
      (result.erasedRows, result.effects) = (derived.erasedRows, derived.effects)
      result.erasedNames = derived.erasedNames
      return result
    }
    guard let erased else { throw .unknownCustomer }
    return erased
  }

  /// The note with pseudonyms instead of the ids of erased customers.
  private func note(renaming customers: [CustomerKey], to pseudonyms: [String]) -> String {
    zip(customers, pseudonyms).reduce(note) { note, pair in
      note.replacing(pair.0.customerID, with: pair.1)
    }
  }

  /// The result for a customer that was erased before; `nil` for one that was never known.
  private func repeated(_ customer: CustomerKey, _ list: ErasureList) throws(StoreError) -> CommandResult? {
    guard let pseudonym = try store.pseudonym(ofCustomerHash: list.hash(of: customer)) else { return nil }
    let change = EntitlementChange.withoutEntitlement(.customerErased, nil, at: now)
    _ = try store.append(
      NewEvent(
        customer: customer.other(pseudonym), change: change, recordedAt: now, evidenceID: nil,
        actor: actor.replacingActor(customer.customerID, with: pseudonym), counterparty: nil))
    try keepName(customer.customerID, of: pseudonym, list)
    var result = CommandResult()
    result.erasures = [.init(record: nil, customerID: customer.customerID, pseudonym: pseudonym)]
    result.erasedNames = [customer.customerID.lowercased()]
    return result
  }

  /// Stores an erased id for the receivers of the event, which the commit wakes at every replica.
  private func keepName(
    _ customerID: String, of pseudonym: String, _ list: ErasureList
  ) throws(StoreError) {
    // The machine's time, because the clock of a sandbox may be set.
    try store.putErasedName(
      list.names.seal(customerID, at: times.others), of: pseudonym, at: times.others)
  }

  /// The customer, the customers merged into it, those merged into them, and so on.
  private func mergedCustomers(of customer: CustomerKey) throws(StoreError) -> [CustomerKey] {
    var found = [customer]
    var next = 0
    while next < found.count {
      for id in try store.mergedCustomers(into: found[next]) where !found.contains(self.customer(id)) {
        found.append(self.customer(id))
      }
      next += 1
    }
    return found
  }

  /// Whether there are facts, evidence or events of another system of one of the customers.
  private func exists(_ customers: [CustomerKey]) throws(StoreError) -> Bool {
    for customer in customers {
      if try store.customer(customer) != nil { return true }
      if try !store.evidence(naming: customer).isEmpty { return true }
      if try store.hasImportedEvents(naming: customer) { return true }
    }
    return false
  }

  /// The current state of a grant, with its owner and the owner's facts.
  func result(of line: LineKey) throws(LedgerError) -> CommandResult {
    try inStore { () throws(StoreError) in
      var outcome = CommandResult(grant: try store.facts(of: line).grants.first)
      outcome.customer = try store.owners(of: line).first.map(line.customer)
      if let customer = outcome.customer {
        outcome.facts = try store.facts(of: customer, in: catalog.definition(of: customer.appID), at: now)
      }
      return outcome
    }
  }
}
