internal import AppStore
internal import Entitlements
internal import Store

/// Applies what time alone changes: the states of purchases, and the members of saved segments.
struct SegmentAdvance {
  /// The maximum number of purchases in one write. Other writes run between two of them.
  private static let batchSize = 100

  let store: any StoreTransaction
  let catalog: Catalog
  let domain: ClockDomain
  let now: Instant

  /// The outcome of one write.
  enum Outcome {
    /// As much as one write does; there may be more.
    case fullBatch
    /// All changes that were known; their states may bring more.
    case allKnown
    case nothing
  }

  /// Applies the earliest changes until now.
  func runBatch() throws(StoreError) -> Outcome {
    let due = try store.purchaseStatesDue(by: now, in: domain, limit: Self.batchSize)
    // The members of a state before its end come first.
    let horizon = due.first.map { min($0.due.advanced(byMilliseconds: -1), now) } ?? now
    var isDone = true
    for segment in try store.segments(in: domain) {
      if try !advance(segment, to: horizon) { isDone = false }
    }
    guard isDone else { return .fullBatch }
    for (line, due) in due { try advance(line, from: due) }
    return due.count == Self.batchSize ? .fullBatch : due.isEmpty ? .nothing : .allKnown
  }

  /// Evaluates a purchase at each instant at which its state changes.
  private func advance(_ line: LineKey, from due: Instant) throws(StoreError) {
    let update = PurchaseStateUpdate(line, in: catalog.definition(of: line.appID), store: store, at: now)
    let (facts, owners) = (try store.facts(of: line), try store.owners(of: line))
    var next: Instant? = due
    while let instant = next, instant <= now {
      _ = try update.run(facts, owners: owners, at: instant)
      let following = try store.purchaseStates(of: line).compactMap(\.state.validUntil).min()
      next = following.flatMap { $0 > instant ? $0 : nil }
    }
  }

  /// Records who enters and leaves a segment by `horizon`.
  ///
  /// - Returns: whether the segment is evaluated up to there.
  private func advance(_ segment: SavedSegment, to horizon: Instant) throws(StoreError) -> Bool {
    let (states, end) = try store.crossings(of: segment, by: horizon, limit: Self.batchSize)
    guard !states.isEmpty else { return true }
    for purchase in states {
      var isMember = segment.hasMember(purchase)
      for instant in segment.crossings(of: purchase, upTo: end) {
        isMember.toggle()
        _ = try store.append(
          NewEvent(
            isMember ? .segmentEntered : .segmentLeft, segment, purchase,
            try store.facts(of: purchase.line), at: instant, recordedAt: now))
      }
    }
    var evaluated = segment
    evaluated.evaluatedAt = end
    try store.put(evaluated)
    return end == horizon
  }
}
