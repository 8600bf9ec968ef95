internal import AppStore
internal import Entitlements
internal import FamilySharing
internal import Store

/// What follows from evidence, worked out inside the write that keeps it: facts, whose they are, the new
/// answers, and the events.
///
/// Submissions, commands, time and replay all come through here, so that the same evidence in the same
/// order always gives the same state. Evidence is applied piece by piece; then ``finish()`` looks once at
/// each customer who may have changed.
final class Derivation {
  /// Where a change comes from.
  struct Origin {
    let cause: ChangeCause
    /// `nil` if time alone did it.
    let evidence: EvidenceID?
    /// Empty if nobody of the operator's did it.
    var actor = ""
  }

  private struct Pending {
    var origin: Origin
    /// What is known of these lines is to be added to the customer's facts.
    var lines: Set<LineKey> = []
    /// Those of them that were not the customer's before.
    var given: Set<LineKey> = []
    /// Something may have been taken away: the facts are put together anew.
    var isAnew = false
  }

  let store: any StoreTransaction
  let now: Instant
  let catalog: Catalog
  private var pending: [CustomerKey: Pending] = [:]
  /// In the order in which they were touched, which is the order of their events.
  private var order: [CustomerKey] = []
  private(set) var events: [StoredEvent] = []
  /// What Apple said that is new, by line. The question when to ask it next about that has another answer.
  private var news: [LineKey: CustomerFacts] = [:]
  /// How many documents said something new.
  private(set) var newFacts = 0
  /// What became of the last notification.
  private(set) var notification: NotificationRecord?
  /// Whose the lines are that were looked at, until one changes hands: each document of a notification asks.
  private var owners: [LineKey: [String]] = [:]
  /// What was related last, and the last purchase without seats: the next document is mostly about the same.
  private var related: (evidence: EvidenceID, line: LineKey)?
  private var seatless: LineKey?

  init(_ store: any StoreTransaction, catalog: Catalog, now: Instant) {
    self.store = store
    self.catalog = catalog
    self.now = now
  }

  /// The customer's facts of `line`, or all, may have become others. The first origin counts.
  func touch(_ customer: CustomerKey, line: LineKey? = nil, anew: Bool = false, by origin: Origin) {
    change(customer, by: origin) { entry in
      if let line { entry.lines.insert(line) }
      entry.isAnew = entry.isAnew || anew
    }
  }

  /// The customer has a line that was not the customer's before.
  func touch(_ customer: CustomerKey, given line: LineKey, by origin: Origin) {
    change(customer, by: origin) { entry in
      entry.lines.insert(line)
      entry.given.insert(line)
    }
  }

  private func change(_ customer: CustomerKey, by origin: Origin, _ body: (inout Pending) -> Void) {
    if pending[customer] == nil { order.append(customer) }
    body(&pending[customer, default: Pending(origin: origin)])
  }

  /// A signed transaction about `line` was taken in; it may have been known.
  func hear(_ fact: TransactionFact, of line: LineKey, isNew: Bool) {
    count(isNew)
    if isNew { news[line, default: CustomerFacts()].insert(fact) }
  }

  /// A renewal info about `line` was taken in; it may have been known.
  func hear(_ fact: RenewalFact, of line: LineKey, isNew: Bool) {
    count(isNew)
    if isNew { news[line, default: CustomerFacts()].insert(fact) }
  }

  /// Whose a line is.
  func owners(of line: LineKey) throws(StoreError) -> [String] {
    if let known = owners[line] { return known }
    let found = try store.owners(of: line)
    owners[line] = found
    return found
  }

  /// Writes that evidence is about a line.
  func relate(_ evidence: EvidenceID, to line: LineKey) throws(StoreError) {
    guard related?.evidence != evidence || related?.line != line else { return }
    try store.relate(evidence, to: line)
    related = (evidence, line)
  }

  /// The seats of a purchase.
  func seats(of purchase: LineKey) throws(StoreError) -> [Seat] {
    guard purchase != seatless else { return [] }
    let seats = try store.seats(of: purchase)
    if seats.isEmpty { seatless = purchase }
    return seats
  }

  /// Writes a seat of a purchase.
  func put(_ seat: Seat, of purchase: LineKey, from evidence: EvidenceID) throws(StoreError) {
    seatless = nil
    try store.put(seat, of: purchase, from: evidence)
  }

