internal import AppStore
internal import Bytes
internal import Entitlements

/// Reads the format that ``FactEncoder`` writes.
///
/// Format: a version byte (``FactCoding``), then varints, length-prefixed texts, and dates in milliseconds
/// relative to one base date of each fact. Flags mark the line, product or group of a transaction as equal to
/// those of the transaction before, as in most periods of a subscription; the decoded facts then share one
/// string. Texts of the details do the same with their length: 0 is no text, 1 is the text before, and
/// otherwise the length is two less. Equal texts of transactions that were encoded apart are shared, too, if
/// one decoder reads them. The renewal infos of a line are its distinct contents and the list of
/// signatures, each with the index of its content, its date since the signature before, and the time until it
/// was known.
struct FactDecoder: ~Copyable {
  private var bytes: [UInt8]
  private var position = 0
  // The parts that a transaction can share with the one before.
  private var line = ""
  private var product = ""
  private var group = ""
  var details = TransactionDetails()
  // The parts that a renewal info can share with the one before.
  private var renewalProduct = ""
  var renewalDetails = RenewalDetails()

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Continues with other bytes.
  mutating func read(_ bytes: [UInt8]) { (self.bytes, position) = (bytes, 0) }

  var isAtEnd: Bool { position == bytes.count }

  /// Reads all facts of a customer, in their order.
  mutating func customerFacts() throws(StoreError) -> CustomerFacts {
    let transactionCount = try count()
    var transactions: [TransactionFact] = []
    transactions.reserveCapacity(transactionCount)
    for _ in 0..<transactionCount { transactions.append(try transaction()) }
    let renewalCount = try count()
    var renewals: [RenewalHistory] = []
    renewals.reserveCapacity(renewalCount)
    for _ in 0..<renewalCount { renewals.append(try renewalHistory()) }
    var grants: [GrantFact] = []
    for _ in 0..<(try count()) { grants.append(try grant()) }
    var appTransactions: [AppTransactionFact] = []
    for _ in 0..<(try count()) { appTransactions.append(try appTransaction()) }
    return CustomerFacts(ordered: transactions, renewals, grants, appTransactions)
  }

  /// Reads a transaction, whose line, product and group may be those of the one before.
  mutating func transaction() throws(StoreError) -> TransactionFact {
    let flags = TransactionFlags(rawValue: UInt32(truncatingIfNeeded: try unsigned()))
    if !flags.contains(.sameLine) { line = try text(sharedWith: line) }
    let id = try flags.contains(.isFirstOfLine) ? line : text()
    if !flags.contains(.sameProduct) { product = try text() }
    let type: ProductType = try code()
    let ownership: InAppOwnershipType = try code()
    let base = Instant(millisecondsSince1970: try signed())
    let signedDate = try instant(since: base)
    let originalPurchaseDate = try flags.contains(.hasOriginalPurchaseDate) ? instant(since: base) : nil
    let expiresDate = try flags.contains(.hasExpiresDate) ? instant(since: base) : nil
    let revocationDate = try flags.contains(.hasRevocationDate) ? instant(since: base) : nil
    let revocationReason: RevocationReason? = try flags.contains(.hasRevocationReason) ? code() : nil
    let revocationType: RevocationType? = try flags.contains(.hasRevocationType) ? code() : nil
    let offerType: OfferType? = try flags.contains(.hasOfferType) ? code() : nil
    let discount: OfferDiscountType? = try flags.contains(.hasOfferDiscountType) ? code() : nil
    if flags.contains(.hasGroup), !flags.contains(.sameGroup) { group = try text() }
    let quantity = try flags.contains(.hasQuantity) ? signed() : 1
    let revokedSeats = try flags.contains(.hasRevokedSeats) ? signed() : nil
    let arrived = try flags.contains(.hasEarlyArrival) ? instant(since: base) : nil
    if flags.contains(.hasDetails) { try readDetails(since: base) } else { details = .init() }
    // Built in one expression, because changing a member of this large value would copy it.
    return TransactionFact(
      transactionID: id, originalTransactionID: line, productID: product, type: type, purchaseDate: base,
      originalPurchaseDate: originalPurchaseDate, expiresDate: expiresDate, revocationDate: revocationDate,
      revocationReason: revocationReason, revocationType: revocationType,
      isUpgraded: flags.contains(.isUpgraded), ownership: ownership, offerType: offerType,
      offerDiscountType: discount, subscriptionGroupID: flags.contains(.hasGroup) ? group : nil,
      quantity: quantity, revokedSeatQuantity: revokedSeats, signedDate: signedDate, arrivedEarlyAt: arrived,
      details: details)
  }

  /// Reads the renewal infos of a line: the different contents, and the signatures, which refer to them.
  mutating func renewalHistory() throws(StoreError) -> RenewalHistory {
    let line = try text()
    var base = Instant(millisecondsSince1970: try signed())
    (renewalProduct, renewalDetails) = ("", RenewalDetails())
    let contentCount = try count()
    var contents: [RenewalFact] = []
    contents.reserveCapacity(contentCount)
    for _ in 0..<contentCount { contents.append(try renewal(of: line, since: base)) }
    let signatureCount = try count()
    var signatures: [RenewalHistory.Signature] = []
    signatures.reserveCapacity(signatureCount)
    for _ in 0..<signatureCount {
      let content = Int(truncatingIfNeeded: try unsigned())
      let signedDate = try instant(since: base)
      signatures.append(
        .init(signedDate: signedDate, knownAt: try instant(since: signedDate), content: content))
      base = signedDate
    }
    guard let history = RenewalHistory(line, contents: contents, signatures: signatures) else {
      throw .corrupt("the renewal infos of a line do not fit together")
    }
    return history
  }

