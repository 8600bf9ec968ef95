package import Entitlements

/// Finds the evidence of the fact that an answer rests on.
package protocol EvidenceLookup {
  /// The evidence that first said what is known now of `fact`; `nil` if nothing is. Of a seat, whose facts follow from
  /// those of the purchase, the evidence of its claim.
  func evidence(of fact: DecidingFact, of customer: CustomerKey) throws(StoreError) -> EvidenceID?
}

extension EvidenceLookup {
  /// The evidence that an answer about `customer` rests on; `nil` if that is no single fact.
  package func evidence(
    behind status: EntitlementStatus, of customer: CustomerKey
  ) throws(StoreError) -> EvidenceID? {
    guard let fact = status.decidingFact else { return nil }
    return try evidence(of: fact, of: customer)
  }
}

extension PrecomputedAnswers {
  /// The same answers, with the evidence that each rests on, as far as `find` knows it.
  package func resting(
    on find: (DecidingFact) throws(StoreError) -> EvidenceID?
  ) throws(StoreError) -> PrecomputedAnswers {
    var found: [DecidingFact: EvidenceID] = [:]
    for segment in timelines.values.flatMap(\.segments) {
      guard let fact = segment.status.decidingFact, found[fact] == nil else { continue }
      found[fact] = try find(fact)
    }
    return PrecomputedAnswers(fingerprint: fingerprint, start: start, timelines: timelines, evidence: found)
  }
}
