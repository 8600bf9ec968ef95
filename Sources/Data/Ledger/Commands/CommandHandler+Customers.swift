internal import AppStore
internal import Entitlements
internal import Store

// Grants, and the end of a customer.
extension CommandHandler {
  /// Gives an entitlement. The same `key` again gives the grant that there is.
  func grant(
    _ entitlement: String, _ level: AccessLevel, since: Instant, until: Instant?, to customerID: String,
    key: String
  ) throws(LedgerError) -> CommandResult {
    let known = try inStore { () throws(StoreError) in
      key.isEmpty ? nil : try store.grant(withKey: key, of: appID, in: environment)
    }
    if let known { return try standing(of: known) }
    let number = try inStore { () throws(StoreError) in try store.nextEvidenceID() }
    let fact = GrantFact(
      grantID: "\(LineKey.grantPrefix)\(number.rawValue)", entitlement: entitlement, accessLevel: level,
      since: since, until: until, note: note, actor: actor)
    var outcome = try execute(.grant(fact, customerID: customerID, key: key), onBehalfOf: customerID)
    let standing = try standing(of: customer("").line(fact.grantID))
    outcome.grant = standing.grant
    outcome.customer = standing.customer
    outcome.facts = standing.facts
    return outcome
  }

  /// Takes a grant back; what was taken back before stays as it was.
  func revokeGrant(_ line: LineKey) throws(LedgerError) -> CommandResult {
    let before = try standing(of: line)
    guard var fact = before.grant else { throw .unknownGrant(line.originalTransactionID) }
    guard fact.revokedAt == nil else { return before }
    fact.revokedAt = now
    var outcome = try execute(.revokeGrant(fact), onBehalfOf: before.customer?.customerID)
    let after = try standing(of: line)
    outcome.grant = after.grant
    outcome.customer = after.customer
    outcome.facts = after.facts
    return outcome
  }

  /// Takes a person out of what is remembered, together with all who were joined into the customer.
  func erase(_ customerID: String) throws(LedgerError) -> CommandResult {
    let erased = try inStore { () throws(StoreError) -> CommandResult? in
      let customers = try everybody(behind: customer(customerID))
      guard try isKnown(customers) else { return nil }
      let number = try store.nextEvidenceID()
      let pseudonyms = customers.indices.map { "erased-\(number.rawValue)\($0 == 0 ? "" : "-\($0)")" }
      let kept = try append(
        OperatorCommand(.erase(customerIDs: pseudonyms), actor: actor), onBehalfOf: nil)
      let derivation = derivation()
      var rows: Int64 = 0
      for (customer, pseudonym) in zip(customers, pseudonyms) {
        rows += try derivation.erase(customer, as: pseudonym, by: kept)
        try store.relate(kept, to: self.customer(pseudonym))
      }
      return CommandResult(evidenceID: kept, erasedRows: rows)
    }
    guard let erased else { throw .unknownCustomer }
    return erased
  }

  /// The customer, and those who were joined into it, and so on.
  private func everybody(behind customer: CustomerKey) throws(StoreError) -> [CustomerKey] {
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

  private func isKnown(_ customers: [CustomerKey]) throws(StoreError) -> Bool {
    for customer in customers {
      if try store.customer(customer) != nil { return true }
      if try !store.evidence(naming: customer).isEmpty { return true }
    }
    return false
  }

  /// A grant as it is, and all that is known of whose it is.
  private func standing(of line: LineKey) throws(LedgerError) -> CommandResult {
    try inStore { () throws(StoreError) in
      var outcome = CommandResult(grant: try store.facts(of: line).grants.first)
      outcome.customer = try store.owners(of: line).first.map(line.customer)
      if let customer = outcome.customer {
        outcome.facts = try store.customer(customer)?.facts ?? CustomerFacts()
      }
      return outcome
    }
  }
}
