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
  var derived = Derived()
  /// The cached facts of purchases.
  var knownFacts: [LineKey: CustomerFacts] = [:]
  /// The last facts of long lines. The earlier facts of these lines were not read.
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
    var changes = applier.changes
    changes.complete()
    self.changes = changes
    derived.notification = changes.notification
    derived.events = changes.events
    derived.effects = changes.effects
  }

  /// Compares a customer with the stored state, records the events and stores facts and answers. Nothing is
  /// written if no answer can have changed.
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

  /// The facts of a customer after the changes: the stored ones with the new facts, or all of the lines
  /// again if a line was lost or gained.
  private mutating func facts(
    of customer: CustomerKey, _ before: CustomerFacts?, _ entry: ChangeSet.AffectedCustomer
  ) throws(StoreError) -> CustomerFacts {
    var facts = entry.needsRebuild ? CustomerFacts() : before ?? CustomerFacts()
    let lines = entry.needsRebuild ? try store.lines(of: customer) : Array(entry.lines)
    // In the order of the facts, so that thousands of new lines are appended.
    for line in lines.sorted(by: { $0.lineID < $1.lineID }) {
      if let known = knownFacts[line] {
        facts.merge(known)
      } else if before != nil, let new = try incrementalFacts(of: line, entry) {
        facts.merge(new)
        knownFacts[line] = facts.ofLine(line.lineID)
      } else {
        let whole = try self.lines.facts(of: line)
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

extension FactApplier {
  /// Writes the answers and events of all that was applied so far. What is applied next is compared with that state.
  mutating func derive() throws(StoreError) {
    let queuedTokens = changes.queuedTokens
    let derived = try Derivation.run(self)
    self = FactApplier(store, catalog: catalog, now: now)
    changes.queuedTokens = queuedTokens
    changes.events = derived.events
    changes.effects = derived.effects
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
  /// Updates the states of the purchases with new facts, other owners or a withdrawn consent, by which segments select
  /// them.
  private mutating func updatePurchaseStates() throws(StoreError) {
    let touched = Set(lines.relinked.keys).union(changes.newestEvidence.keys)
      .union(changes.withdrawnConsents.keys)
    for line in touched.sorted(by: { $0.lineID < $1.lineID }) where line.isPurchase {
      let update = PurchaseStateUpdate(
        line, in: catalog.definition(of: line.appID), store: store, at: now,
        evidence: changes.newestEvidence[line] ?? changes.withdrawnConsents[line])
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
