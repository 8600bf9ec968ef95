internal import AppStore
internal import Entitlements
internal import FamilySharing
internal import Store

// Operator commands. They were validated before they became evidence; a step that is no longer possible is
// skipped, so that replay never fails.
extension FactApplier {
  /// Runs a command; `evidence` is the id under which it is stored.
  mutating func run(
    _ command: OperatorCommand, as evidence: EvidenceID, of appID: String, in environment: Environment
  ) throws(StoreError) {
    func customer(_ id: String) -> CustomerKey {
      CustomerKey(appID: appID, environment: environment, customerID: id)
    }
    func line(_ id: String) -> LineKey {
      LineKey(appID: appID, environment: environment, lineID: id)
    }
    let origin = ChangeOrigin(cause: .ownership, evidence: evidence, actor: command.actor)
    let ofSeat = ChangeOrigin(cause: .seat, evidence: evidence, actor: command.actor)
    for id in command.customerIDs { try store.index(evidence, under: customer(id)) }
    switch command.action {
    case .move(let id, let from, let to):
      try move(line(id), from: from.map(customer), to: customer(to), evidence, by: origin)
    case .merge(let from, let into): try merge(customer(from), into: customer(into), by: origin)
    case .undo(let undone): try undo(undone, by: origin, of: appID, in: environment)
    case .grant(let fact, let id):
      try grant(
        fact, of: line(fact.grantID), to: store.finalMergeTarget(of: customer(id)), evidence, by: origin)
    case .revokeGrant(let fact): try revokeGrant(fact, of: line(fact.grantID), evidence, by: origin)
    case .claimSeat(let seat, let id):
      try claimSeat(seat, for: id.map(customer), of: line(seat.originalTransactionID), by: ofSeat)
    case .associateSeat(let id, let holder):
      try associateSeat(line(id), with: customer(holder), by: ofSeat)
    case .releaseSeats(let ids, let instant): try releaseSeats(ids.map(line), at: instant, by: ofSeat)
    case .appleCall(let call):
      try recordCall(call, about: line(call.originalTransactionID), evidence, by: origin)
    case .consent(let isGiven, let id): try applyConsent(isGiven, of: customer(id), by: origin)
    case .fulfill(let fulfillment, let id): try recordFulfillment(fulfillment, of: line(id), evidence)
    case .settleConsent(let install, let instant):
      try settleConsentWithdrawal(install, at: instant, evidence, of: appID, in: environment)
    case .registerToken(let token, let id):
      var origin = origin
      origin.cause = .claim
      try registerToken(token, of: store.finalMergeTarget(of: customer(id)), by: origin)
    case .addNote(let text, let id, let at):
      try store.put(
        CustomerNote(id: evidence, customer: customer(id), text: text, actor: command.actor, createdAt: at))
    case .deleteNote(let note, _): try store.deleteNote(note)
    case .setAttributes(let attributes, let id):
      for attribute in attributes { try store.put(attribute, of: customer(id), from: evidence) }
    case .erase(let pseudonyms):
      // In a replay only the pseudonyms are left.
      for pseudonym in pseudonyms {
        try erase(customer(pseudonym), as: pseudonym, by: evidence, command.actor) { $0 }
      }
    }
  }

  /// Stores a grant, or a state of a purchase in another store. The newest state decides who owns it; a change of the owner
  /// has the cause of `transfer`.
  private mutating func grant(
    _ fact: GrantFact, of line: LineKey, to customer: CustomerKey, _ evidence: EvidenceID,
    by transfer: ChangeOrigin
  ) throws(StoreError) {
    var origin = transfer
    origin.cause = fact.external == nil ? .grant : .external
    let known = try store.facts(of: line).grants
    try store.put(fact, of: line, from: evidence)
    try store.index(evidence, under: line)
    if fact.external != nil {
      try store.index(evidence, under: line.grantState(fact.revision))
      changes.recordGrantState(fact.revision, of: line, from: evidence)
    }
    guard let newest = known.first?.external?.revision, let revision = fact.external?.revision else {
      return try link(line, to: customer, by: origin)
    }
    let owners = try lines.owners(of: line)
    guard revision > newest else {
      for owner in owners {
        try store.index(evidence, under: line.customer(owner))
        changes.markAffected(line.customer(owner), line: line, by: origin)
      }
      return changes.emitInformational(.olderRevisionReceived, to: .owners(line), by: origin)
    }
    guard !customer.isAmong(owners) else {
      return changes.markAffected(customer, line: line, by: origin)
    }
    // A refund is an event of the owners before the transfer is one.
    if !owners.isEmpty, try !ExternalRefund.all(from: known, to: store.facts(of: line).grants).isEmpty {
      for owner in owners { changes.markAffected(line.customer(owner), line: line, by: origin) }
      try derive()
    }
    for owner in owners { try unlink(line, from: line.customer(owner), by: transfer) }
    try link(line, to: customer, by: owners.isEmpty ? origin : transfer)
  }

