internal import AppStore
internal import Entitlements

// Encodes timelines in the format of ``AnswerCoding``.
extension FactEncoder {
  /// Appends all segments, each with its size, so that a reader skips those that are over. `evidence` has
  /// the ids of the facts that decide.
  mutating func append(
    _ timeline: AnswerTimeline, since start: Instant, _ evidence: [DecidingFact: EvidenceID]
  ) {
    var previous: EntitlementStatus?
    for segment in timeline.segments {
      var body = FactEncoder()
      let evidence = segment.status.decidingFact.flatMap { evidence[$0] }
      body.append(segment, since: start, after: previous, evidence)
      append(sized: body.bytes)
      if segment.status.deciding != nil { previous = segment.status }
    }
  }

  private mutating func append(
    _ segment: AnswerTimeline.Segment, since start: Instant, after previous: EntitlementStatus?,
    _ evidence: EvidenceID?
  ) {
    let status = segment.status
    var flags = flags(of: segment, after: previous)
    flags.set(.hasGrantEvidence, status.grantID != nil && evidence != nil)
    append(unsigned: UInt64(flags.rawValue))
    if let end = segment.end { append(end, since: start) }
    append(unsigned: UInt64(AnswerCoding.reasons.firstIndex(of: status.reason) ?? 0))
    if let deciding = status.deciding, flags.contains(.decidingIsNew) {
      append(deciding, status.outlook, evidence, since: start)
    }
    if let grant = status.grant {
      append(grant.grantID)
      if flags.contains(.isExternalGrant) {
        append(grant.source)
        append(grant.externalID)
        append(grant.productID)
        append(signed: grant.revision)
      }
      if let evidence { append(signed: evidence.rawValue) }
    }
    if let instant = status.since { append(instant, since: start) }
    if let instant = status.until, !flags.contains(.untilIsEnd) { append(instant, since: start) }
    if let instant = status.paidUntil, !flags.contains(.paidUntilIsEnd) { append(instant, since: start) }
    if let instant = status.endWithoutDelay, !flags.contains(.endWithoutDelayIsPaidUntil) {
      append(instant, since: start)
    }
    if let instant = status.checkAgainAt, !flags.contains(.checkAgainIsEnd) { append(instant, since: start) }
    if let instant = status.actBy, !flags.contains(.actByIsEnd) { append(instant, since: start) }
  }

  private mutating func append(
    _ deciding: DecidingTransaction, _ outlook: RenewalOutlook?, _ evidence: EvidenceID?,
    since start: Instant
  ) {
    var flags: PurchaseFlags = []
    flags.set(.isFirstOfLine, deciding.transactionID == deciding.originalTransactionID)
    flags.set(.hasOutlook, outlook != nil)
    flags.set(.hasWillRenew, outlook?.willRenew != nil)
    flags.set(.willRenew, outlook?.willRenew == true)
    flags.set(.needsPriceConsent, outlook?.needsPriceConsent == true)
    flags.set(.hasPrice, outlook?.price != nil)
    flags.set(.hasEvidence, evidence != nil)
    flags.set(.hasBillingPlan, deciding.billingPlanType != nil)
    flags.set(.hasCommitment, deciding.commitment != nil)
    flags.set(.hasCommitmentEnd, deciding.commitment?.expiresDate != nil)
    flags.set(.hasCommitmentPrice, deciding.commitment?.price != nil)
    flags.set(.hasPayment, deciding.payment != nil)
    flags.set(.hasPaymentCurrency, deciding.currency != nil)
    append(unsigned: UInt64(flags.rawValue))
    append(deciding.originalTransactionID)
    if !flags.contains(.isFirstOfLine) { append(deciding.transactionID) }
    append(deciding.productID)
    append(deciding.type ?? .unrecognized(""))
    append(deciding.ownership)
    if let plan = deciding.billingPlanType { append(plan) }
    if let commitment = deciding.commitment {
      append(signed: commitment.billingPeriodNumber)
      append(signed: commitment.totalBillingPeriods)
      if let end = commitment.expiresDate { append(end, since: start) }
      if let price = commitment.price { append(signed: price) }
    }
    if let payment = deciding.payment { append(signed: payment) }
    if let currency = deciding.currency { append(currency) }
    if let evidence { append(signed: evidence.rawValue) }
    guard let outlook else { return }
    append(outlook.productID, sharedWith: deciding.productID)
    if let price = outlook.price { append(signed: price) }
    append(outlook.currency)
    append(unsigned: UInt64(outlook.winBackOfferIDs.count))
    for offer in outlook.winBackOfferIDs { append(offer) }
  }

  /// The members that a segment has, and those that it shares with its end or with the segment before.
  private func flags(
    of segment: AnswerTimeline.Segment, after previous: EntitlementStatus?
  ) -> SegmentFlags {
    let status = segment.status
    let productState = AnswerCoding.productStates.firstIndex(of: status.productState) ?? 0
    let level = AnswerCoding.accessLevels.firstIndex(of: status.accessLevel) ?? 0
    var flags = SegmentFlags(
      rawValue: UInt32(status.substate.rawValue) << SegmentFlags.substateShift
        | UInt32(productState) << SegmentFlags.productStateShift
        | UInt32(level) << SegmentFlags.accessLevelShift)
    let isSame = status.deciding == previous?.deciding && status.outlook == previous?.outlook
    flags.set(.hasEnd, segment.end != nil)
    flags.set(.hasDeciding, status.deciding != nil)
    flags.set(.decidingIsNew, status.deciding != nil && !isSame)
    flags.set(.hasGrant, status.grant != nil)
    flags.set(.isExternalGrant, status.grant?.source.isEmpty == false)
    flags.set(.hasSince, status.since != nil)
    flags.set(.hasUntil, status.until != nil)
    flags.set(.untilIsEnd, status.until != nil && status.until == segment.end)
    flags.set(.hasPaidUntil, status.paidUntil != nil)
    flags.set(.paidUntilIsEnd, status.paidUntil != nil && status.paidUntil == segment.end)
    flags.set(.hasEndWithoutDelay, status.endWithoutDelay != nil)
    flags.set(
      .endWithoutDelayIsPaidUntil,
      status.endWithoutDelay != nil && status.endWithoutDelay == status.paidUntil)
    flags.set(.hasCheckAgain, status.checkAgainAt != nil)
    flags.set(.checkAgainIsEnd, status.checkAgainAt != nil && status.checkAgainAt == segment.end)
    flags.set(.hasActBy, status.actBy != nil)
    flags.set(.actByIsEnd, status.actBy != nil && status.actBy == segment.end)
    return flags
  }
}