  /// Writes that a line was given or taken.
  func record(_ change: OwnershipChange) throws(StoreError) {
    owners[change.line] = nil
    try store.record(change)
  }

  /// Writes what became of a notification.
  func put(_ record: NotificationRecord) throws(StoreError) {
    notification = record
    try store.put(record)
  }

  /// A document was taken in; it may have been known.
  func count(_ isNew: Bool) {
    if isNew { newFacts += 1 }
  }

  /// Brings every customer that was touched up to date, and what is to be asked of Apple.
  func finish() throws(StoreError) {
    var told: [LineKey: CustomerFacts] = [:]
    for customer in order {
      guard let entry = pending[customer] else { continue }
      try update(customer, entry, &told)
    }
    for line in news.keys {
      let facts = if let known = told[line] { known } else { try store.facts(of: line) }
      try store.reschedulePoll(of: line) { PollSchedule.next(facts, askedAt: $0) }
    }
    news = [:]
    order = []
    pending = [:]
  }

  /// The app as it is configured.
  func app(_ id: String) -> AppDefinition { catalog.definition(of: id) }

  /// `told` are the facts of purchase lines that are known already.
  private func update(
    _ customer: CustomerKey, _ entry: Pending, _ told: inout [LineKey: CustomerFacts]
  ) throws(StoreError) {
    let app = app(customer.appID)
    let known = try store.customer(customer)
    let facts = try facts(of: customer, known?.facts, entry, &told)
    let isLookedAtAnyway = entry.origin.cause == .time || entry.origin.cause == .catalog
    guard known == nil || facts != known?.facts || isLookedAtAnyway else { return }
    let changes = try StateDiff(known, facts, in: app, at: now, by: entry.origin.cause).changes()
    for change in changes {
      let isOfTime = change.cause == .time
      try tell(
        change.change, to: customer,
        by: isOfTime ? Origin(cause: .time, evidence: nil) : entry.origin)
    }
    if entry.origin.cause == .evidence { countContradictions(facts, known?.facts, in: app) }
    let answers = try PrecomputedAnswers(facts, in: app, from: now).resting { fact throws(StoreError) in
      try store.evidence(of: fact, of: customer)
    }
    try store.putFacts(facts, answers: answers, of: customer)
  }

  /// Only where a document came: a command brings no facts of Apple's, and may be a rehearsal.
  private func countContradictions(
    _ facts: CustomerFacts, _ known: CustomerFacts?, in app: AppDefinition
  ) {
    let found = Contradiction.all(facts, in: app, at: now)
    guard !found.isEmpty else { return }
    ContradictionMetrics.count(
      found, known: known.map { Contradiction.all($0, in: app, at: now) } ?? [])
  }

  private func facts(
    of customer: CustomerKey, _ known: CustomerFacts?, _ entry: Pending,
    _ told: inout [LineKey: CustomerFacts]
  ) throws(StoreError) -> CustomerFacts {
    var facts = entry.isAnew ? CustomerFacts() : known ?? CustomerFacts()
    for line in entry.isAnew ? try store.lines(of: customer) : Array(entry.lines) {
      if let told = told[line] {
        facts.merge(told)
      } else if known != nil, let news = try allThatIsMissing(of: line, entry) {
        facts.merge(news)
        told[line] = facts.ofLine(line.originalTransactionID)
      } else {
        let whole = try self.facts(of: line)
        facts.merge(whole)
        if line.isPurchase { told[line] = whole }
      }
    }
    return facts
  }

  /// What was said of a line now, if all that was said of it before is among the customer's facts: it was the
  /// customer's, and no seat makes something else of it.
  private func allThatIsMissing(of line: LineKey, _ entry: Pending) throws(StoreError) -> CustomerFacts? {
    guard !entry.isAnew, !entry.given.contains(line), let news = news[line] else { return nil }
    return try seats(of: line).isEmpty ? news : nil
  }

  /// Writes an event.
  func tell(_ change: EntitlementChange, to customer: CustomerKey, by origin: Origin) throws(StoreError) {
    let event = NewEvent(
      customer: customer, change: change, recordedAt: now, evidenceID: origin.evidence, actor: origin.actor)
    events.append(try store.append(event))
  }
}