  /// Reads the content of a renewal info, whose product may be that of the one before. The signing date is in its signatures.
  private mutating func renewal(of line: String, since base: Instant) throws(StoreError) -> RenewalFact {
    let flags = RenewalFlags(rawValue: UInt32(truncatingIfNeeded: try unsigned()))
    if !flags.contains(.sameProduct) { renewalProduct = try text() }
    var nextProduct: String?
    if flags.contains(.hasAutoRenewProduct) {
      nextProduct = try flags.contains(.renewsToSameProduct) ? renewalProduct : text()
    }
    let status: AutoRenewStatus? = try flags.contains(.hasAutoRenewStatus) ? code() : nil
    let graceEnd = try flags.contains(.hasGracePeriod) ? instant(since: base) : nil
    let intent: ExpirationIntent? = try flags.contains(.hasExpirationIntent) ? code() : nil
    let increase: PriceIncreaseStatus? = try flags.contains(.hasPriceIncreaseStatus) ? code() : nil
    let renewalDate = try flags.contains(.hasRenewalDate) ? instant(since: base) : nil
    if flags.contains(.hasDetails) { try readRenewalDetails(since: base) } else { renewalDetails = .init() }
    // Built in one expression, as a transaction is.
    return RenewalFact(
      originalTransactionID: line, productID: renewalProduct, autoRenewProductID: nextProduct,
      autoRenewStatus: status, isInBillingRetry: flags.contains(.isInBillingRetry),
      gracePeriodExpiresDate: graceEnd, expirationIntent: intent, priceIncreaseStatus: increase,
      renewalDate: renewalDate, signedDate: Instant(millisecondsSince1970: 0), details: renewalDetails)
  }
}

extension FactDecoder {
  mutating func byte() throws(StoreError) -> UInt8 {
    guard position < bytes.count else { throw .corrupt("a fact ends too early") }
    defer { position += 1 }
    return bytes[position]
  }

  mutating func unsigned() throws(StoreError) -> UInt64 {
    var offset = position
    guard let value = Varint.read(bytes.span, at: &offset) else {
      throw .corrupt("a number in a fact is truncated or too long")
    }
    position = offset
    return value
  }

  mutating func signed() throws(StoreError) -> Int64 {
    Varint.unzigzag(try unsigned())
  }

  /// Decodes the number of elements, each of at least one byte, and rejects a number above the remaining
  /// bytes.
  mutating func count() throws(StoreError) -> Int {
    let value = try unsigned()
    guard value <= UInt64(bytes.count - position) else { throw .corrupt("a fact ends too early") }
    return Int(value)
  }

  mutating func instant(since base: Instant) throws(StoreError) -> Instant {
    Instant(millisecondsSince1970: base.millisecondsSince1970 &+ (try signed()))
  }

  /// Decodes a text; if it equals `known`, both share their storage.
  mutating func text(sharedWith known: String? = nil) throws(StoreError) -> String {
    text(ofLength: try count(), sharedWith: known)
  }

  /// Decodes a text of a length that does not exceed the remaining bytes.
  private mutating func text(ofLength length: Int, sharedWith known: String?) -> String {
    let range = position..<position + length
    position = range.upperBound
    // Shorter texts have no storage besides their value.
    if length > 15, var known, known.utf8.count == length {
      let isSame = bytes.withUnsafeBytes { bytes in
        known.withUTF8 {
          UnsafeRawBufferPointer($0).hasSameBytes(as: UnsafeRawBufferPointer(rebasing: bytes[range]))
        }
      }
      if isSame { return known }
    }
    return String(decoding: bytes[range], as: UTF8.self)
  }

  /// Decodes no text, the same member of the fact before, or another text.
  mutating func optionalText(sharedWith previous: String? = nil) throws(StoreError) -> String? {
    let value = try unsigned()
    guard value > 1 else { return value == 0 ? nil : previous }
    guard value - 2 <= UInt64(bytes.count - position) else { throw .corrupt("a fact ends too early") }
    return text(ofLength: Int(value - 2), sharedWith: previous)
  }

  mutating func code<Code: OpenCode>() throws(StoreError) -> Code where Code.RawValue == String {
    let index = try unsigned()
    guard index > 0 else { return .unrecognized(try text()) }
    return try known(index)
  }

  mutating func code<Code: OpenCode>() throws(StoreError) -> Code where Code.RawValue == Int64 {
    let index = try unsigned()
    guard index > 0 else { return .unrecognized(try signed()) }
    return try known(index)
  }

  private func known<Code: OpenCode>(_ index: UInt64) throws(StoreError) -> Code {
    guard index <= UInt64(Code.known.count) else { throw .corrupt("unknown code in a fact") }
    return Code.known[Int(index) - 1]
  }
}

// Reduced facts.
extension FactDecoder {
  /// Reads the access of facts that are left out of reduced facts.
  mutating func omittedAccess() throws(StoreError) -> OmittedAccess {
    var omitted = OmittedAccess()
    for _ in 0..<(try count()) {
      let entitlement = try text()
      for _ in 0..<(try count()) {
        guard let level = AccessLevel(rawValue: Int(truncatingIfNeeded: try unsigned())) else {
          throw .corrupt("unknown access level of omitted facts")
        }
        let start = Instant(millisecondsSince1970: try signed())
        let end = Instant(millisecondsSince1970: try signed())
        omitted.spans[entitlement, default: []].append(.init(level: level, start: start, end: end))
      }
    }
    return omitted
  }
}
