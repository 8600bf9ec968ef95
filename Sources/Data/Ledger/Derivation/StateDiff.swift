internal import AppStore
internal import Entitlements
internal import Store

/// The difference between a customer's state before a write and after it. It has no state and needs no store.
///
/// The changes that time caused since the last answers come first, in their order; then those of the write.
struct StateDiff {
  /// One change and its cause.
  struct AttributedChange: Hashable {
    let change: EntitlementChange
    let cause: ChangeCause
  }

  private let before: CustomerState?
  private let after: CustomerFacts
  private let app: AppDefinition
  private let now: Instant
  private let cause: ChangeCause

  /// `before` is the stored state, `nil` for a new customer; `after` are the facts `now`.
  init(
    before: CustomerState?, after: CustomerFacts, in app: AppDefinition, at now: Instant, cause: ChangeCause
  ) {
    self.before = before
    self.after = after
    self.app = app
    self.now = now
    self.cause = cause
  }

  /// Whether answers may have changed: the facts did, or time or the catalog is the cause.
  var mustReevaluate: Bool { before?.facts != after || cause == .time || cause == .catalog }

  /// The precomputed answers for the facts after the write, without their evidence ids.
  var answers: PrecomputedAnswers { PrecomputedAnswers(after, in: app, from: now) }

  /// The contradictions after the write.
  var contradictions: [Contradiction] { Contradiction.all(after, in: app, at: now) }

  /// Those of ``contradictions`` that documents of this write caused. Commands contain no facts of Apple's.
  func new(among found: [Contradiction]) -> [Contradiction] {
    guard cause == .evidence, !found.isEmpty else { return [] }
    let known = Set(before.map { Contradiction.all($0.facts, in: app, at: now) } ?? [])
    return found.filter { !known.contains($0) }
  }

  /// All changes in the order in which they became true; `answers` are ``answers``.
  func changes(to answers: PrecomputedAnswers) throws(StoreError) -> [AttributedChange] {
    func answer(_ entitlement: String) -> EntitlementStatus {
      answers.timelines[entitlement]?.answer(at: now)
        ?? evaluate(after, entitlement: entitlement, in: app, at: now)
    }
    let causeOfRest = cause == .time && !hasCurrentCatalog ? .catalog : cause
    let facts = FactsChange(
      from: before?.facts ?? CustomerFacts(), to: after, by: causeOfRest, slack: app.renewalPolicy.slack)
    var changes = EntitlementChange.purchases(in: facts, at: now)
    for entitlement in app.entitlements {
      changes += EntitlementChange.changes(
        of: entitlement, from: try statusBefore(entitlement), to: answer(entitlement), by: causeOfRest,
        at: now,
        facts: facts.granting(entitlement, in: app))
    }
    changes += EntitlementChange.refunds(in: facts, of: app, at: now)
    if causeOfRest == .claim {
      changes += EntitlementChange.claims(in: facts, of: app, at: now, besides: changes, answer: answer)
    }
    return try changesOfTime() + changes.map { AttributedChange(change: $0, cause: causeOfRest) }
  }

  /// Whether the stored answers were computed under the current catalog.
  private var hasCurrentCatalog: Bool { before.map { $0.answers.fingerprint == app.fingerprint } ?? true }

  /// The answer just before this write. If the clock was set back since the last one, that is the answer of the
  /// last one, whose events may be about a time that has not come.
  private func statusBefore(_ entitlement: String) throws(StoreError) -> EntitlementStatus {
    guard let before else { return evaluate(CustomerFacts(), entitlement: entitlement, in: app, at: now) }
    if hasCurrentCatalog, before.answers.start > now {
      return evaluate(before.facts, entitlement: entitlement, in: app, at: before.answers.start)
    }
    if let stored = try before.answers.status(of: entitlement, at: now) { return stored }
    var facts = before.facts
    if !hasCurrentCatalog, try before.answers.status(of: entitlement, at: before.answers.start) == nil {
      // No customer had an entitlement that the previous catalog does not define.
      facts = CustomerFacts()
    }
    return evaluate(facts, entitlement: entitlement, in: app, at: now)
  }

  /// The changes of time alone since the stored answers. After a change of the catalog there are none,
  /// because the previous catalog is not stored.
  private func changesOfTime() throws(StoreError) -> [AttributedChange] {
    guard let before, hasCurrentCatalog, before.answers.start < now else { return [] }
    var changes: [EntitlementChange] = []
    for entitlement in app.entitlements
    where try !before.answers.isUnchanged(of: entitlement, until: now) {
      changes += changesOfTime(before.facts, entitlement, from: before.answers.start)
    }
    return
      changes
      .sorted { ($0.effectiveAt, $0.entitlement) < ($1.effectiveAt, $1.entitlement) }
      .map { AttributedChange(change: $0, cause: .time) }
  }

  /// The changes of one answer that time alone caused from `start` until now, without new facts.
  private func changesOfTime(
    _ facts: CustomerFacts, _ entitlement: String, from start: Instant
  ) -> [EntitlementChange] {
    var changes: [EntitlementChange] = []
    let unchanged = FactsChange(from: facts, to: facts, by: .time, slack: app.renewalPolicy.slack)
    var start = start
    while true {
      let segments = AnswerTimeline(facts, entitlement: entitlement, in: app, from: start).segments
      for (segment, next) in zip(segments, segments.dropFirst()) {
        guard let end = segment.end, end <= now else { return changes }
        changes += EntitlementChange.changes(
          of: entitlement, from: segment.status, to: next.status, by: .time, at: end, facts: unchanged)
      }
      // A timeline has a limited number of segments; the next one starts at its end.
      guard let last = segments.last, let end = last.end, end <= now else { return changes }
      changes += EntitlementChange.changes(
        of: entitlement, from: last.status, to: evaluate(facts, entitlement: entitlement, in: app, at: end),
        by: .time, at: end, facts: unchanged)
      start = end
    }
  }
}
