package import AppStore
package import Entitlements
package import Store

/// The answer about a past instant: what Check answered then, unless something that was recorded later changed
/// it.
///
/// Both answers are results of the present catalog and rules: one from the facts that were known at the instant,
/// one from all facts of today. If both agree about the access at the instant (reason, level and the fact that
/// decides), the first one is the answer, with its end and renewal as they were expected then. Otherwise the
/// second one is, and the commits that changed the access are named.
package struct PastAnswer {
  /// The facts that the answer rests on.
  package let facts: CustomerFacts
  /// The changes of the answer since the instant, in commit order; empty if the answer is that of Check.
  package let changes: [LaterChange]

  /// Answers whether the customer with this `history` was entitled to `entitlement` at `instant`.
  package init(
    _ history: FactHistory, entitlement: String, in app: AppDefinition, at instant: Instant,
    _ reader: any StoreSnapshot
  ) throws(StoreError) {
    let current = try reader.facts(of: history.customer) ?? CustomerFacts()
    let known = history.facts(knownAt: instant)
    func access(_ facts: CustomerFacts) -> PastAccess {
      PastAccess(evaluate(facts, entitlement: entitlement, in: app, at: instant))
    }
    let catalogChanges = try Self.catalogChanges(of: app, after: instant, reader)
    let then = access(known)
    guard then != access(current) else {
      facts = known
      changes = catalogChanges
      return
    }
    let steps = history.steps(after: instant)
    let changing = Self.changes(then, in: steps[...]) { access(history.facts(through: $0)) }
    let changes = changing.map { step in
      LaterChange(
        cause: .evidence(step.evidence, word: history.words[step.evidence] ?? ""), recordedAt: step.knownAt)
    }
    facts = current
    self.changes = (changes + catalogChanges).sorted { $0.recordedAt < $1.recordedAt }
  }

  /// Returns the steps that change the access, which is `before` at first and `access` after each step. Halves
  /// the steps, because a year of renewal infos mostly changes nothing; changes that cancel each other out are
  /// left out.
  private static func changes(
    _ before: PastAccess, in steps: ArraySlice<FactHistory.Step>,
    access: (FactHistory.Step) -> PastAccess
  ) -> [FactHistory.Step] {
    guard let last = steps.last, access(last) != before else { return [] }
    guard steps.count > 1 else { return [last] }
    let middle = steps.startIndex + steps.count / 2
    let first = steps[..<middle]
    guard let end = first.last else { return [last] }
    return changes(before, in: first, access: access)
      + changes(access(end), in: steps[middle...], access: access)
  }

  /// The changes of the catalog and of the rules since `instant`, if they are not those of that time.
  private static func catalogChanges(
    of app: AppDefinition, after instant: Instant, _ reader: any StoreSnapshot
  ) throws(StoreError) -> [LaterChange] {
    let all = try reader.catalogChanges(of: app.id)
    guard let then = all.last(where: { $0.at <= instant }), then.fingerprint != app.fingerprint else {
      return []
    }
    return all.filter { $0.at > instant }.map { .init(cause: .catalog($0.fingerprint), recordedAt: $0.at) }
  }
}

/// Something recorded after an instant that changed the answer about the instant.
package struct LaterChange: Hashable, Sendable {
  /// The reason for which the answer is another one now.
  package enum Cause: Hashable, Sendable {
    /// A document or a command; the word is the kind of evidence, or that of the command.
    case evidence(EvidenceID, word: String)
    /// Another catalog or other rules, by their fingerprint.
    case catalog(UInt64)
  }

  package let cause: Cause
  /// When it was recorded.
  package let recordedAt: Instant

  package init(cause: Cause, recordedAt: Instant) {
    self.cause = cause
    self.recordedAt = recordedAt
  }
}

/// The part of an answer that is about the instant itself, and not about its expected future.
private struct PastAccess: Equatable {
  private let reason: EntitlementReason
  private let level: AccessLevel
  private let substate: EntitlementSubstate
  private let productState: ProductState
  private let deciding: DecidingTransaction?
  private let grant: DecidingGrant?

  init(_ status: EntitlementStatus) {
    reason = status.reason
    level = status.accessLevel
    substate = status.substate
    productState = status.productState
    deciding = status.deciding
    grant = status.grant
  }
}
