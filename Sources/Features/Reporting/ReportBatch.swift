internal import AppStore
internal import Entitlements
internal import Ledger
internal import Platform
internal import Reports
internal import Store

/// The payers whose postings one write derives.
struct ReportBatch {
  let store: any StoreTransaction
  let catalog: Catalog
  let now: Instant
  private var done: Set<LineKey> = []
  /// The input of the derivations, as far as it was read together.
  private var starts: [LineKey: DerivationStart] = [:]
  /// The purchases whose evidence is removed from the queue together.
  private var removed: Set<LineKey> = []
  /// The queued evidence of those purchases whose evidence is known.
  private var queue: [LineKey: [PendingReportEvidence]] = [:]
  /// Whether no evidence about other purchases is queued.
  private var isWholeQueue = false
  var new: [NewPostings] = []
  var calendars: [CalendarKey: ReportCalendar] = [:]
  /// The time from the end of a day of each app until it closes.
  let delays: [String: Int64]

  /// One environment of an app.
  struct CalendarKey: Hashable {
    let appID: String
    let environment: Environment

    init(_ line: LineKey) { (appID, environment) = (line.appID, line.environment) }

    init(_ calendar: ReportCalendar) {
      (appID, environment) = (calendar.appID, calendar.environment)
    }
  }

  init(store: any StoreTransaction, catalog: Catalog, clock: ServiceClock) throws(StoreError) {
    self.store = store
    self.catalog = catalog
    now = clock.now()
    delays = Dictionary(
      catalog.appIDs.map { ($0, catalog.definition(of: $0).reports.closeAfter) }, uniquingKeysWith: { $1 })
    for calendar in try store.reportCalendars(in: clock.domain) {
      calendars[CalendarKey(calendar)] = calendar
    }
  }

  /// Derives the payers of the first queued purchases after `last`; `nil` begins.
  ///
  /// - Returns: the last purchase, and whether the queue ends there.
  mutating func deriveQueued(
    after last: LineKey?, in domain: ClockDomain, limit: Int
  ) throws(StoreError) -> (last: LineKey?, isEnd: Bool) {
    let queued = try store.queuedPurchases(in: domain, after: last, limit: limit)
    guard queued.allSatisfy({ calendars[CalendarKey($0.start.line)] != nil }) else {
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
    for evidence in queued { try derive(evidence.line) }
    return isWholeQueue
  }

  /// Derives the payers of purchases.
  mutating func derive(_ purchases: [DerivationStart]) throws(StoreError) {
    for purchase in purchases where !done.contains(purchase.line) { starts[purchase.line] = purchase }
    try store.prepareFacts(of: purchases.map(\.line))
    for purchase in purchases { try derive(purchase.line) }
  }

  /// Returns the queued evidence about a purchase, in its order.
  private mutating func pending(_ line: LineKey) throws(StoreError) -> [PendingReportEvidence] {
    if let known = queue[line] { return known }
    let found = isWholeQueue ? [] : try store.pendingReportEvidence(of: line)
    queue[line] = found
    return found
  }

  /// Derives the payer of a purchase from the evidence that is queued, and as of the instants at which time alone
  /// changed something.
  private mutating func derive(_ line: LineKey) throws(StoreError) {
    guard !done.contains(line) else { return }
    let lines = if starts[line]?.isOnlyOfPayer == true { [line] } else { try store.linesOfPayer(of: line) }
    done.formUnion(lines)
    var pending: [PendingReportEvidence] = []
    for line in lines { pending += try self.pending(line) }
    if lines.count > 1 { pending.sort { $0.id < $1.id } }
    var payer = try state(of: lines)
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

  /// Appends what all payers of the batch gained.
  func finish() throws(StoreError) { try store.append(new) }

  /// Derives the payer of a purchase under a catalog that took effect at `change`.
  mutating func review(_ line: LineKey, since change: Instant) throws(StoreError) {
    guard !done.contains(line) else { return }
    let lines = try store.linesOfPayer(of: line)
    done.formUnion(lines)
    // Queued evidence is derived apart, with its cause.
    for line in lines { guard try pending(line).isEmpty else { return } }
    var payer = try state(of: lines)
    try derive([(lines, try facts(of: lines))], at: change, .catalogChanged, &payer)
    try complete(payer)
  }

  private func state(of lines: [LineKey]) throws(StoreError) -> PayerState {
    var payer = PayerState(lines: lines)
    for line in lines {
      let known = starts[line]
      let state = if let known { known.state } else { try store.reportState(of: line) }
      payer.standing[line.lineID] = state.standing
      payer.claims[line.lineID] = if let claims = known?.claims { claims } else { try store.claims(of: line) }
      if known?.hasRefundRequests ?? true {
        payer.requests.append(try KnownRefundRequests(about: line, in: store))
      }
      if !line.isPurchase { payer.consents = try KnownConsents(ofInstall: line, in: store) }
      payer.due = [payer.due, state.due].compactMap(\.self).min()
      payer.stored[line] = state
    }
    return payer
  }

  private func facts(of lines: [LineKey]) throws(StoreError) -> CustomerFacts {
    guard let first = lines.first else { return CustomerFacts() }
    var facts = try store.facts(of: first)
    for line in lines.dropFirst() { facts.merge(try store.facts(of: line)) }
    return facts
  }

  private func complete(_ payer: PayerState) throws(StoreError) {
    for (index, line) in payer.lines.enumerated() {
      if !removed.contains(line), let derived = queue[line], !derived.isEmpty {
        try store.removeReportEvidence(of: line)
      }
      let state = ReportLineState(
        due: index == 0 ? payer.due : nil, standing: payer.standing[line.lineID] ?? [])
      if state != payer.stored[line] { try store.put(state, of: line) }
    }
  }
}
