internal import AppStore
internal import Entitlements
internal import Store

/// The result of a derivation. The caller runs the effects after the commit.
struct Derived: Sendable {
  /// The record of the last notification that was applied.
  var notification: NotificationRecord?
  /// The appended events, in order.
  var events: [StoredEvent] = []
  /// The number of rows that lost an erased customer's id.
  var erasedRows: Int64 = 0
  /// The ids and tokens of erased customers.
  var erasedNames: DocumentRedaction.Names = []
  var effects: [LedgerEffect] = []
}

/// Brings the affected customers up to date inside the write that stores the evidence: decode, apply, diff,
/// write.
///
/// ``EvidenceDecoder`` and ``FactApplier`` are the first two steps; this is the rest. Each affected customer
/// is compared once with the state before, whatever the number of documents.
struct Derivation {
  let store: any StoreTransaction
  let catalog: Catalog
  let now: Instant
  let changes: ChangeSet
  var lines: LineCache
  private var derived = Derived()
  /// The cached facts of purchases.
  var knownFacts: [LineKey: CustomerFacts] = [:]
  /// The last facts of long lines, of which the others were not read.
  var tails: [LineKey: CustomerFacts] = [:]

  /// Writes the answers and events of all that `applier` changed, and reschedules status polls.
  static func run(_ applier: consuming FactApplier) throws(StoreError) -> Derived {
    var derivation = Derivation(applier)
    try derivation.emitInformationalEvents()
    for customer in derivation.changes.affectedCustomers { try derivation.update(customer) }
    try derivation.emitDisputes()
    try derivation.updatePurchaseStates()
    try derivation.reschedulePolls()
    try derivation.enqueueForReports()
    try derivation.erase()
    return derivation.derived
  }

  private init(_ applier: consuming FactApplier) {
    store = applier.store
    catalog = applier.catalog
    now = applier.now
    lines = applier.lines
    changes = applier.changes
    derived.notification = changes.notification
    derived.effects = changes.effects
  }

  private mutating func update(_ customer: CustomerKey) throws(StoreError) {
    guard let entry = changes.affected[customer] else { return }
    let app = catalog.definition(of: customer.appID)
    let stored = try store.customer(customer)
    if let stored, stored.facts.omitted != nil, try updateReduced(customer, entry, stored, in: app) { return }
    let before = try stored.map { stored throws(StoreError) in
      CustomerState(facts: try allFacts(of: customer, stored), answers: stored.answers)
    }
    let facts = try facts(of: customer, before?.facts, entry)
    let diff = StateDiff(before: before, after: facts, in: app, at: now, cause: entry.origin.cause)
    guard diff.mustReevaluate else { return }
    let recorded = try record(diff, of: customer, entry)
    if facts.isLarge || stored?.facts.omitted != nil {
      try replaceLines(
        of: customer, stored?.facts.omitted == nil ? CustomerFacts() : before?.facts ?? CustomerFacts(),
        with: facts, recorded.answers, in: app)
    } else {
      try store.putFacts(facts, answers: recorded.answers, of: customer)
    }
    try mark(customer, isContradictory: recorded.isContradictory, stored)
  }

  /// Marks the customer if contradictions appeared or disappeared. The row must exist.
  func mark(_ customer: CustomerKey, isContradictory: Bool, _ stored: CustomerState?) throws(StoreError) {
    guard isContradictory != (stored?.isContradictory ?? false) else { return }
    try store.mark(customer, isContradictory: isContradictory)
  }

  /// Records the events and effects of a difference.
  ///
  /// - Returns: the answers after the write, with their evidence, and whether the facts contradict each other.
  mutating func record(
    _ diff: StateDiff, of customer: CustomerKey, _ entry: ChangeSet.AffectedCustomer
  ) throws(StoreError) -> (answers: PrecomputedAnswers, isContradictory: Bool) {
    let answers = diff.answers
    for change in try diff.changes(to: answers) {
      let tokenOwner = change.change.subject.flatMap { entry.tokenOwners[$0.originalTransactionID] }
      try emit(
        change.change, to: customer, by: change.cause == .time ? .time : entry.origin,
        with: tokenOwner.map { Counterparty(role: .tokenOwner, customerID: $0) })
    }
    let contradictions = diff.contradictions
    for contradiction in diff.new(among: contradictions) {
      derived.effects.append(.contradictionFound(contradiction.kind))
    }
    let complete = try answers.addingEvidence { fact throws(StoreError) in
      if let evidence = changes.evidence(of: fact, of: customer) { return evidence }
      return try store.evidence(of: fact, of: customer)
    }
    return (complete, !contradictions.isEmpty)
  }

