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
  case precomputed(PrecomputedAnswer)
  /// Nothing is known of the customer.
  case unknownCustomer
  /// There are facts, but no answer that holds for this catalog and moment: evaluate the facts.
  case stale
}

extension PrecomputedAnswers {
  /// When time alone changes one of the answers first, as far as they tell; `nil` if it never does.
  package var nextChange: Instant? {
    timelines.values.compactMap { $0.segments.first?.end }.min()
  }
}

/// The answers that a customer was last told, as the store keeps them.
///
/// They tell what was true for the world before news came or the catalog changed, and up to when time's
/// own changes were noticed: up to ``start``.
package struct EncodedAnswers: Hashable, Sendable {
  /// The moment from which they tell.
  package let start: Instant
  /// The ``AppDefinition/fingerprint`` under which they were worked out.
  package let fingerprint: UInt64
  private let bytes: [UInt8]

  /// Answers that ``AnswerCoding`` encoded; the first parts are the same in each of its versions.
  package init(_ bytes: [UInt8]) throws(StoreError) {
    guard bytes.count > 9 else { throw .corrupt("kept answers have no beginning") }
    var decoder = AnswerDecoder(at: 1)
    fingerprint = try decoder.fixed(bytes.span)
    start = Instant(millisecondsSince1970: try decoder.signed(bytes.span))
    self.bytes = bytes
  }

  /// Whether what was told of `entitlement` at ``start`` was to stay so until `now`.
  package func isUnchanged(of entitlement: String, until now: Instant) throws(StoreError) -> Bool {
    let told = try AnswerCoding.answer(in: bytes.span, to: entitlement, under: fingerprint, at: start)
    return told.map { $0.end.map { now < $0 } ?? true } ?? false
  }

  /// What was told of `entitlement` for the moment `now`; `nil` if nothing was.
  package func status(of entitlement: String, at now: Instant) throws(StoreError) -> EntitlementStatus? {
    try AnswerCoding.answer(in: bytes.span, to: entitlement, under: fingerprint, at: now)?.status
  }
}

/// What the store has of a customer.
package struct CustomerState: Hashable, Sendable {
  /// All facts.
  package let facts: CustomerFacts
  /// What was last answered from them.
  package let answers: EncodedAnswers

  /// A customer by what is known.
  package init(facts: CustomerFacts, answers: EncodedAnswers) {
    self.facts = facts
    self.answers = answers
  }
}
