internal import AppStore
internal import Entitlements
internal import Ledger
internal import Platform
internal import Reports
internal import Store

/// The payers whose postings one write derives. It derives each payer once, whichever of its purchases are queued or
/// due, and collects the new postings until ``finish()`` appends them together.
struct ReportBatch {
  let store: any StoreTransaction
  let catalog: Catalog
  /// The time of the derivation, by the clock of the batch's environments.
  let now: Instant
  /// The purchases of the payers that the batch has derived.
  private var done: Set<LineKey> = []
  /// The purchases of the payer of each purchase that is to be derived.
  private var payers: [LineKey: [DerivationStart]] = [:]
  /// The states that the batch wrote of payers with several purchases, whose other purchases may follow.
  private var written: [LineKey: ReportLineState] = [:]
  /// The purchases whose evidence is removed from the queue together.
  private var removed: Set<LineKey> = []
  /// The queued evidence of those purchases whose evidence is known.
  private var queue: [LineKey: [PendingReportEvidence]] = [:]
  /// Whether no evidence about other purchases is queued.
  private var isWholeQueue = false
  /// The postings to append, in the order of their derivation.
  var new: [NewPostings] = []
  /// The closings of each app and environment; none before its first posting.
  var calendars: [AppEnvironment: ReportCalendar] = [:]
  /// The time from the end of a day of each app until it closes.
  let delays: [String: Int64]

  /// Starts a batch inside a write. It reads the calendars of the environments of `clock`.
  init(store: any StoreTransaction, catalog: Catalog, clock: ServiceClock) throws(StoreError) {
    self.store = store
    self.catalog = catalog
    now = clock.now()
    delays = Dictionary(
      catalog.appIDs.map { ($0, catalog.definition(of: $0).reports.closeAfter) }, uniquingKeysWith: { $1 })
    for calendar in try store.reportCalendars(in: clock.domain) {
      calendars[AppEnvironment(appID: calendar.appID, environment: calendar.environment)] = calendar
    }
  }

  /// Derives the payers of the first queued purchases after `last`; `nil` begins.
  ///
  /// - Returns: the last purchase, and whether the queue ends there.
  mutating func deriveQueued(
    after last: LineKey?, in domain: ClockDomain, limit: Int
  ) throws(StoreError) -> (last: LineKey?, isEnd: Bool) {
    let queued = try store.queuedPurchases(in: domain, after: last, limit: limit)
    guard queued.allSatisfy({ calendars[$0.start.line.appEnvironment] != nil }) else {
      return (last, try deriveFirstQueued(in: domain, limit: limit))
    }
    let isEnd = queued.reduce(0) { $0 + $1.evidence.count } < limit
    isWholeQueue = isEnd && last == nil
    for purchase in queued {
      queue[purchase.start.line] = purchase.evidence
      removed.insert(purchase.start.line)
    }
    guard let end = queued.last?.start.line else { return (last, isEnd) }
    // The page may end within the evidence about its last purchase.
    if !isEnd { queue[end] = nil }
    try derive(queued.map(\.start))
    try store.removeQueuedPurchases(in: domain, after: last, through: end)
    return (end, isEnd)
  }

  /// Derives the payers of the evidence that arrived first, because the first posting of an app opens its calendar.
  ///
  /// - Returns: whether the queue ends there.
  private mutating func deriveFirstQueued(in domain: ClockDomain, limit: Int) throws(StoreError) -> Bool {
    let queued = try store.reportQueue(in: domain, limit: limit)
    isWholeQueue = queued.count < limit
    if isWholeQueue { queue = Dictionary(grouping: queued, by: \.line) }
    let lines = queued.map(\.line)
    try prepare(lines, payersOf: Set(lines))
    for line in lines { try derive(line) }
    return isWholeQueue
  }

  /// Derives the payers of purchases.
  mutating func derive(_ purchases: [DerivationStart]) throws(StoreError) {
    var shared: Set<LineKey> = []
    for purchase in purchases {
      if purchase.isOnlyOfPayer {
        payers[purchase.line] = [purchase]
      } else if !done.contains(purchase.line) {
        shared.insert(purchase.line)
      }
    }
    let lines = purchases.map(\.line)
    try prepare(lines, payersOf: shared)
    for line in lines { try derive(line) }
  }

