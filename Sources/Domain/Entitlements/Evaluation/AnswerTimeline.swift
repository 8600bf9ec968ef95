package import AppStore

/// What the rules answer to one question from a moment on, for as long as they are told nothing new.
///
/// Time alone changes an answer at a few instants, all of which the facts tell in advance. So whoever
/// learns of a fact can work out the answers of the months to come, and whoever asks only looks.
package struct AnswerTimeline: Hashable, Sendable {
  /// A stretch of time in which the answer stays the same.
  package struct Segment: Hashable, Sendable {
    /// The first moment at which the answer is not this one any more; `nil` if it stays for ever.
    package let end: Instant?
    /// The answer until then.
    package let status: EntitlementStatus

    /// An answer and its end.
    package init(end: Instant?, status: EntitlementStatus) {
      self.end = end
      self.status = status
    }
  }

  /// The first moment of which the timeline tells.
  package let start: Instant
  /// One after the other from ``start`` on. Behind the end of the last one nothing is told.
  package let segments: [Segment]

  /// A timeline that was made before, by its parts.
  package init(start: Instant, segments: [Segment]) {
    self.start = start
    self.segments = segments
  }

  /// The answer at `now`; `nil` for a moment of which the timeline does not tell.
  package func answer(at now: Instant) -> EntitlementStatus? {
    guard start <= now else { return nil }
    return segments.first { segment in segment.end.map { now < $0 } ?? true }?.status
  }
}

extension AnswerTimeline {
  /// More would be read past by nearly every question; the facts still know.
  package static let segmentLimit = 8
  /// How many instants are looked at: mostly the answer at one of them is that of the one before.
  private static let instantLimit = 64

  /// What ``evaluate(_:entitlement:in:at:)`` says of `facts` at `now` and at every later moment, up to
  /// the end of the last of at most ``segmentLimit`` segments.
  package init(
    _ facts: borrowing CustomerFacts, entitlement: String, in app: borrowing AppDefinition,
    from now: Instant
  ) {
    guard let rules = app.rules(of: entitlement) else {
      self.init(start: now, segments: [Segment(end: nil, status: EntitlementStatus(.unknownEntitlement))])
      return
    }
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
