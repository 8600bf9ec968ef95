internal import AppStore
internal import Entitlements
internal import FamilySharing
internal import Store

// What the operator decided. Everything was checked before the command became evidence; here what cannot be
// done any more is left out, so that a replay never fails.
extension Derivation {
  func apply(
    _ command: OperatorCommand, by evidence: EvidenceID, of appID: String, in environment: Environment
  ) throws(StoreError) {
    func customer(_ id: String) -> CustomerKey {
      CustomerKey(appID: appID, environment: environment, customerID: id)
    }
    func line(_ number: String) -> LineKey { customer("").line(number) }
    let origin = Origin(cause: .ownership, evidence: evidence, actor: command.actor)
    for id in command.customerIDs { try store.relate(evidence, to: customer(id)) }
    switch command.action {
    case .move(let number, let from, let to):
      try move(line(number), from: from.map(customer), to: customer(to), by: origin)
    case .merge(let from, let into):
      try merge(customer(from), into: customer(into), by: origin)
    case .undo(let undone):
      try undo(undone, by: origin, of: appID, in: environment)
    case .grant(let fact, let id, let key):
      let line = line(fact.grantID)
      try store.put(fact, of: line, key: key, from: evidence)
      try store.relate(evidence, to: line)
      let origin = Origin(cause: .grant, evidence: evidence, actor: command.actor)
      try give(line, to: mergeTarget(of: customer(id)), by: origin)
    case .revokeGrant(let fact):
      let line = line(fact.grantID)
      try store.put(fact, of: line, key: "", from: evidence)
      try store.relate(evidence, to: line)
      for owner in try store.owners(of: line) {
        touch(
          customer(owner), line: line,
          by: Origin(cause: .grant, evidence: evidence, actor: command.actor))
      }
    case .claimSeat(let seat, let id):
      try claim(seat, for: id.map(customer), in: line(seat.originalTransactionID), by: origin)
    case .associateSeat(let id, let holder):
      try associate(line(id), with: customer(holder), by: origin)
    case .releaseSeats(let ids, let moment):
      try release(ids.map(line), at: moment, by: origin)
    case .appleCall(let call):
      try note(call, about: line(call.originalTransactionID), by: origin)
    case .consent(let isGiven, let id):
      try apply(consent: isGiven, of: customer(id), by: origin)
    case .erase(let pseudonyms):
      for pseudonym in pseudonyms { _ = try erase(customer(pseudonym), as: pseudonym, by: evidence) }
    }
  }

  private func move(
    _ line: LineKey, from: [CustomerKey], to: CustomerKey, by origin: Origin
  ) throws(StoreError) {
    if let evidence = origin.evidence { try store.relate(evidence, to: line) }
    for customer in from where try store.owners(of: line).contains(customer.customerID) {
      try take(line, from: customer, by: origin)
    }
    if try !store.owners(of: line).contains(to.customerID) { try give(line, to: to, by: origin) }
  }

  private func merge(_ from: CustomerKey, into: CustomerKey, by origin: Origin) throws(StoreError) {
    // Whoever was joined the other way round before comes first again.
    try store.setMergeTarget(nil, of: into)
    try store.setMergeTarget(into.customerID, of: from)
    for line in try store.lines(of: from).sorted(by: { $0.originalTransactionID < $1.originalTransactionID })
    {
      try take(line, from: from, by: origin)
      if try !store.owners(of: line).contains(into.customerID) { try give(line, to: into, by: origin) }
    }
  }

  /// Puts back what another command moved, the last first.
  private func undo(
    _ undone: EvidenceID, by origin: Origin, of appID: String, in environment: Environment
  ) throws(StoreError) {
    guard let evidence = try store.evidence(undone),
      case .command(let command) = DecodedEvidence(evidence.evidence)
    else { return }
    let customers = command.customerIDs.map {
      CustomerKey(appID: appID, environment: environment, customerID: $0)
    }
    for customer in customers.reversed() {
      for change in try store.ownershipChanges(of: customer, by: undone).reversed() {
        let isOwner = try store.owners(of: change.line).contains(customer.customerID)
        if change.gained, isOwner {
          try take(change.line, from: customer, by: origin)
          try letWait(change.line)
        } else if !change.gained, !isOwner {
          try give(change.line, to: customer, by: origin)
        }
      }
    }
    if case .merge = command.action { try store.setMergeTarget(nil, of: customers[0]) }
  }

  /// Takes a customer out of everything: the lines wait for whoever comes next, grants are gone, and what
  /// must stay carries the pseudonym.
  ///
  /// - Returns: how many rows lost the person.
  func erase(
    _ customer: CustomerKey, as pseudonym: String, by evidence: EvidenceID
  ) throws(StoreError) -> Int64 {
    let origin = Origin(cause: .evidence, evidence: evidence)
    var rows: Int64 = 0
    for line in try store.lines(of: customer) {
      try take(line, from: customer, by: origin)
      rows += 1
      if line.isGrant { try store.delete(grant: line) } else { try letWait(line) }
    }
    // The last events, before the name in them is replaced too.
    try finish()
    for named in try store.evidence(naming: customer) {
      guard case .command(let command) = DecodedEvidence(named.evidence) else { continue }
      let anonymous = command.erasing(customer.customerID, as: pseudonym)
      guard anonymous != command else { continue }
      try store.replace(named.id, with: EvidenceContent(hashing: anonymous.encoded(number: named.id)))
    }
    return rows + (try store.forget(customer, as: pseudonym))
  }

  /// A purchase that nobody has any more waits in the claim queue.
  private func letWait(_ line: LineKey) throws(StoreError) {
    guard line.isPurchase, try store.owners(of: line).isEmpty else { return }
    let token = try store.facts(of: line).transactions.compactMap(\.details.appAccountToken).last
    try store.enqueue(line, token: token?.lowercased())
  }
}