  private mutating func facts(
    of customer: CustomerKey, _ before: CustomerFacts?, _ entry: ChangeSet.AffectedCustomer
  ) throws(StoreError) -> CustomerFacts {
    var facts = entry.needsRebuild ? CustomerFacts() : before ?? CustomerFacts()
    for line in entry.needsRebuild ? try store.lines(of: customer) : Array(entry.lines) {
      if let known = knownFacts[line] {
        facts.merge(known)
      } else if before != nil, let new = try incrementalFacts(of: line, entry) {
        facts.merge(new)
        knownFacts[line] = facts.ofLine(line.lineID)
      } else {
        let whole = try lines.facts(of: line)
        facts.merge(whole)
        if line.isPurchase { knownFacts[line] = whole }
      }
    }
    return facts
  }

  /// The new facts of a line, if it was linked before and no seat alters them: the customer has all others.
  mutating func incrementalFacts(
    of line: LineKey, _ entry: ChangeSet.AffectedCustomer
  ) throws(StoreError) -> CustomerFacts? {
    guard !entry.needsRebuild, !entry.linkedLines.contains(line), let new = changes.newFacts[line] else {
      return nil
    }
    return try lines.seats(of: line).isEmpty ? new : nil
  }

  private func reschedulePolls() throws(StoreError) {
    for line in changes.newFacts.keys {
      let facts = if let known = knownFacts[line] ?? tails[line] { known } else { try store.facts(of: line) }
      try store.reschedulePoll(of: line) { PollSchedule.next(facts, polledAt: $0) }
    }
  }
}

extension Derivation {
  /// Lets the reports follow the lines with new facts or other owners, beside the path of the write.
  private func enqueueForReports() throws(StoreError) {
    for (line, evidence) in changes.newestEvidence where line.isPurchase {
      try store.enqueueForReports(line, from: evidence)
    }
    for (line, evidence) in lines.relinked where line.isPurchase && changes.newestEvidence[line] == nil {
      try store.enqueueForReports(line, from: evidence)
    }
  }
}

extension Derivation {
  /// Updates the states of the purchases with new facts or other owners, by which segments select them.
  private mutating func updatePurchaseStates() throws(StoreError) {
    let touched = Set(lines.relinked.keys).union(changes.newestEvidence.keys)
    for line in touched.sorted(by: { $0.lineID < $1.lineID }) where line.isPurchase {
      let update = PurchaseStateUpdate(
        line, in: catalog.definition(of: line.appID), store: store, at: now,
        evidence: changes.newestEvidence[line])
      // A purchase with so many periods that only the last ones were read is not read as a whole in each write.
      if knownFacts[line] == nil, tails[line] != nil, lines.relinked[line] == nil, try update.postpone() {
        continue
      }
      let facts = if let known = knownFacts[line] { known } else { try store.facts(of: line) }
      knownFacts[line] = facts
      derived.events += try update.run(facts, owners: try lines.owners(of: line))
    }
  }
}

// Events.
extension Derivation {
  private mutating func emit(
    _ change: EntitlementChange, to customer: CustomerKey, by origin: ChangeOrigin,
    with counterparty: Counterparty? = nil
  ) throws(StoreError) {
    let event = NewEvent(
      customer: customer, change: change, recordedAt: now, evidenceID: origin.evidence, actor: origin.actor,
      counterparty: counterparty)
    derived.events.append(try store.append(event))
  }

  private mutating func emitInformationalEvents() throws(StoreError) {
    for event in changes.informationalEvents {
      switch event.subject {
      case .customer(let customer):
        try emit(
          .withoutEntitlement(event.kind, nil, at: event.effectiveAt ?? now), to: customer, by: event.origin)
      case .owners(let line):
        let purchase = try LinePurchase(line, event.transactionID, in: store, catalog)
        for owner in try lines.owners(of: line) {
          try emitInformational(
            event.kind, purchase, to: line.customer(owner), event.origin, event.effectiveAt)
        }
      }
    }
  }

  /// Records failed claims in the timelines of the owners and the claimant.
  private mutating func emitDisputes() throws(StoreError) {
    for dispute in changes.disputes {
      let origin = ChangeOrigin(cause: .ownership, evidence: dispute.evidence)
      let purchase = try LinePurchase(dispute.line, "", in: store, catalog)
      let claimant = Counterparty(role: .claimant, customerID: dispute.claimant.customerID)
      for owner in dispute.owners {
        try emitInformational(
          .claimedByAnother, purchase, to: dispute.line.customer(owner), origin, with: claimant)
      }
      let owner = dispute.owners.first.map { Counterparty(role: .owner, customerID: $0) }
      try emitInformational(.claimRefused, purchase, to: dispute.claimant, origin, with: owner)
    }
  }

