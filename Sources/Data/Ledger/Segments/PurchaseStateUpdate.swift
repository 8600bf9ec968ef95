internal import AppStore
internal import Entitlements
internal import Store

/// Brings the stored state of one purchase up to date, and records which saved segments it enters or leaves.
///
/// The events of a segment give its members: the owners of the purchase states that match as of
/// ``SavedSegment/evaluatedAt``. A write changes the state and not that instant; ``SegmentAdvance`` changes the instant
/// and not the state. So each event is the difference of two such sets, and no purchase enters twice without leaving.
struct PurchaseStateUpdate {
  let line: LineKey
  private let app: AppDefinition
  private let store: any StoreTransaction
  private let now: Instant
  private let evidence: EvidenceID?

  init(
    _ line: LineKey, in app: AppDefinition, store: any StoreTransaction, at now: Instant,
    evidence: EvidenceID? = nil
  ) {
    self.line = line
    self.app = app
    self.store = store
    self.now = now
    self.evidence = evidence
  }

  /// Stores the state that `facts` have at `instant`, by default now, and returns the appended events.
  func run(
    _ facts: CustomerFacts, owners: [String], at instant: Instant? = nil
  ) throws(StoreError) -> [StoredEvent] {
    let instant = instant ?? now
    let known = try store.purchaseStates(of: line)
    // Read only for apps whose answers depend on it.
    let whole = app.rescindConsent == .endAccess ? try store.withAppInstalls(facts, of: line) : facts
    let state = PurchaseState(whole, in: app, at: instant)
    let customers = state == nil ? [] : owners.isEmpty ? [""] : owners
    var events: [StoredEvent] = []
    for old in known where !old.customer.isAmong(customers) {
      try store.delete(old)
      events += try recordDifference(old, nil, facts, at: instant)
    }
    guard let state else { return events }
    for customer in customers.sorted() {
      let new = StoredPurchaseState(line: line, customerID: customer, state: state)
      let old = known.first { $0.customer == new.customer }
      guard new != old else { continue }
      try store.put(new, known: old)
      events += try recordDifference(old, new, facts, at: instant)
    }
    return events
  }

  /// Leaves the state to ``DueWorker/segments(_:store:clock:)``, which evaluates it as soon as it can.
  ///
  /// - Returns: whether there is a state.
  func postpone() throws(StoreError) -> Bool {
    let known = try store.purchaseStates(of: line)
    for old in known where old.state.validUntil.map({ $0 > now }) ?? true {
      var state = old.state
      state.validUntil = now
      try store.put(StoredPurchaseState(line: line, customerID: old.customerID, state: state), known: old)
    }
    return !known.isEmpty
  }

  /// Records an event for each saved segment that the purchase entered or left: by time alone while it had the old state,
  /// and by the new one.
  private func recordDifference(
    _ old: StoredPurchaseState?, _ new: StoredPurchaseState?, _ facts: CustomerFacts, at instant: Instant
  ) throws(StoreError) -> [StoredEvent] {
    var events: [StoredEvent] = []
    for segment in try store.segments(of: line.appEnvironment) {
      var isMember = old.map(segment.hasMember) ?? false
      for (crossing, state) in crossings(of: segment, old, new, before: instant) {
        isMember.toggle()
        let event = NewEvent(
          isMember ? .segmentEntered : .segmentLeft, segment, state, facts, at: crossing, recordedAt: now)
        events.append(try store.append(event))
      }
      let after = new.map(segment.hasMember) ?? false
      guard isMember != after, let stored = new ?? old else { continue }
      let event = NewEvent(
        after ? .segmentEntered : .segmentLeft, segment, stored, facts, at: instant, recordedAt: now,
        evidence: evidence)
      events.append(try store.append(event))
    }
    return events
  }

  /// The instants at which time alone moved the purchase into a segment or out of it while it had the old state.
  /// ``SegmentAdvance`` records them unless a write comes first. It still records those that the new state has, too.
  private func crossings(
    of segment: SavedSegment, _ old: StoredPurchaseState?, _ new: StoredPurchaseState?,
    before instant: Instant
  ) -> [(Instant, StoredPurchaseState)] {
    guard let old else { return [] }
    let end = min(instant, old.state.validUntil ?? instant).advanced(byMilliseconds: -1)
    let crossings = segment.crossings(of: old, upTo: end)
    if let new, segment.crossings(of: new, upTo: end) == crossings { return [] }
    return crossings.map { ($0, old) }
  }
}

extension SavedSegment {
  /// The instants after the last evaluation at which time alone makes a purchase with this state a member, or no longer,
  /// in order.
  func crossings(of purchase: StoredPurchaseState, upTo end: Instant) -> [Instant] {
    var isMember = hasMember(purchase)
    return conditions.thresholds(of: purchase.state, after: evaluatedAt, upTo: end).filter { instant in
      let wasMember = isMember
      isMember = hasMember(purchase, at: instant)
      return isMember != wasMember
    }
  }

  /// Whether a purchase with this state is a member, as of the last evaluation.
  func hasMember(_ purchase: StoredPurchaseState) -> Bool { hasMember(purchase, at: evaluatedAt) }

  func hasMember(_ purchase: StoredPurchaseState, at instant: Instant) -> Bool {
    conditions.matches(purchase.state, isUnclaimed: purchase.isUnclaimed, at: instant)
  }
}

extension NewEvent {
  /// An event of one purchase and one segment.
  init(
    _ kind: EntitlementChange.Kind, _ segment: SavedSegment, _ purchase: StoredPurchaseState,
    _ facts: CustomerFacts, at instant: Instant, recordedAt: Instant, evidence: EvidenceID? = nil
  ) {
    var subject = facts.transactions.first { $0.transactionID == purchase.state.transactionID }
      .map(EventSubject.init)
    subject?.segment = segment.name
    self.init(
      customer: purchase.line.customer(purchase.customerID),
      change: .withoutEntitlement(kind, subject ?? .ofSegment(segment.name), at: instant),
      recordedAt: recordedAt, evidenceID: evidence, actor: "")
  }
}

extension EventSubject {
  /// The subject of an event about a segment and no transaction.
  static func ofSegment(_ name: String) -> EventSubject {
    EventSubject(
      transactionID: "", originalTransactionID: "", productID: "", type: nil, ownership: .purchased,
      quantity: 0, price: nil, currency: nil, segment: name)
  }
}
