package import AppStore
package import Entitlements

/// Appends evidence, and indexes it by customer and line.
package protocol EvidenceLog {
  /// Appends evidence, unless an equal one is stored: with the same content, verdict, kind, app and
  /// submitting customer.
  func append(_ evidence: Evidence) throws(StoreError) -> AppendedEvidence

  /// Whether another post that does not verify may be stored for the app on the day (UTC) of `instant`. The body of
  /// rejected evidence is stored only if the store does not have it yet, and the oldest rejected bodies of a day make
  /// room for later ones.
  func hasRoomForRejectedPost(to appID: String, at instant: Instant) throws(StoreError) -> Bool

  /// Appends evidence that Apple identifies, such as a notification with a UUID, after the caller looked that
  /// up without success. Neither searches for equal content nor makes the evidence findable by its content.
  func appendNew(_ evidence: Evidence) throws(StoreError) -> AppendedEvidence

  /// Appends evidence under its id in another store, for a replay into an empty store.
  func restore(_ evidence: StoredEvidence) throws(StoreError)

  /// Returns when something about an environment of an app that is written `now` becomes known: `now`, but never
  /// before the latest evidence of this environment became known, whatever the clock does.
  func knownAt(
    _ now: Instant, of appID: String, in environment: Environment?
  ) throws(StoreError) -> Instant

  /// Returns the id of the next appended evidence.
  func nextEvidenceID() throws(StoreError) -> EvidenceID

  /// Returns one piece of evidence; `nil` if it does not exist.
  func evidence(_ id: EvidenceID) throws(StoreError) -> StoredEvidence?

  /// Indexes evidence under a customer that it names, other than the one that submitted it.
  func index(_ evidence: EvidenceID, under customer: CustomerKey) throws(StoreError)

  /// Indexes evidence under a line that it is about.
  func index(_ evidence: EvidenceID, under line: LineKey) throws(StoreError)
}

/// The result of appending evidence.
package struct AppendedEvidence: Hashable, Sendable {
  /// The id of the stored evidence.
  package let id: EvidenceID
  /// Whether equal evidence was stored before; then nothing was written and `id` is that of the older one.
  package let isDuplicate: Bool
  /// When the stored evidence became known; see ``StoredEvidence/knownAt``.
  package let knownAt: Instant

  /// Creates a result from its parts.
  package init(id: EvidenceID, isDuplicate: Bool, knownAt: Instant) {
    self.id = id
    self.isDuplicate = isDuplicate
    self.knownAt = knownAt
  }
}

/// Finds the evidence of the fact that decides an answer.
package protocol EvidenceLookup {
  /// Returns the evidence that first stated the current content of `fact`; `nil` if the fact is not stored.
  /// For a seat, whose facts derive from those of the purchase, the evidence of its claim; for a purchase in another store,
  /// the report of the state.
  func evidence(of fact: DecidingFact, of customer: CustomerKey) throws(StoreError) -> EvidenceID?
}

extension EvidenceLookup {
  /// Returns the evidence that decides a status of `customer`; `nil` if no single fact does.
  package func evidence(
    deciding status: EntitlementStatus, of customer: CustomerKey
  ) throws(StoreError) -> EvidenceID? {
    guard let fact = status.decidingFact else { return nil }
    return try evidence(of: fact, of: customer)
  }
}

extension PrecomputedAnswers {
  /// Returns the same answers with the evidence that decides each, where `find` returns it.
  package func addingEvidence(
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

/// Purges the bodies of old evidence. The hash, the size, the verdict and all derived data stay.
package protocol RetentionStore {
  /// Scans at most `limit` pieces of evidence after `id`, oldest first, up to the first one of `domain` that arrived at
  /// `instant` or later, and purges the bodies of those before it that belong to `domain` and that `selection` matches.
  /// A notification that arrived at `undelivered` or later keeps its body while it waits for a webhook of its app, or is a
  /// dead letter.
  ///
  /// - Returns: the last scanned piece, `nil` if there was none, and the number of purged bodies.
  func purgeBodies(
    of selection: EvidenceSelection, in domain: ClockDomain, receivedBefore instant: Instant,
    undeliveredSince undelivered: Instant, after id: EvidenceID?, limit: Int
  ) throws(StoreError) -> (last: EvidenceID?, purged: Int)
}

/// Selects evidence by verdict and kind.
package enum EvidenceSelection: Hashable, Sendable {
  /// All rejected evidence.
  case rejected
  /// Accepted evidence of these kinds.
  case accepted(Set<Evidence.Kind>)
}
