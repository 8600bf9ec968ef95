package import AppStore
package import Entitlements

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