  /// Reads the input of the derivations of purchases together, because each read costs a round trip across a network.
  ///
  /// - unknown: the purchases whose payers are not in ``payers``.
  private mutating func prepare(
    _ lines: [LineKey], payersOf unknown: Set<LineKey>
  ) throws(StoreError) {
    var all = lines
    if !unknown.isEmpty {
      for (line, purchases) in try store.payers(of: unknown) {
        payers[line] = purchases
        all += purchases.map(\.line)
      }
    }
    if !isWholeQueue {
      let unread = Set(all.filter { queue[$0] == nil })
      if !unread.isEmpty {
        for (line, evidence) in try store.pendingReportEvidence(of: unread) { queue[line] = evidence }
      }
    }
    try store.prepareFacts(of: all)
  }

  /// The queued evidence about purchases, in its order.
  private func pending(_ lines: [LineKey]) -> [PendingReportEvidence] {
    if lines.count == 1, let line = lines.first { return queue[line] ?? [] }
    return lines.flatMap { queue[$0] ?? [] }.sorted { $0.id < $1.id }
  }

  /// Derives the payer of a purchase from the evidence that is queued, and as of the instants at which time alone
  /// changed something.
  private mutating func derive(_ line: LineKey) throws(StoreError) {
    guard !done.contains(line), let purchases = payers[line] else { return }
    let lines = purchases.map(\.line)
    done.formUnion(lines)
    let pending = pending(lines)
    var payer = try state(of: purchases)
    if try spansDays(pending, payer.due, of: line) {
      try deriveInSteps(pending, &payer)
    } else {
      let facts = try facts(of: lines)
      if let last = pending.last {
        try derive([(lines, facts)], at: last.knownAt, RevisionCause(pending), &payer)
      }
      try advance([(lines, facts)], to: now, &payer)
    }
    try complete(payer)
  }

  /// Appends the postings of all payers of the batch. Without this call, the batch changes only the states and the
  /// queue, so a caller must end with it.
  func finish() throws(StoreError) { try store.append(new) }

  /// Derives the payers of purchases under a catalog that took effect at `change`. A payer with queued evidence is left
  /// out: ``deriveQueued(after:in:limit:)`` derives it with the cause of the evidence.
  mutating func review(_ lines: [LineKey], since change: Instant) throws(StoreError) {
    try prepare(lines, payersOf: Set(lines))
    for line in lines { try review(line, since: change) }
  }

  private mutating func review(_ line: LineKey, since change: Instant) throws(StoreError) {
    guard !done.contains(line), let purchases = payers[line] else { return }
    let lines = purchases.map(\.line)
    done.formUnion(lines)
    // Queued evidence is derived apart, with its cause.
    guard pending(lines).isEmpty else { return }
    var payer = try state(of: purchases)
    try derive([(lines, try facts(of: lines))], at: change, .catalogChanged, &payer)
    try complete(payer)
  }

  /// The stored state of a payer, or the one that the batch wrote before.
  private func state(of purchases: [DerivationStart]) throws(StoreError) -> PayerState {
    var payer = PayerState(lines: purchases.map(\.line))
    // Most payers are derived once in a batch, which then has no earlier postings of them.
    payer.firstAppended = purchases.contains { written[$0.line] != nil } ? 0 : new.count
    for purchase in purchases {
      let line = purchase.line
      let state = written[line] ?? purchase.state
      payer.standing.append(state.standing)
      payer.claims[line.lineID] =
        if let claims = purchase.claims { claims } else { try store.claims(of: line) }
      if purchase.hasRefundRequests {
        payer.requests.append(try KnownRefundRequests(about: line, in: store))
      }
      if !line.isPurchase { payer.consents = try KnownConsents(ofInstall: line, in: store) }
      payer.due = [payer.due, state.due].compactMap(\.self).min()
      payer.stored.append(state)
    }
    return payer
  }

  /// The facts about all purchases of a payer together.
  private func facts(of lines: [LineKey]) throws(StoreError) -> CustomerFacts {
    guard let first = lines.first else { return CustomerFacts() }
    var facts = try store.facts(of: first)
    for line in lines.dropFirst() { facts.merge(try store.facts(of: line)) }
    return facts
  }

  /// Stores the state of a payer, if it has changed, and removes its evidence from the queue.
  private mutating func complete(_ payer: PayerState) throws(StoreError) {
    for (index, line) in payer.lines.enumerated() {
      if !removed.contains(line), let derived = queue[line], !derived.isEmpty {
        try store.removeReportEvidence(of: line)
      }
      let state = ReportLineState(due: index == 0 ? payer.due : nil, standing: payer.standing[index])
      if state != payer.stored[index] { try store.put(state, of: line) }
      if payer.lines.count > 1 { written[line] = state }
    }
  }
}
