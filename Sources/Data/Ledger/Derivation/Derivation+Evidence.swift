internal import AppStore
internal import Entitlements
internal import Store

/// What came of a document for the line that it is about.
enum ClaimResult {
  /// It is this customer's.
  case owned(by: String)
  /// It belongs to others than the one who was named.
  case ownedByOthers([String])
  /// Nobody is known whose it might be.
  case unclaimed
}

// What documents say, and whose it is.
extension Derivation {
  /// Takes in what one piece of evidence says. Applied again it changes nothing more.
  @discardableResult
  func apply(
    _ testimony: DecodedEvidence, of evidence: StoredEvidence
  ) throws(StoreError) -> ClaimResult? {
    if case .rejected = evidence.evidence.verdict { return try note(rejected: evidence) }
    guard let environment = evidence.evidence.environment else { return nil }
    let appID = evidence.evidence.appID
    let customer = try evidence.evidence.customerID.map { id throws(StoreError) in
      try mergeTarget(of: CustomerKey(appID: appID, environment: environment, customerID: id))
    }
    switch testimony {
    case .transaction(let fact): return try take(fact, customer, from: evidence)
    case .renewal(let fact):
      let line = evidence.line(fact.originalTransactionID, in: environment)
      try hear(fact, of: line, isNew: store.put(fact, of: line, from: evidence.id))
      try relate(evidence.id, to: line)
      try touchOwners(of: line, evidence.id)
      try touchHolders(of: line, by: Origin(cause: .evidence, evidence: evidence.id))
      return nil
    case .appTransaction(let fact): return try take(fact, customer, from: evidence)
    case .receipt(let statement):
      for fact in statement.transactions { _ = try take(fact, customer, from: evidence) }
      if let copy = statement.appTransaction { _ = try take(copy, customer, from: evidence) }
      return nil
    case .command(let command):
      try apply(command, by: evidence.id, of: appID, in: environment)
      return nil
    case .notification(let contents):
      try take(contents, from: evidence)
      return nil
    case .nothing: return nil
    }
  }

  private func take(
    _ fact: TransactionFact, _ customer: CustomerKey?, from evidence: StoredEvidence
  ) throws(StoreError) -> ClaimResult? {
    guard let environment = evidence.evidence.environment else { return nil }
    let line = evidence.line(fact.originalTransactionID, in: environment)
    try hear(fact, of: line, isNew: store.put(fact, of: line, from: evidence.id))
    let outcome = try settle(
      line, customer, token: fact.details.appAccountToken?.lowercased(), evidence.id)
    try touchHolders(of: line, by: Origin(cause: .evidence, evidence: evidence.id))
    return outcome
  }

  private func take(
    _ fact: AppTransactionFact, _ customer: CustomerKey?, from evidence: StoredEvidence
  ) throws(StoreError) -> ClaimResult? {
    guard let environment = evidence.evidence.environment else { return nil }
    let line = evidence.line(fact.lineID, in: environment)
    count(try store.put(fact, of: line, from: evidence.id))
    if let customer, fact.appTransactionID.isEmpty,
      try !owners(of: line).contains(customer.customerID)
    {
      try give(line, to: customer, by: Origin(cause: .evidence, evidence: evidence.id))
    }
    return try settle(line, customer, token: nil, evidence.id)
  }

  /// Finds out whose a line is of which a document told: the owner's, else the customer's who was named,
  /// else the customer's who buys with this token, else nobody's yet.
  private func settle(
    _ line: LineKey, _ named: CustomerKey?, token: String?, _ evidence: EvidenceID
  ) throws(StoreError) -> ClaimResult {
    try relate(evidence, to: line)
    let owners = try owners(of: line)
    let origin = Origin(cause: .evidence, evidence: evidence)
    if owners.isEmpty {
      guard let customer = try named == nil ? buyer(withToken: token, line) : named else {
        try store.enqueue(line, token: token)
        return .unclaimed
      }
      try give(line, to: customer, by: origin)
      if named != nil, let token { try learn(token, of: customer, by: origin) }
      return .owned(by: customer.customerID)
    }
    try touchOwners(of: line, evidence)
    guard let named else { return .owned(by: owners[0]) }
    guard owners.contains(named.customerID) else { return .ownedByOthers(owners) }
    if let token { try learn(token, of: named, by: origin) }
    return .owned(by: named.customerID)
  }

