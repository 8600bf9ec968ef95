internal import Bytes
internal import Platform
internal import Store

/// The compressed format of a document, which restores it byte for byte.
///
///     script length | compressed script length | compressed script | incompressible bytes
///
/// The two lengths are 32-bit little-endian. The script has one number for each segment: the lower two bits
/// are its ``Kind``, the others its length or id. The text or the nested segments follow the number.
enum CompressedBody {
  /// A kind of segment. The raw values are stored.
  private enum Kind: UInt32 {
    /// Text of the given length follows in the script.
    case text = 0
    /// The given number of incompressible bytes.
    case incompressible = 1
    /// The shared segment with the given id.
    case shared = 2
    /// The Base64 encoding of the given number of segments, which follow; the lowest bit of the number
    /// selects the alphabet.
    case encoded = 3
  }

  /// Compresses a document. `number` returns the id of a shared segment, or `nil` to store the segment
  /// inline.
  static func compress(
    _ body: [UInt8], with deflater: Deflater,
    number: (ArraySlice<UInt8>) throws(StoreError) -> Int64?
  ) throws(StoreError) -> [UInt8] {
    var (script, incompressible): ([UInt8], [UInt8]) = ([], [])
    func write(_ kind: Kind, _ count: Int) {
      append(UInt32(truncatingIfNeeded: count) << 2 | kind.rawValue, to: &script)
    }
    /// Writes the script that restores the segments in order. A shared part that has no number is written as text.
    func write(_ segments: [BodySegment]) throws(StoreError) {
      for segment in segments {
        switch segment {
        case .text(let bytes):
          write(.text, bytes.count)
          script += bytes
        case .incompressible(let bytes):
          write(.incompressible, bytes.count)
          incompressible += bytes
        case .shared(let bytes):
          if let number = try number(bytes) {
            write(.shared, Int(number))
          } else {
            try write([.text(bytes)])
          }
        case .encoded(let alphabet, let segments):
          write(.encoded, segments.count << 1 | (alphabet == .standard ? 1 : 0))
          try write(segments)
        }
      }
    }
    try write(BodySegment.segments(of: body[...]))
    let compressed: [UInt8]
    do { compressed = try deflater.deflated(script) } catch { throw .failed(error.description) }
    var result: [UInt8] = []
    result.reserveCapacity(8 + compressed.count + incompressible.count)
    append(UInt32(script.count), to: &result)
    append(UInt32(compressed.count), to: &result)
    return result + compressed + incompressible
  }

  /// Decompresses a document. `shared` returns the shared segment with an id.
  ///
  /// - Throws: ``StoreError/corrupt(_:)`` if the bytes are not the output of ``compress(_:with:number:)``.
  static func decompress(
    _ compressed: [UInt8], dictionary: [UInt8], shared: (Int64) throws(StoreError) -> [UInt8]
  ) throws(StoreError) -> [UInt8] {
    var head = Reader(bytes: compressed[...])
    let (scriptCount, compressedCount) = (try head.number(), try head.number())
    let script: [UInt8]
    do {
      script = try inflated(try head.bytes(compressedCount), count: scriptCount, dictionary: dictionary)
    } catch let error as StoreError {
      throw error
    } catch {
      throw .corrupt("the body of a piece of evidence is not compressed correctly")
    }
    var decompression = Decompression(script: Reader(bytes: script[...]), incompressible: head)
    var body: [UInt8] = []
    while !decompression.script.bytes.isEmpty { try decompression.segment(into: &body, depth: 0, shared) }
    return body
  }

