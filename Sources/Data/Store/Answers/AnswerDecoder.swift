internal import AppStore
internal import Bytes
internal import Entitlements

/// Reads the format of ``AnswerCoding``.
///
/// Contains only a position: the caller passes the bytes to each step, so that they stay in the store's
/// buffer.
struct AnswerDecoder {
  private var position: Int

  init(at position: Int) { self.position = position }

  /// Returns the range of the timeline of `entitlement`, from the first name on; `nil` if there is none.
  mutating func timeline(
    of entitlement: String, _ bytes: Span<UInt8>
  ) throws(StoreError) -> Range<Int>? {
    var timeline = position..<position
    while position < bytes.count {
      let name = try sized(bytes)
      let found = try sized(bytes)
      if !found.isEmpty { timeline = found }
      if bytes.equals(entitlement, in: name) { return timeline }
    }
    return nil
  }

  /// Decodes the answer at `now` in the timeline that begins here; returns `nil` after its end.
  consuming func segment(
    at now: Instant, since start: Instant, _ timeline: Range<Int>, _ bytes: Span<UInt8>
  ) throws(StoreError) -> PrecomputedAnswer? {
    var purchase: AnswerDecoder?
    while position < timeline.upperBound {
      let segment = try sized(bytes)
      var decoder = AnswerDecoder(at: segment.lowerBound)
      let flags = SegmentFlags(rawValue: UInt32(truncatingIfNeeded: try decoder.unsigned(bytes)))
      let end = try flags.contains(.hasEnd) ? decoder.instant(since: start, bytes) : nil
      let reason = try decoder.reason(bytes)
      if flags.contains(.decidingIsNew) { purchase = decoder }
      if let end, end <= now { continue }
      return try decoder.answer(reason, flags, end, since: start, purchase, bytes)
    }
    return nil
  }

  /// Decodes the evidence of the transactions in the timelines that begin here.
  consuming func transactionEvidence(
    since start: Instant, _ bytes: Span<UInt8>
  ) throws(StoreError) -> [DecidingFact: EvidenceID] {
    var found: [DecidingFact: EvidenceID] = [:]
    while position < bytes.count {
      _ = try sized(bytes)  // the name
      let timeline = try sized(bytes)
      var segments = AnswerDecoder(at: timeline.lowerBound)
      while segments.position < timeline.upperBound {
        var decoder = AnswerDecoder(at: try segments.sized(bytes).lowerBound)
        let flags = SegmentFlags(rawValue: UInt32(truncatingIfNeeded: try decoder.unsigned(bytes)))
        guard flags.contains(.decidingIsNew) else { continue }
        if flags.contains(.hasEnd) { _ = try decoder.instant(since: start, bytes) }
        _ = try decoder.reason(bytes)
        let purchase = try decoder.purchase(since: start, bytes)
        let deciding = purchase.deciding
        found[.transaction(deciding.transactionID, ofLine: deciding.originalTransactionID)] =
          purchase.evidenceID
      }
    }
    return found
  }

  /// The decoded purchase of a segment.
  private struct Purchase {
    let deciding: DecidingTransaction
    let outlook: RenewalOutlook?
    let evidenceID: EvidenceID?
  }

  /// Reads an answer. An instant that is equal to the end of the segment is stored as a flag. `named` is at
  /// the purchase that decides, which an earlier segment may have.
  private mutating func answer(
    _ reason: EntitlementReason, _ flags: SegmentFlags, _ end: Instant?, since start: Instant,
    _ named: AnswerDecoder?, _ bytes: Span<UInt8>
  ) throws(StoreError) -> PrecomputedAnswer {
    var purchase: Purchase?
    if flags.contains(.hasDeciding) {
      guard var named else { throw .corrupt("an answer lacks its purchase") }
      purchase = try named.purchase(since: start, bytes)
      if flags.contains(.decidingIsNew) { self = named }
    }
    let grant = try flags.contains(.hasGrant) ? grant(flags, bytes) : nil
    let grantEvidence = try flags.contains(.hasGrantEvidence) ? evidenceID(bytes) : nil
    let since = try flags.contains(.hasSince) ? instant(since: start, bytes) : nil
    let until = try flags.contains(.hasUntil) ? instant(orEnd: .untilIsEnd, flags, end, start, bytes) : nil
    let paidUntil =
      try flags.contains(.hasPaidUntil) ? instant(orEnd: .paidUntilIsEnd, flags, end, start, bytes) : nil
    var endWithoutDelay: Instant?
    if flags.contains(.hasEndWithoutDelay) {
      endWithoutDelay =
        try flags.contains(.endWithoutDelayIsPaidUntil) ? paidUntil : instant(since: start, bytes)
    }
    let checkAgainAt =
      try flags.contains(.hasCheckAgain) ? instant(orEnd: .checkAgainIsEnd, flags, end, start, bytes) : nil
    let actBy = try flags.contains(.hasActBy) ? instant(orEnd: .actByIsEnd, flags, end, start, bytes) : nil
    let status = EntitlementStatus(
      reason, accessLevel: try flags.accessLevel(), substate: try flags.substate(),
      productState: try flags.productState(), since: since, until: until, paidUntil: paidUntil,
      endWithoutDelay: endWithoutDelay, checkAgainAt: checkAgainAt, actBy: actBy,
      deciding: purchase?.deciding, grant: grant,
      outlook: purchase?.outlook)
    return PrecomputedAnswer(end: end, status: status, evidenceID: purchase?.evidenceID ?? grantEvidence)
  }

