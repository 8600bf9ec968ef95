internal import AppStore
internal import Entitlements

// Timelines as ``AnswerCoding`` describes them.
extension FactEncoder {
  mutating func append(_ timeline: AnswerTimeline, since start: Instant) {
    var previous: DecidingTransaction?
    for segment in timeline.segments {
      var body = FactEncoder()
      body.append(segment, since: start, after: previous)
      append(sized: body.bytes)
      previous = segment.status.deciding ?? previous
    }
  }

  private mutating func append(
    _ segment: AnswerTimeline.Segment, since start: Instant, after previous: DecidingTransaction?
  ) {
    let status = segment.status
    let flags = flags(of: segment, after: previous)
    append(unsigned: UInt64(flags.rawValue))
    if let end = segment.end { append(end, since: start) }
    append(unsigned: UInt64(AnswerCoding.reasons.firstIndex(of: status.reason) ?? 0))
    if let deciding = status.deciding, flags.contains(.decidingIsNew) {
      append(deciding.originalTransactionID)
      if !flags.contains(.isFirstOfLine) { append(deciding.transactionID) }
      append(deciding.productID)
      append(deciding.ownership)
    }
    if let until = status.until, !flags.contains(.untilIsEnd) { append(until, since: start) }
    if let moment = status.checkAgainAt, !flags.contains(.checkAgainIsEnd) { append(moment, since: start) }
  }

  private func flags(
    of segment: AnswerTimeline.Segment, after previous: DecidingTransaction?
  ) -> SegmentFlags {
    let status = segment.status
    let productState = AnswerCoding.productStates.firstIndex(of: status.productState) ?? 0
    var flags = SegmentFlags(
      rawValue: UInt16(status.substate.rawValue) << SegmentFlags.substateShift
        | UInt16(productState) << SegmentFlags.productStateShift)
    flags.set(.hasEnd, segment.end != nil)
    flags.set(.hasUntil, status.until != nil)
    flags.set(.untilIsEnd, status.until != nil && status.until == segment.end)
    flags.set(.hasCheckAgain, status.checkAgainAt != nil)
    flags.set(.checkAgainIsEnd, status.checkAgainAt != nil && status.checkAgainAt == segment.end)
    flags.set(.hasDeciding, status.deciding != nil)
    flags.set(.decidingIsNew, status.deciding != nil && status.deciding != previous)
    if let deciding = status.deciding {
      flags.set(.isFirstOfLine, deciding.transactionID == deciding.originalTransactionID)
    }
    flags.set(.hasWillRenew, status.willRenew != nil)
    flags.set(.willRenew, status.willRenew == true)
    return flags
  }
}
