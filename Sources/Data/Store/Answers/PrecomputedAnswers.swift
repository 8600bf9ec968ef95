package import AppStore
package import Entitlements

/// The answers about one customer, computed when its facts changed, so that the hot read needs no facts.
///
/// A cache, not a source of truth: if they are missing or their fingerprint is stale, evaluate the facts.
package struct PrecomputedAnswers: Hashable, Sendable {
  /// The ``AppDefinition/fingerprint`` under which they were computed and are valid.
  package let fingerprint: UInt64
  /// The beginning of the time span that they cover.
  package let start: Instant
  /// The answers over time, by entitlement.
  package let timelines: [String: AnswerTimeline]
  /// The evidence of the deciding facts, as far as it is known; see ``resting(on:)``.
  package let evidence: [DecidingFact: EvidenceID]

  /// Computes the answers from `facts` for the time from `now` on.
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

/// A stored answer.
package struct PrecomputedAnswer: Hashable, Sendable {
  /// The end of the answer's validity, exclusive; `nil` if it never ends.
  package let end: Instant?
  /// The answer until ``end``.
  package let status: EntitlementStatus
  /// The evidence of the deciding fact; `nil` if no single fact decides or its evidence was not stored.
  package let evidenceID: EvidenceID?
}

/// The result of looking up a precomputed answer.
package enum AnswerLookup: Hashable, Sendable {
  /// The answer, equal to that of an evaluation, with the end of its validity.
  case precomputed(PrecomputedAnswer)
  /// The customer has no facts.
  case unknownCustomer
  /// The customer has facts, but no valid answer for this catalog and time: evaluate the facts.
  case stale
}

extension PrecomputedAnswers {
  /// The first time at which an answer changes without new evidence; `nil` if there is none.
  package var nextChange: Instant? {
    timelines.values.compactMap { $0.segments.first?.end }.min()
  }
}

/// The answers that were last stored for a customer, still encoded.
///
/// They are the state before new evidence or a new catalog. Expirations up to ``start`` are included.
package struct EncodedAnswers: Hashable, Sendable {
  /// The beginning of the time span that they cover.
  package let start: Instant
  /// The ``AppDefinition/fingerprint`` under which they were computed.
  package let fingerprint: UInt64
  private let bytes: [UInt8]

  /// Reads the header of answers that ``AnswerCoding`` encoded, which is the same in all of its versions.
  ///
  /// - Throws: ``StoreError/corrupt(_:)`` if the header is truncated.
  package init(_ bytes: [UInt8]) throws(StoreError) {
    guard bytes.count > 9 else { throw .corrupt("precomputed answers have no start") }
    var decoder = AnswerDecoder(at: 1)
    fingerprint = try decoder.fixed(bytes.span)
    start = Instant(millisecondsSince1970: try decoder.signed(bytes.span))
    self.bytes = bytes
  }

  /// Whether the answer about `entitlement` at ``start`` is still valid at `now`.
  /// `false` if there was no answer.
  ///
  /// - Throws: ``StoreError/corrupt(_:)``.
  package func isUnchanged(of entitlement: String, until now: Instant) throws(StoreError) -> Bool {
    let answer = try AnswerCoding.answer(in: bytes.span, to: entitlement, under: fingerprint, at: start)
    return answer.map { $0.end.map { now < $0 } ?? true } ?? false
  }

  /// Returns the answer about `entitlement` at `now`; `nil` if there is none.
  ///
  /// - Throws: ``StoreError/corrupt(_:)``.
  package func status(of entitlement: String, at now: Instant) throws(StoreError) -> EntitlementStatus? {
    try AnswerCoding.answer(in: bytes.span, to: entitlement, under: fingerprint, at: now)?.status
  }
}

/// The stored state of a customer.
package struct CustomerState: Hashable, Sendable {
  /// All facts.
  package let facts: CustomerFacts
  /// The answers last computed from the facts.
  package let answers: EncodedAnswers
  /// Whether the customer is marked as contradictory.
  package let isContradictory: Bool

  /// Creates a state from its parts.
  package init(facts: CustomerFacts, answers: EncodedAnswers, isContradictory: Bool = false) {
    self.facts = facts
    self.answers = answers
    self.isContradictory = isContradictory
  }
}