  /// Appends 32 bits, little-endian.
  private static func append(_ number: UInt32, to bytes: inout [UInt8]) {
    for shift in stride(from: 0, to: 32, by: 8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
  }

  /// Reads numbers and bytes sequentially.
  private struct Reader {
    var bytes: ArraySlice<UInt8>

    /// Reads 32 bits, little-endian.
    mutating func number() throws(StoreError) -> Int {
      Int(try bytes(4).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
    }

    mutating func bytes(_ count: Int) throws(StoreError) -> ArraySlice<UInt8> {
      guard count <= bytes.count else { throw .corrupt("the body of a piece of evidence is truncated") }
      defer { bytes = bytes.dropFirst(count) }
      return bytes.prefix(count)
    }
  }

  /// The positions in the script and in the incompressible bytes.
  private struct Decompression {
    var script: Reader
    var incompressible: Reader

    /// Appends the next segment to `body`.
    mutating func segment(
      into body: inout [UInt8], depth: Int, _ shared: (Int64) throws(StoreError) -> [UInt8]
    ) throws(StoreError) {
      let number = try script.number()
      let count = number >> 2
      switch Kind(rawValue: UInt32(number & 3)) {
      case .text: body += try script.bytes(count)
      case .incompressible: body += try incompressible.bytes(count)
      case .shared: body += try shared(Int64(count))
      case .encoded:
        guard depth < 8 else { throw .corrupt("the body of a piece of evidence is nested too deeply") }
        var inner: [UInt8] = []
        for _ in 0..<count >> 1 { try segment(into: &inner, depth: depth + 1, shared) }
        body += (count & 1 == 1 ? Base64.standard : .url).encodeUTF8(inner)
      case nil: throw .corrupt("the body of a piece of evidence has an unknown segment")
      }
    }
  }
}

/// The compression dictionary: text that Apple's documents have in common, most frequent last.
///
/// Stored bodies depend on it, so it never changes; a new dictionary needs a new value of
/// `evidence.compression`.
enum CompressionDictionary {
  static let first = Array(text.utf8)

  private static let text =
    #""advancedCommerceInfo":{"commitmentInfo":{"billingPlanType":""rawConsumptionRequestReason":""#
    + #""externalPurchaseId":""tokenCreationDate":"responseIdentifier":""requestIdentifier":""#
    + #""storefrontCountryCodes":["succeededCount":,"failedCount":,"summary":{"appData":{"#
    + #""signedAppTransactionInfo":""applicationVersion":""originalApplicationVersion":""preorderDate":"#
    + #""deviceVerification":""deviceVerificationNonce":""originalPlatform":"iOS""receiptType":"ProductionSandbox","#
    + #""receiptCreationDate":"bundleVersion":"1""appAppleId":"versionExternalIdentifier":"#
    + #""expirationIntent":1,"gracePeriodExpiresDate":"priceIncreaseStatus":1,"eligibleWinBackOfferIds":[""#
    + #""offerPeriod":"P1M","offerDiscountType":"FREE_TRIALPAY_AS_YOU_GOPAY_UP_FRONT","offerIdentifier":""offerType":1,"#
    + #""revocationType":"REFUND_FULLREFUND_PRORATEDFAMILY_REVOKE","revocationPercentage":"revocationDate":"#
    + #""revocationReason":0,"isUpgraded":true,"inAppOwnershipType":"FAMILY_SHARED","#
    + #""type":"Non-ConsumableConsumableNon-Renewing Subscription","notificationType":"TESTONE_TIME_CHARGE"#
    + #"CONSUMPTION_REQUESTREFUND_DECLINEDREFUND_REVERSEDREFUNDREVOKEPRICE_INCREASERENEWAL_EXTENDEDRENEWAL_EXTENSION"#
    + #"GRACE_PERIOD_EXPIREDGRACE_PERIODBILLING_RECOVERYBILLING_RETRYDID_FAIL_TO_RENEWEXPIREDVOLUNTARY"#
    + #"OFFER_REDEEMEDDID_CHANGE_RENEWAL_PREFUPGRADEDOWNGRADEDID_CHANGE_RENEWAL_STATUSAUTO_RENEW_ENABLED"#
    + #"AUTO_RENEW_DISABLED"SUBSCRIBED","subtype":"RESUBSCRIBEINITIAL_BUYDID_RENEW","notificationUUID":""#
    + #"","data":{"appAppleId":"bundleId":"com.","bundleVersion":"1","environment":"ProductionSandbox","#
    + #""signedTransactionInfo":"","signedRenewalInfo":"","status":1}"},"version":"2.0","signedDate":17"#
    + #"{"originalTransactionId":"","autoRenewProductId":"","productId":"","autoRenewStatus":1,"#
    + #""isInBillingRetryPeriod":false,"renewalPrice":990,"currency":"USD","signedDate":17,"environment":"Sandbox","#
    + #""recentSubscriptionStartDate":17,"renewalDate":17,"appTransactionId":"70"}"#
    + #"{"transactionId":"2000000,"originalTransactionId":"2000000","webOrderLineItemId":"2000000","#
    + #""bundleId":"com.","productId":"","subscriptionGroupIdentifier":"2","purchaseDate":17,"originalPurchaseDate":17,"#
    + #""expiresDate":17,"quantity":1,"type":"Auto-Renewable Subscription","appAccountToken":"","#
    + #""inAppOwnershipType":"PURCHASED","signedDate":17,"environment":"Production","transactionReason":"#
    + #""PURCHASE","storefront":"USA","storefrontId":"143441","price":9990,"currency":"USD","appTransactionId":"70"}"#
    + #"RENEWAL","{"signedPayload":""#
}