  /// Emits an event that changes no answer, for each entitlement that the purchase grants; one event without an
  /// entitlement if it grants none.
  ///
  /// It repeats the answer of the last event: a receiver that applies events in their order must not return to
  /// the state of `effectiveAt`, which may be long past.
  private mutating func emitInformational(
    _ kind: EntitlementChange.Kind, _ purchase: LinePurchase, to customer: CustomerKey,
    _ origin: ChangeOrigin,
    _ effectiveAt: Instant? = nil, with counterparty: Counterparty? = nil
  ) throws(StoreError) {
    let effectiveAt = effectiveAt ?? now
    guard !purchase.entitlements.isEmpty else {
      let change = EntitlementChange.withoutEntitlement(kind, purchase.subject, at: effectiveAt)
      return try emit(change, to: customer, by: origin, with: counterparty)
    }
    let recorded = try store.customer(customer)?.answers
    for entitlement in purchase.entitlements {
      let status =
        if let recorded, let status = try recorded.status(of: entitlement, at: recorded.start) {
          status
        } else {
          try status(of: entitlement, customer)
        }
      try emit(
        EntitlementChange(
          entitlement: entitlement, kind: kind, effectiveAt: effectiveAt, before: status, after: status,
          subject: purchase.subject),
        to: customer, by: origin, with: counterparty)
    }
  }

  private func status(
    of entitlement: String, _ customer: CustomerKey
  ) throws(StoreError) -> EntitlementStatus {
    let app = catalog.definition(of: customer.appID)
    return evaluate(
      try store.facts(of: customer, in: app, at: now), entitlement: entitlement, in: app, at: now)
  }
}

/// The purchase that an informational event is about.
private struct LinePurchase {
  /// `nil` if no transaction of the line is stored.
  let subject: EventSubject?
  /// The entitlements that its product grants.
  let entitlements: [String]

  /// The transaction with this id; the latest one of the line if `transactionID` is empty or not stored.
  init(
    _ line: LineKey, _ transactionID: String, in store: any StoreTransaction, _ catalog: Catalog
  ) throws(StoreError) {
    let transactions = try store.facts(of: line).transactions
    let fact = transactions.first { $0.transactionID == transactionID } ?? transactions.last
    subject = fact.map(EventSubject.init)
    entitlements =
      fact.flatMap { catalog.definition(of: line.appID).products[$0.productID] }?.entitlements ?? []
  }
}

// Erasure, after the last events of the customer.
extension Derivation {
  private mutating func erase() throws(StoreError) {
    let people = changes.erasures.filter { !$0.isReplayed }
    var ownLines: [LineKey] = []
    for line in people.flatMap(\.lines) where try lines.owners(of: line).isEmpty { ownLines.append(line) }
    let redaction = DocumentRedaction(
      customers: Dictionary(
        people.map { ($0.customer.customerID, $0.pseudonym) }, uniquingKeysWith: { first, _ in first }),
      tokens: changes.erasedTokens, lines: Set(ownLines))
    for erasure in people { derived.erasedRows += try redact(erasure, redaction) }
    for line in ownLines {
      derived.erasedRows += try store.eraseRequestIDs(of: line) + store.eraseInstallations(of: line)
    }
    for erasure in changes.erasures {
      let (customer, pseudonym) = (erasure.customer, erasure.pseudonym)
      derived.erasedRows += erasure.rows + (try store.erase(customer, as: pseudonym))
      try emit(
        .withoutEntitlement(.customerErased, nil, at: now), to: customer.other(pseudonym),
        by: ChangeOrigin(cause: .ownership, evidence: erasure.evidence, actor: erasure.actor))
    }
    derived.erasedNames = redaction.names
  }

  /// Removes the person from the evidence that names the customer, and from that about the customer's lines.
  ///
  /// - Returns: the number of changed pieces.
  private func redact(
    _ erasure: ChangeSet.Erasure, _ redaction: DocumentRedaction
  ) throws(StoreError) -> Int64 {
    var found: [EvidenceID: (stored: StoredEvidence, isOfPerson: Bool)] = [:]
    for stored in try store.evidence(naming: erasure.customer) { found[stored.id] = (stored, true) }
    for line in erasure.lines {
      for stored in try store.evidence(about: line) where found[stored.id] == nil {
        found[stored.id] = (stored, stored.evidence.customerID == nil && redaction.lines.contains(line))
      }
    }
    var count: Int64 = 0
    for (id, (stored, isOfPerson)) in found.sorted(by: { $0.key < $1.key }) {
      guard let content = redaction.content(of: stored, isOfPerson: isOfPerson) else { continue }
      try store.replace(id, with: content)
      count += 1
    }
    return count
  }
}