  private func touchOwners(of line: LineKey, _ evidence: EvidenceID) throws(StoreError) {
    for owner in try owners(of: line) {
      touch(line.customer(owner), line: line, by: Origin(cause: .evidence, evidence: evidence))
    }
  }

  /// Gives a line to a customer, who may be new: then what waits under the customer's name comes too.
  func give(_ line: LineKey, to customer: CustomerKey, by origin: Origin) throws(StoreError) {
    guard let evidence = origin.evidence else { return }
    let isNew = try store.customer(customer) == nil
    try store.dequeue(line)
    try record(
      OwnershipChange(
        line: line, customerID: customer.customerID, gained: true, at: now, evidenceID: evidence))
    try store.relate(evidence, to: customer)
    touch(customer, given: line, by: origin)
    if isNew { try claim(withToken: customer.customerID.lowercased(), for: customer, by: origin) }
  }

  /// Takes a line from a customer.
  func take(_ line: LineKey, from customer: CustomerKey, by origin: Origin) throws(StoreError) {
    guard let evidence = origin.evidence else { return }
    try record(
      OwnershipChange(
        line: line, customerID: customer.customerID, gained: false, at: now, evidenceID: evidence))
    try store.relate(evidence, to: customer)
    touch(customer, anew: true, by: origin)
  }

  /// The customer goes on under this name, if it was joined into another.
  func mergeTarget(of customer: CustomerKey) throws(StoreError) -> CustomerKey {
    var customer = customer
    // Joining never makes a circle; the bound is for a store that somebody else wrote to.
    for _ in 0..<64 {
      guard let next = try store.mergeTarget(of: customer) else { return customer }
      customer = CustomerKey(appID: customer.appID, environment: customer.environment, customerID: next)
    }
    return customer
  }

  /// Who buys with a token: whoever did before, or the customer whose id it is.
  private func buyer(withToken token: String?, _ line: LineKey) throws(StoreError) -> CustomerKey? {
    guard let token, !token.isEmpty else { return nil }
    if let id = try store.customerID(ofToken: token, of: line.appID, in: line.environment) {
      return try mergeTarget(of: line.customer(id))
    }
    // Apple writes UUIDs in lower case; an operator may have taken the id as the app made it.
    for id in [token, token.uppercased()] where try store.customer(line.customer(id)) != nil {
      return line.customer(id)
    }
    return nil
  }

  /// Remembers that the customer buys with a token; what waits with it is the customer's too.
  private func learn(_ token: String, of customer: CustomerKey, by origin: Origin) throws(StoreError) {
    guard !token.isEmpty,
      try store.customerID(ofToken: token, of: customer.appID, in: customer.environment) == nil
    else { return }
    try store.register(token: token, for: customer)
    try claim(withToken: token, for: customer, by: origin)
  }

  private func claim(
    withToken token: String, for customer: CustomerKey, by origin: Origin
  ) throws(StoreError) {
    let waiting = try store.unclaimedLines(
      withToken: token, of: customer.appID, in: customer.environment)
    for line in waiting {
      // The first that somebody new is given has claimed the others already.
      guard try owners(of: line).isEmpty else { continue }
      try give(line, to: customer, by: origin)
    }
  }
}

extension StoredEvidence {
  /// The line with that number in the app of which the evidence tells.
  fileprivate func line(_ number: String, in environment: Environment) -> LineKey {
    LineKey(appID: evidence.appID, environment: environment, originalTransactionID: number)
  }
}
