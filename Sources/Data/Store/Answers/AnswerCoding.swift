package import AppStore
internal import Entitlements

/// Answers as bytes, made for one thing: to find one of them without copying or decoding the others.
///
/// The format: a version byte, the fingerprint (8 bytes, the lowest first), the start; then each
/// entitlement's name with the size of its timeline behind it, 0 if it is that of the name before. A
/// timeline is a row of segments, each with its size before it. Numbers and texts are those of
/// ``FactDecoder``, times relative to the start. A segment names its purchase, the evidence of it and what
/// becomes of it only if it is another one than in the segment before.
package enum AnswerCoding {
  /// The first byte. Answers of any other version are as good as none.
  static let version: UInt8 = 2

  // Persisted as indices into these lists, which may therefore only grow at the end: a new case of these
  // enumerations must be the last one.
  static let reasons = EntitlementReason.allCases
  static let productStates = ProductState.allCases
  static let accessLevels = AccessLevel.allCases

  /// The bytes of all answers about a customer.
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

  /// The one answer that is asked for, with its end; `nil` if the bytes tell none for this entitlement, fingerprint
  /// and moment, or are of another version.
  ///
  /// - Throws: ``StoreError/corrupt(_:)`` if they are not what ``encode(_:)`` made.
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
}

/// What a segment says of itself.
struct SegmentFlags: OptionSet {
  let rawValue: UInt32

  /// Two bits each.
  static let substateShift: UInt32 = 0
  static let productStateShift: UInt32 = 2
  static let accessLevelShift: UInt32 = 4

  static let hasEnd = SegmentFlags(rawValue: 1 << 6)
  static let hasDeciding = SegmentFlags(rawValue: 1 << 7)
  static let decidingIsNew = SegmentFlags(rawValue: 1 << 8)
  static let hasGrant = SegmentFlags(rawValue: 1 << 9)
  static let hasSince = SegmentFlags(rawValue: 1 << 10)
  static let hasUntil = SegmentFlags(rawValue: 1 << 11)
  static let untilIsEnd = SegmentFlags(rawValue: 1 << 12)
  static let hasCheckAgain = SegmentFlags(rawValue: 1 << 13)
  static let checkAgainIsEnd = SegmentFlags(rawValue: 1 << 14)
  static let hasActBy = SegmentFlags(rawValue: 1 << 15)
  static let actByIsEnd = SegmentFlags(rawValue: 1 << 16)
  /// Behind the grant its evidence is named.
  static let hasGrantEvidence = SegmentFlags(rawValue: 1 << 17)
}

/// What is said of a segment's purchase.
struct PurchaseFlags: OptionSet {
  let rawValue: UInt32

  static let isFirstOfLine = PurchaseFlags(rawValue: 1 << 0)
  static let hasOutlook = PurchaseFlags(rawValue: 1 << 1)
  static let hasWillRenew = PurchaseFlags(rawValue: 1 << 2)
  static let willRenew = PurchaseFlags(rawValue: 1 << 3)
  static let needsPriceConsent = PurchaseFlags(rawValue: 1 << 4)
  static let hasPrice = PurchaseFlags(rawValue: 1 << 5)
  /// Behind whose it is, its evidence is named.
  static let hasEvidence = PurchaseFlags(rawValue: 1 << 6)
}
