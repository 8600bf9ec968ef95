internal import AppStore
internal import Entitlements
internal import Store

/// What became different for one customer since it was last looked at: first what time did alone, moment by
/// moment, then what the news did.
struct StateDiff {
  /// One change and why it happened.
  struct AttributedChange {
    let change: EntitlementChange
    let cause: ChangeCause
  }

  private let known: CustomerState?
  private let facts: CustomerFacts
  private let app: AppDefinition
  private let now: Instant
  private let cause: ChangeCause

  /// `known` is what there was of the customer, `nil` if nothing; `facts` is what there is `now`.
  init(
    _ known: CustomerState?, _ facts: CustomerFacts, in app: AppDefinition, at now: Instant,
    by cause: ChangeCause
  ) {
    self.known = known
    self.facts = facts
    self.app = app
    self.now = now
    self.cause = cause
  }

  /// All changes in the order in which they became true.
  func changes() throws(StoreError) -> [AttributedChange] {
    var changes = try changesOfTime()
    let causeOfRest = cause == .time && !isOfThisCatalog ? .catalog : cause
    for entitlement in app.entitlements {
      let after = evaluate(facts, entitlement: entitlement, in: app, at: now)
      var found = EntitlementChange.changes(
        of: entitlement, from: try before(entitlement), to: after, by: causeOfRest, at: now)
      if found.isEmpty, cause == .evidence, let known {
        found = EntitlementChange.revocations(
          of: entitlement, from: known.facts, to: facts, in: app, answer: after, at: now)
      }
      changes += found.map { AttributedChange(change: $0, cause: causeOfRest) }
    }
    return changes
  }

  /// Whether the last answers were worked out under the catalog that is in force.
  private var isOfThisCatalog: Bool { known.map { $0.answers.fingerprint == app.fingerprint } ?? true }

  /// The answer just before the news.
  private func before(_ entitlement: String) throws(StoreError) -> EntitlementStatus {
    var facts = known?.facts ?? CustomerFacts()
    if let known, !isOfThisCatalog {
      if let told = try known.answers.status(of: entitlement, at: now) { return told }
      // An entitlement that the old catalog did not have was nobody's.
      let isNew = try known.answers.status(of: entitlement, at: known.answers.start) == nil
      if isNew { facts = CustomerFacts() }
    }
    return evaluate(facts, entitlement: entitlement, in: app, at: now)
  }

  /// What the clock changed between the last look and now. After a change of the catalog nobody knows any
  /// more what the old one would have said when.
  private func changesOfTime() throws(StoreError) -> [AttributedChange] {
    guard let known, isOfThisCatalog, known.answers.start < now else { return [] }
    var changes: [EntitlementChange] = []
    for entitlement in app.entitlements
    where try !known.answers.isUnchanged(of: entitlement, until: now) {
      changes += changesOfTime(known.facts, entitlement, from: known.answers.start)
    }
    return
      changes
      .sorted { ($0.effectiveAt, $0.entitlement) < ($1.effectiveAt, $1.entitlement) }
      .map { AttributedChange(change: $0, cause: .time) }
  }

  private func changesOfTime(
    _ facts: CustomerFacts, _ entitlement: String, from start: Instant
  ) -> [EntitlementChange] {
    var changes: [EntitlementChange] = []
    var start = start
    while true {
      let segments = AnswerTimeline(facts, entitlement: entitlement, in: app, from: start).segments
      for (segment, next) in zip(segments, segments.dropFirst()) {
        guard let end = segment.end, end <= now else { return changes }
        changes += EntitlementChange.changes(
          of: entitlement, from: segment.status, to: next.status, by: .time, at: end)
      }
      // A timeline has so many segments and no more: what comes behind is another one.
      guard let last = segments.last, let end = last.end, end <= now else { return changes }
      changes += EntitlementChange.changes(
        of: entitlement, from: last.status, to: evaluate(facts, entitlement: entitlement, in: app, at: end),
        by: .time, at: end)
      start = end
    }
  }
}
