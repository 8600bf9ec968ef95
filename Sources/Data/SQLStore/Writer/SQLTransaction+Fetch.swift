internal import AppStore
internal import Store

// The reads of a batch, in few round trips.
extension SQLTransaction {
  /// Reads the rows that bodies will read, in an engine whose reads cost a round trip: first those with the expected
  /// keys, then those that the owners of the lines and the customers of the tokens lead to.
  func fetch(_ expected: [ExpectedReads]) throws(StoreError) {
    guard let workspace else { return }
    var all = ExpectedReads()
    for expected in expected { all.formUnion(expected) }
    guard !all.isEmpty else { return }
    workspace.makeRoom()
    for line in all.lines { try expect(line) }
    for transaction in all.transactions {
      try fact.transaction.expect(transaction)
      try evidenceLookup.expect(transaction)
    }
    for id in all.notifications { try notification.byUUID.expect(id) }
    for token in all.tokens { try claim.expect(token) }
    for customer in all.customers { try expect(customer) }
    for key in all.idempotencyKeys { try idempotency.expect(key) }
    for identity in all.evidence { try evidence.equal.expect(identity) }
    try workspace.fetch()
    for line in all.lines { try expectOwners(of: line) }
    for token in all.tokens { try expectCustomers(of: token) }
    try workspace.fetch()
    for line in all.lines {
      for owner in ownership.owners.known(line) ?? [] { try keepEvidence(of: line.customer(owner)) }
    }
    for customer in all.customers { try keepEvidence(of: customer) }
  }

  /// Keeps the evidence that the customer's answers name: most answers of the next moments rest on the same.
  private func keepEvidence(of customer: CustomerKey) throws(StoreError) {
    evidenceLookup.keep(try self.customer.knownEvidence(of: customer), of: customer)
  }

  private func expect(_ line: LineKey) throws(StoreError) {
    try ownership.owners.expect(line)
    try seat.seats.expect(line)
    try fact.renewals.last.expect(line)
    try poll.row.expect(line)
    if line.isPurchase { try purchaseState.ofLine.expect(line) }
    if line.isGrant { try fact.grants.ofLine.expect(line) }
  }

  private func expect(_ customer: CustomerKey) throws(StoreError) {
    try self.customer.expect(customer)
    try claim.expect(customer)
  }

  /// Expects the customers of a line. One without owners will be linked, for which all its facts are read.
  private func expectOwners(of line: LineKey) throws(StoreError) {
    let owners = ownership.owners.known(line) ?? []
    for owner in owners { try customer.expect(line.customer(owner)) }
    guard owners.isEmpty, line.isPurchase else { return }
    try fact.transactionsOfLine.expect(line)
    try claim.expectReplacements(of: line)
  }

  /// Expects the customer that is bound to a token, or those whose ids equal it.
  private func expectCustomers(of token: ScopedID) throws(StoreError) {
    if let customer = claim.knownCustomer(of: token) { return try expect(customer) }
    for id in [token.id, token.id.uppercased()] {
      try expect(CustomerKey(appID: token.appID, environment: token.environment, customerID: id))
    }
  }

  /// Returns the rows that a query of a text that never varies selects for each line, in one round trip. The parameters are
  /// those of a line.
  func rows<Row>(
    once sql: String, ofEach lines: Set<LineKey>,
    decode: (LineKey, any SQLStatement) throws(StoreError) -> Row
  ) throws(StoreError) -> [LineKey: [Row]] {
    if connection.isRemote {
      let select = try statement(once: sql)
      for line in lines {
        _ = try line.bind(to: select, at: 1)
        select.enqueue()
      }
      try connection.fetchEnqueued()
    }
    defer { connection.discardFetched() }
    var found: [LineKey: [Row]] = [:]
    for line in lines {
      found[line] = try rows(once: sql, line) { row throws(StoreError) in try decode(line, row) }
    }
    return found
  }
}
