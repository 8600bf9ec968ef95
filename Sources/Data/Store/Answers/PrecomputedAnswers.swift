package import AppStore
package import Entitlements

/// The answers to every question about one customer, worked out when the facts were learned: what the
/// hot read finds instead of facts.
///
/// They are no truth of their own. Whoever finds none, or those of other rules, evaluates the facts.
package struct PrecomputedAnswers: Hashable, Sendable {
  /// The ``AppDefinition/fingerprint`` under which they were worked out, and are true.
  package let fingerprint: UInt64
  /// The first moment of which they tell.
  package let start: Instant
  /// What is answered about each entitlement of the app, by its name.
  package let timelines: [String: AnswerTimeline]
  /// Where the facts that they rest on are from, as far as it is known; see ``resting(on:)``.
  package let evidence: [DecidingFact: EvidenceID]

  /// The answers that `facts` give from `now` on.
  package init(_ facts: borrowing CustomerFacts, in app: borrowing AppDefinition, from now: Instant) {
    fingerprint = app.fingerprint
    start = now
    var timelines: [String: AnswerTimeline] = [:]
    for entitlement in app.entitlements {
      timelines[entitlement] = AnswerTimeline(facts, entitlement: entitlement, in: app, from: now)
    }
    self.timelines = timelines
    evidence = [:]
  }

  init(
    fingerprint: UInt64, start: Instant, timelines: [String: AnswerTimeline],
    evidence: [DecidingFact: EvidenceID]
  ) {
    self.fingerprint = fingerprint
    self.start = start
    self.timelines = timelines
    self.evidence = evidence
  }
}

/// One answer as it was kept.
package struct PrecomputedAnswer: Hashable, Sendable {
  /// The first moment at which the answer is not this one any more; `nil` if it stays for ever.
  package let end: Instant?
  /// The answer until then.
  package let status: EntitlementStatus
  /// Where the fact that it rests on is from; `nil` if it rests on none, or that was not kept.
  package let evidenceID: EvidenceID?
}

/// What the store knows of the answer to one question.
package enum AnswerLookup: Hashable, Sendable {
  /// The answer, as evaluating the facts would give it, and until when it stays the same.
  case told(PrecomputedAnswer)
  /// Nothing is known of the customer.
  case unknownCustomer
  /// There are facts, but no answer that holds for this catalog and moment: evaluate the facts.
  case notTold
}