  private mutating func grant(
    _ flags: SegmentFlags, _ bytes: Span<UInt8>
  ) throws(StoreError) -> DecidingGrant {
    let id = try text(bytes)
    guard flags.contains(.isExternalGrant) else { return DecidingGrant(grantID: id) }
    return DecidingGrant(
      grantID: id, source: try text(bytes), externalID: try text(bytes), productID: try text(bytes),
      revision: try signed(bytes))
  }

  /// Decodes the next instant, which is omitted if it equals the segment's end.
  private mutating func instant(
    orEnd flag: SegmentFlags, _ flags: SegmentFlags, _ end: Instant?, _ start: Instant, _ bytes: Span<UInt8>
  ) throws(StoreError) -> Instant? {
    try flags.contains(flag) ? end : instant(since: start, bytes)
  }

  /// Reads the deciding transaction with the outlook on its renewal.
  private mutating func purchase(
    since start: Instant, _ bytes: Span<UInt8>
  ) throws(StoreError) -> Purchase {
    let flags = PurchaseFlags(rawValue: UInt32(truncatingIfNeeded: try unsigned(bytes)))
    let line = try text(bytes)
    let deciding = DecidingTransaction(
      transactionID: try flags.contains(.isFirstOfLine) ? line : text(bytes), originalTransactionID: line,
      productID: try text(bytes), type: try code(bytes), ownership: try code(bytes),
      billingPlanType: try flags.contains(.hasBillingPlan) ? code(bytes) : nil,
      commitment: try flags.contains(.hasCommitment) ? commitment(flags, since: start, bytes) : nil,
      payment: try flags.contains(.hasPayment) ? signed(bytes) : nil,
      currency: try flags.contains(.hasPaymentCurrency) ? text(bytes) : nil)
    let evidenceID = try flags.contains(.hasEvidence) ? evidenceID(bytes) : nil
    guard flags.contains(.hasOutlook) else {
      return Purchase(deciding: deciding, outlook: nil, evidenceID: evidenceID)
    }
    let product = try optionalText(sharedWith: deciding.productID, bytes)
    let price = try flags.contains(.hasPrice) ? signed(bytes) : nil
    let currency = try optionalText(sharedWith: nil, bytes)
    var offers: [String] = []
    for _ in 0..<min(try unsigned(bytes), UInt64(bytes.count)) { offers.append(try text(bytes)) }
    let outlook = RenewalOutlook(
      willRenew: flags.contains(.hasWillRenew) ? flags.contains(.willRenew) : nil, productID: product,
      price: price, currency: currency, needsPriceConsent: flags.contains(.needsPriceConsent),
      winBackOfferIDs: offers)
    return Purchase(deciding: deciding, outlook: outlook, evidenceID: evidenceID)
  }

  private mutating func evidenceID(_ bytes: Span<UInt8>) throws(StoreError) -> EvidenceID {
    EvidenceID(rawValue: try signed(bytes))
  }

  private mutating func commitment(
    _ flags: PurchaseFlags, since start: Instant, _ bytes: Span<UInt8>
  ) throws(StoreError) -> TransactionDetails.Commitment {
    TransactionDetails.Commitment(
      billingPeriodNumber: try signed(bytes), totalBillingPeriods: try signed(bytes),
      expiresDate: try flags.contains(.hasCommitmentEnd) ? instant(since: start, bytes) : nil,
      price: try flags.contains(.hasCommitmentPrice) ? signed(bytes) : nil)
  }

