package import AppStore
package import Entitlements

/// The binary format of precomputed answers, which allows one to be read without copying or decoding the
/// others.
///
/// Format: a version byte, the fingerprint (8 bytes, little-endian), the start; then the name of each
/// entitlement and the size of its timeline, which is 0 if it equals the timeline before. A timeline is a
/// sequence of segments, each preceded by its size. Numbers and texts are those of ``FactDecoder``; times are
/// relative to the start. A segment contains its purchase, the evidence and the renewal outlook only if they
/// differ from the segment before.
package enum AnswerCoding {
  /// The first byte. Answers of any other version count as missing.
  static let version: UInt8 = 4

  // Cases are stored as indices into these lists, so a new case must be the last one of its enumeration.
  static let reasons = EntitlementReason.allCases
  static let productStates = ProductState.allCases
  static let accessLevels = AccessLevel.allCases

  /// Encodes all answers of a customer.
  package static func encode(_ answers: PrecomputedAnswers) -> [UInt8] {
    var encoder = FactEncoder()
    encoder.append(byte: version)
    encoder.append(fixed: answers.fingerprint)
    encoder.append(signed: answers.start.millisecondsSince1970)
    var previous: [UInt8] = []
    for (entitlement, timeline) in answers.timelines.sorted(by: { $0.key < $1.key }) {
      var body = FactEncoder()
      body.append(timeline, since: answers.start, answers.evidence)
      encoder.append(entitlement)
      encoder.append(sized: body.bytes == previous ? [] : body.bytes)
      previous = body.bytes
    }
    return encoder.bytes
  }

  /// Decodes the answer about one entitlement with its end; returns `nil` if the bytes have no answer for
  /// this entitlement, fingerprint and time, or are of another version.
  ///
  /// - Throws: ``StoreError/corrupt(_:)`` if the bytes are not the output of ``encode(_:)``.
  package static func answer(
    in bytes: Span<UInt8>, to entitlement: String, under fingerprint: UInt64, at now: Instant
  ) throws(StoreError) -> PrecomputedAnswer? {
    guard bytes.count > 9, bytes[0] == version else { return nil }
    var decoder = AnswerDecoder(at: 1)
    guard try decoder.fixed(bytes) == fingerprint else { return nil }
    let start = Instant(millisecondsSince1970: try decoder.signed(bytes))
    guard start <= now, let timeline = try decoder.timeline(of: entitlement, bytes) else { return nil }
    return try AnswerDecoder(at: timeline.lowerBound).segment(at: now, since: start, timeline, bytes)
  }

  /// Decodes the evidence of the transactions that decide the answers; empty for bytes of another version.
  ///
  /// - Throws: as ``answer(in:to:under:at:)``.
  package static func transactionEvidence(
    in bytes: Span<UInt8>
  ) throws(StoreError) -> [DecidingFact: EvidenceID] {
    guard bytes.count > 9, bytes[0] == version else { return [:] }
    var decoder = AnswerDecoder(at: 1)
    _ = try decoder.fixed(bytes)
    let start = Instant(millisecondsSince1970: try decoder.signed(bytes))
    return try decoder.transactionEvidence(since: start, bytes)
  }
}

/// The optional parts of a segment. Persisted.
struct SegmentFlags: OptionSet {
  let rawValue: UInt32

  /// Two bits each.
  static let substateShift: UInt32 = 0
  static let productStateShift: UInt32 = 2
  static let accessLevelShift: UInt32 = 4

  /// The end of the segment follows; without it the segment has none.
  static let hasEnd = SegmentFlags(rawValue: 1 << 6)
  /// A transaction decides.
  static let hasDeciding = SegmentFlags(rawValue: 1 << 7)
  /// The deciding transaction and its outlook follow; otherwise they are those of the segment before.
  static let decidingIsNew = SegmentFlags(rawValue: 1 << 8)
  /// A grant decides; its id follows.
  static let hasGrant = SegmentFlags(rawValue: 1 << 9)
  /// The beginning of access follows.
  static let hasSince = SegmentFlags(rawValue: 1 << 10)
  /// The end of access follows, unless it is the end of the segment.
  static let hasUntil = SegmentFlags(rawValue: 1 << 11)
  /// Access ends with the segment, so that no instant follows.
  static let untilIsEnd = SegmentFlags(rawValue: 1 << 12)
  /// The time of the next change follows, unless it is the end of the segment.
  static let hasCheckAgain = SegmentFlags(rawValue: 1 << 13)
  /// The next change is the end of the segment.
  static let checkAgainIsEnd = SegmentFlags(rawValue: 1 << 14)
  /// The time by which the customer must act follows, unless it is the end of the segment.
  static let hasActBy = SegmentFlags(rawValue: 1 << 15)
  /// The customer must act by the end of the segment.
  static let actByIsEnd = SegmentFlags(rawValue: 1 << 16)
  /// The evidence id follows the grant id.
  static let hasGrantEvidence = SegmentFlags(rawValue: 1 << 17)
  /// The end of what is paid follows, unless it is the end of the segment.
  static let hasPaidUntil = SegmentFlags(rawValue: 1 << 18)
  /// The segment ends with what is paid.
  static let paidUntilIsEnd = SegmentFlags(rawValue: 1 << 19)
  /// The other store, its id of the purchase, its product and the revision follow the grant id.
  static let isExternalGrant = SegmentFlags(rawValue: 1 << 20)
  /// Access ends earlier if no renewal is late; that end follows, unless it is the end of what is paid.
  static let hasEndWithoutDelay = SegmentFlags(rawValue: 1 << 21)
  /// Without a late renewal access ends with what is paid.
  static let endWithoutDelayIsPaidUntil = SegmentFlags(rawValue: 1 << 22)
}

/// The optional parts of a segment's purchase. Persisted.
struct PurchaseFlags: OptionSet {
  let rawValue: UInt32

  /// The transaction has the id of the purchase, which does not follow.
  static let isFirstOfLine = PurchaseFlags(rawValue: 1 << 0)
  /// A renewal info is known; its members follow.
  static let hasOutlook = PurchaseFlags(rawValue: 1 << 1)
  /// The renewal info states whether it renews, in ``willRenew``.
  static let hasWillRenew = PurchaseFlags(rawValue: 1 << 2)
  /// The subscription renews.
  static let willRenew = PurchaseFlags(rawValue: 1 << 3)
  /// A price increase awaits consent.
  static let needsPriceConsent = PurchaseFlags(rawValue: 1 << 4)
  /// The price of the renewal follows.
  static let hasPrice = PurchaseFlags(rawValue: 1 << 5)
  /// The evidence id follows the ownership type.
  static let hasEvidence = PurchaseFlags(rawValue: 1 << 6)
  /// The billing plan follows.
  static let hasBillingPlan = PurchaseFlags(rawValue: 1 << 7)
  /// The numbers of the payment and of all payments follow.
  static let hasCommitment = PurchaseFlags(rawValue: 1 << 8)
  /// The end of the commitment follows.
  static let hasCommitmentEnd = PurchaseFlags(rawValue: 1 << 9)
  /// The price of the commitment follows.
  static let hasCommitmentPrice = PurchaseFlags(rawValue: 1 << 10)
  /// The cost of the payment follows the commitment.
  static let hasPayment = PurchaseFlags(rawValue: 1 << 11)
  /// The currency of the payment follows.
  static let hasPaymentCurrency = PurchaseFlags(rawValue: 1 << 12)
}