  /// Stores the end of a grant.
  private mutating func revokeGrant(
    _ fact: GrantFact, of line: LineKey, _ evidence: EvidenceID, by command: ChangeOrigin
  ) throws(StoreError) {
    var origin = command
    origin.cause = .grant
    try store.put(fact, of: line, from: evidence)
    try store.index(evidence, under: line)
    for owner in try lines.owners(of: line) {
      changes.markAffected(line.customer(owner), line: line, by: origin)
    }
  }

  /// Moves a line to a customer, as decided by a command. A line without an owner is claimed by that.
  private mutating func move(
    _ line: LineKey, from: [CustomerKey], to: CustomerKey, _ evidence: EvidenceID, by origin: ChangeOrigin
  ) throws(StoreError) {
    try store.index(evidence, under: line)
    var origin = origin
    if try lines.owners(of: line).isEmpty { origin.cause = .claim }
    for customer in from where try customer.isAmong(lines.owners(of: line)) {
      try unlink(line, from: customer, by: origin)
    }
    if try !to.isAmong(lines.owners(of: line)) { try link(line, to: to, by: origin) }
  }

  /// Merges a customer into another one, who gets all lines.
  private mutating func merge(
    _ from: CustomerKey, into: CustomerKey, by origin: ChangeOrigin
  ) throws(StoreError) {
    // Ends an earlier merge in the other direction.
    try store.setMergeTarget(nil, of: into)
    try store.setMergeTarget(into.customerID, of: from)
    for line in try store.lines(of: from).sorted(by: { $0.lineID < $1.lineID }) {
      try unlink(line, from: from, by: origin)
      if try !into.isAmong(lines.owners(of: line)) { try link(line, to: into, by: origin) }
    }
    // The consent of the merged customer is now that of the other one, also for the purchases that it had before.
    try checkConsumptionRequests(of: into)
  }

  /// Reverses the links and unlinks of another command, the last first. A customer who was merged since gets nothing back; the
  /// merge target does.
  private mutating func undo(
    _ undone: EvidenceID, by origin: ChangeOrigin, of appID: String, in environment: Environment
  ) throws(StoreError) {
    guard let evidence = try store.evidence(undone),
      let command = EvidenceDecoder.command(in: evidence.evidence)
    else { return }
    let customers = command.customerIDs.map {
      CustomerKey(appID: appID, environment: environment, customerID: $0)
    }
    if case .merge = command.action { try store.setMergeTarget(nil, of: customers[0]) }
    for customer in customers.reversed() {
      let target = try store.finalMergeTarget(of: customer)
      for change in try store.ownershipChanges(of: customer, by: undone).reversed() {
        let owners = try lines.owners(of: change.line)
        if change.gained, customer.isAmong(owners) {
          try unlink(change.line, from: customer, by: origin)
          if let evidence = origin.evidence { try enqueueUnclaimed(change.line, by: evidence) }
        } else if !change.gained, !target.isAmong(owners) {
          try link(change.line, to: target, by: origin)
        }
      }
    }
  }

  /// Indexes a call to Apple under the purchase and its owners. Apple reports the resulting facts itself.
  private mutating func recordCall(
    _ call: AppleCall, about line: LineKey, _ evidence: EvidenceID, by origin: ChangeOrigin
  ) throws(StoreError) {
    try recordExternalReport(call, evidence, of: line.appID, in: line.environment)
    guard !call.originalTransactionID.isEmpty else { return }
    try store.index(evidence, under: line)
    try settleConsumptionRequests(answeredBy: call, about: line, evidence)
    for owner in try lines.owners(of: line) { try store.index(evidence, under: line.customer(owner)) }
    changes.emitInformational(.appStoreCalled, to: .owners(line), about: call.transactionID, by: origin)
  }
}

extension StoreTransaction {
  /// Appends a command as evidence.
  func appendCommand(
    _ command: OperatorCommand, of appID: String, in environment: Environment, onBehalfOf customerID: String?,
    at now: Instant
  ) throws(StoreError) -> EvidenceID {
    let number = try nextEvidenceID()
    // Its number makes the content unlike any other.
    return try appendNew(
      Evidence(
        appID: appID, environment: environment, customerID: customerID, kind: .operatorCommand,
        source: .operatorCall, receivedAt: now,
        content: EvidenceContent(hashing: command.encoded(number: number)), verdict: .accepted)
    ).id
  }
}
