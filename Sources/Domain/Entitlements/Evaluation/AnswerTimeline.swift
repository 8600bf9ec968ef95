package import AppStore

/// The answers to one question from an instant on, valid until new facts arrive.
///
/// Time changes an answer only at a few instants, all known from the facts. So the ledger computes the
/// answers of the coming months when facts change, and a check only looks them up.
package struct AnswerTimeline: Hashable, Sendable {
  /// A time span with one answer.
  package struct Segment: Hashable, Sendable {
    /// The first instant at which the answer no longer holds; `nil`: it holds until the facts change.
    package let end: Instant?
    /// The answer within the span.
    package let status: EntitlementStatus

    package init(end: Instant?, status: EntitlementStatus) {
      self.end = end
      self.status = status
    }
  }

  /// The first instant covered.
  package let start: Instant
  /// Consecutive segments from ``start`` on. The end of the last one is the end of the timeline.
  package let segments: [Segment]

  /// Recreates a timeline from its stored parts.
  package init(start: Instant, segments: [Segment]) {
    self.start = start
    self.segments = segments
  }

  /// The answer at `now`; `nil` if the timeline does not cover it.
  package func answer(at now: Instant) -> EntitlementStatus? {
    guard start <= now else { return nil }
    return segments.first { segment in segment.end.map { now < $0 } ?? true }?.status
  }
}

extension AnswerTimeline {
  /// Nearly every check would skip over further segments; they can be recomputed from the facts.
  package static let segmentLimit = 8
  /// The maximum number of instants to evaluate; most of them do not change the answer.
  private static let instantLimit = 64

  /// Precomputes the results of ``evaluate(_:entitlement:in:at:)`` for `now` and later, up to the end of the
  /// last of at most ``segmentLimit`` segments.
  package init(
    _ facts: borrowing CustomerFacts, entitlement: String, in app: borrowing AppDefinition,
    from now: Instant
  ) {
    guard let rules = app.rules(of: entitlement) else {
      self.init(start: now, segments: [Segment(end: nil, status: EntitlementStatus(.unknownEntitlement))])
      return
    }
    let facts = facts.purchases(in: app)
    let intervals = AccessIntervals(facts, rules)
    let instants = intervals.changeInstants(after: now, facts)
    var segments: [Segment] = []
    var status = evaluate(facts, intervals, at: now)
    for instant in instants.prefix(Self.instantLimit) {
      let next = evaluate(facts, intervals, at: instant)
      guard next != status else { continue }
      segments.append(Segment(end: instant, status: status))
      status = next
      guard segments.count < Self.segmentLimit else {
        self.init(start: now, segments: segments)
        return
      }
    }
    let end = instants.dropFirst(Self.instantLimit).first
    segments.append(Segment(end: end, status: status))
    self.init(start: now, segments: segments)
  }
}