  /// Reads an Apple code by its position among the known ones, from 1; 0 stands before the text of an
  /// unknown one.
  private mutating func code<Code: OpenCode>(
    _ bytes: Span<UInt8>
  ) throws(StoreError) -> Code where Code.RawValue == String {
    let index = try unsigned(bytes)
    guard index > 0 else { return .unrecognized(try text(bytes)) }
    let known = Code.known
    guard index <= UInt64(known.count) else { throw .unreadableAnswer }
    return known[Int(index) - 1]
  }

  private mutating func reason(_ bytes: Span<UInt8>) throws(StoreError) -> EntitlementReason {
    let index = try unsigned(bytes)
    guard index < UInt64(AnswerCoding.reasons.count) else { throw .unreadableAnswer }
    return AnswerCoding.reasons[Int(index)]
  }
}

extension AnswerDecoder {
  /// Decodes eight bytes, little-endian.
  mutating func fixed(_ bytes: Span<UInt8>) throws(StoreError) -> UInt64 {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 64, by: 8) { value |= UInt64(try byte(bytes)) << shift }
    return value
  }

  mutating func signed(_ bytes: Span<UInt8>) throws(StoreError) -> Int64 {
    Varint.unzigzag(try unsigned(bytes))
  }

  private mutating func unsigned(_ bytes: Span<UInt8>) throws(StoreError) -> UInt64 {
    guard let value = Varint.read(bytes, at: &position) else { throw .unreadableAnswer }
    return value
  }

  private mutating func byte(_ bytes: Span<UInt8>) throws(StoreError) -> UInt8 {
    guard position < bytes.count else { throw .unreadableAnswer }
    defer { position += 1 }
    return bytes[position]
  }

  /// Skips a part that is preceded by its size, and returns its range.
  private mutating func sized(_ bytes: Span<UInt8>) throws(StoreError) -> Range<Int> {
    let size = try unsigned(bytes)
    guard size <= UInt64(bytes.count - position) else { throw .unreadableAnswer }
    let start = position
    position += Int(size)
    return start..<position
  }

  private mutating func instant(
    since start: Instant, _ bytes: Span<UInt8>
  ) throws(StoreError) -> Instant {
    Instant(millisecondsSince1970: start.millisecondsSince1970 &+ (try signed(bytes)))
  }

  private mutating func text(_ bytes: Span<UInt8>) throws(StoreError) -> String {
    try text(at: try sized(bytes), bytes)
  }

  /// Decodes no text, `previous`, or another text; see ``FactDecoder``.
  private mutating func optionalText(
    sharedWith previous: String?, _ bytes: Span<UInt8>
  ) throws(StoreError) -> String? {
    let size = try unsigned(bytes)
    guard size > 1 else { return size == 0 ? nil : previous }
    guard size - 2 <= UInt64(bytes.count - position) else { throw .unreadableAnswer }
    let start = position
    position += Int(size - 2)
    return try text(at: start..<position, bytes)
  }

  private func text(at range: Range<Int>, _ bytes: Span<UInt8>) throws(StoreError) -> String {
    guard let text = try? UTF8Span(validating: bytes.extracting(range)) else { throw .unreadableAnswer }
    return String(copying: text)
  }
}

extension SegmentFlags {
  fileprivate func substate() throws(StoreError) -> EntitlementSubstate {
    let index = Int(rawValue >> Self.substateShift & 3)
    guard let substate = EntitlementSubstate(rawValue: index) else { throw .unreadableAnswer }
    return substate
  }

  fileprivate func accessLevel() throws(StoreError) -> AccessLevel {
    let index = Int(rawValue >> Self.accessLevelShift & 3)
    guard index < AnswerCoding.accessLevels.count else { throw .unreadableAnswer }
    return AnswerCoding.accessLevels[index]
  }

  fileprivate func productState() throws(StoreError) -> ProductState {
    let index = Int(rawValue >> Self.productStateShift & 3)
    guard index < AnswerCoding.productStates.count else { throw .unreadableAnswer }
    return AnswerCoding.productStates[index]
  }
}

extension Span<UInt8> {
  /// Whether the bytes in `range` are the UTF-8 of `text`.
  fileprivate func equals(_ text: String, in range: Range<Int>) -> Bool {
    guard text.utf8.count == range.count else { return false }
    var position = range.lowerBound
    for byte in text.utf8 {
      guard self[position] == byte else { return false }
      position += 1
    }
    return true
  }
}

extension StoreError {
  fileprivate static let unreadableAnswer = StoreError.corrupt("malformed precomputed answer")
}
