internal import AppStore
internal import Entitlements
internal import Store

// Documents of Apple's: their facts, and the owner of the line that they are about.
extension FactApplier {
  /// Stores a transaction, and finds the owner of its line by token, customer or the purchase that it
  /// replaces.
  mutating func applyTransaction(_ fact: TransactionFact, from source: Source) throws(StoreError) {
    let line = source.line(fact.originalTransactionID)
    let fact = fact.arrived(at: source.knownAt)
    let insertion = try store.put(fact, of: line, from: source.id)
    changes.recordFact(fact, of: line, from: source.id, insertion)
    if insertion != .duplicate {
      if type(of: fact, in: line) == .consumable { try recordConsumable(line, fact.transactionID) }
      // The notification of the refund may be late, or missing.
      if let refundedAt = fact.revocationDate {
        try settleConsumptionRequests(
          decidedAt: refundedAt, about: fact.transactionID, of: line, source.id)
      }
    }
    try resolveOwner(
      of: line, token: fact.details.appAccountToken?.lowercased(),
      replacing: fact.details.previousOriginalTransactionID, from: source)
    try markSeatHoldersAffected(of: line, by: source.origin)
  }

  /// Stores renewal info. It names no customer, so the owners of its line stay.
  mutating func applyRenewal(_ fact: RenewalFact, from source: Source) throws(StoreError) {
    let line = source.line(fact.originalTransactionID)
    changes.recordFact(
      fact, of: line, knownAt: source.knownAt, from: source.id,
      try store.put(fact, of: line, knownAt: source.knownAt, from: source.id))
    try lines.index(source.id, under: line)
    try markOwnersAffected(of: line, by: source.origin)
    try markSeatHoldersAffected(of: line, by: source.origin)
  }

  /// Stores an app transaction, and links the install to the customer who submitted it.
  mutating func applyAppTransaction(_ fact: AppTransactionFact, from source: Source) throws(StoreError) {
    let line = source.line(fact.lineID)
    changes.recordDocument(isNew: try store.put(fact, of: line, from: source.id))
    // A line without Apple's id may be several customers' install; see ``AppTransactionFact/lineID``.
    if let customer = source.customer, fact.appTransactionID.isEmpty,
      try !customer.isAmong(lines.owners(of: line))
    {
      try link(line, to: customer, by: source.origin)
    }
    try resolveOwner(of: line, token: nil, from: source)
  }

  /// Links a line that has no owner to the customer who submitted the document, to the customer who buys with
  /// this `appAccountToken`, or to the owners of the line that it replaced; see ``claimants(of:token:replacing:from:)``.
  /// Without any it enters the claim queue, where it waits for one of them.
  /// A line that has owners keeps them.
  private mutating func resolveOwner(
    of line: LineKey, token: String?, replacing previous: String? = nil, from source: Source
  ) throws(StoreError) {
    try lines.index(source.id, under: line)
    let owners = try lines.owners(of: line)
    guard !owners.isEmpty else {
      let customers = try claimants(of: line, token: token, replacing: previous, from: source)
      guard !customers.isEmpty else {
        if let token { changes.queuedTokens.append(.init(line: line, token: token, evidence: source.id)) }
        return try enqueue(line, token: lastSignedToken(token, of: line), replacing: previous)
      }
      for customer in customers { try link(line, to: customer, by: source.origin) }
      if let customer = source.customer, let token { try bindToken(token, to: customer, by: source.origin) }
      return
    }
    try markOwnersAffected(of: line, by: source.origin)
    if let customer = source.customer, let token, customer.isAmong(owners) {
      try bindToken(token, to: customer, by: source.origin)
    }
  }

  /// The customers to link a line to that has no owner.
  ///
  /// `previous` is Apple's `previousOriginalTransactionId`: the line that this one replaced in a migration to Advanced
  /// Commerce, or in a change between a subscription and a bundle. Both are of one Apple account. If the app gave the line no
  /// other token than that one, the owners of that one have it too: they may have it from a link or a transfer, which is
  /// newer than the token.
  private mutating func claimants(
    of line: LineKey, token: String?, replacing previous: String?, from source: Source
  ) throws(StoreError) -> [CustomerKey] {
    if let customer = source.customer { return [customer] }
    var owners: [CustomerKey] = []
    if let predecessor = line.predecessor(previous) {
      owners = try lines.owners(of: predecessor).map(line.customer)
      if !owners.isEmpty, try isToken(token, of: predecessor) { return owners }
    }
    if let customer = try store.buyer(withToken: token, of: line) { return [customer] }
    return owners
  }

  /// The token of an unclaimed line of which a document with `token` was stored. The arrival of the documents does not
  /// decide.
  private func lastSignedToken(_ token: String?, of line: LineKey) throws(StoreError) -> String? {
    guard let token,
      try !store.unclaimedLines(withToken: token, of: line.appID, in: line.environment).contains(line)
    else { return token }
    return try store.facts(of: line).lastSignedToken ?? token
  }

  /// Whether a line has a token, or there is none.
  private func isToken(_ token: String?, of line: LineKey) throws(StoreError) -> Bool {
    guard let token, !token.isEmpty else { return true }
    return try store.facts(of: line).transactions.contains {
      $0.details.appAccountToken?.lowercased() == token
    }
  }

  private mutating func markOwnersAffected(of line: LineKey, by origin: ChangeOrigin) throws(StoreError) {
    for owner in try lines.owners(of: line) {
      changes.markAffected(line.customer(owner), line: line, by: origin)
    }
  }
}

extension StoreTransaction {
  /// The customer bound to the token, or the known customer whose id equals it; the merge target of either.
  func buyer(withToken token: String?, of line: LineKey) throws(StoreError) -> CustomerKey? {
    guard let token, !token.isEmpty else { return nil }
    if let id = try customerID(ofToken: token, of: line.appID, in: line.environment) {
      return try finalMergeTarget(of: line.customer(id))
    }
    // Apple writes UUIDs in lower case; the operator may use the app's spelling as the customer's id.
    for id in [token, token.uppercased()] where try customer(line.customer(id)) != nil {
      return try finalMergeTarget(of: line.customer(id))
    }
    return nil
  }
}
