package import AppStore
package import Reports

/// A posting, and when it became known.
package struct KnownPosting: Hashable, Sendable {
  package let posting: Posting
  package let knownAt: Instant

  package init(_ posting: Posting, knownAt: Instant) {
    self.posting = posting
    self.knownAt = knownAt
  }
}

/// A transaction of ours that may be meant by a row of Apple's.
struct Candidate: Hashable {
  let transactionID: String
  /// When it happened; of a payment in the grace period, when it was made.
  let at: Instant
  let knownAt: Instant
  /// As ``Posting/reason``.
  let reason: String
  /// The start of a period that was paid in the grace period; `nil` for anything else.
  var periodStart: Instant?
}

extension KnownPosting {
  /// The transaction of the posting as a candidate; `instant` is the time of the posting, or of the payment for what it
  /// counts.
  func candidate(at instant: Instant) -> Candidate {
    Candidate(
      transactionID: posting.transactionID, at: instant, knownAt: knownAt, reason: posting.reason)
  }
}

extension [KnownPosting] {
  /// The postings that no other one takes back; each is known since its first posting.
  var standing: [KnownPosting] {
    var first: [Posting: Instant] = [:]
    for known in self {
      first[known.posting] = Swift.min(first[known.posting] ?? known.knownAt, known.knownAt)
    }
    return map(\.posting).standing.map { KnownPosting($0, knownAt: first[$0] ?? $0.effectiveAt) }
  }
}
