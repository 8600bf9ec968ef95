internal import AppStore
internal import Bytes
internal import Entitlements

/// Writes facts in the format that ``FactDecoder`` documents. ``AnswerCoding`` uses the same primitives.
struct FactEncoder {
  private(set) var bytes: [UInt8] = []

  /// Creates an encoder with room for most facts, so that its bytes are not moved as they grow.
  init() { bytes.reserveCapacity(128) }

  /// Appends all facts of a customer, in their order.
  mutating func append(_ facts: CustomerFacts) {
    append(unsigned: UInt64(facts.transactions.count))
    for index in facts.transactions.indices {
      append(facts.transactions[index], after: index == 0 ? nil : facts.transactions[index - 1])
    }
    append(unsigned: UInt64(facts.renewalHistories.count))
    for history in facts.renewalHistories { append(history) }
    append(unsigned: UInt64(facts.grants.count))
    for grant in facts.grants { append(grant) }
    append(unsigned: UInt64(facts.appTransactions.count))
    for appTransaction in facts.appTransactions { append(appTransaction) }
  }

  /// Appends a transaction without the texts that it shares with the `previous` one.
  mutating func append(_ fact: TransactionFact, after previous: TransactionFact?) {
    var flags: TransactionFlags = []
    flags.set(.sameLine, fact.originalTransactionID == previous?.originalTransactionID)
    flags.set(.sameProduct, fact.productID == previous?.productID)
    flags.set(.isFirstOfLine, fact.transactionID == fact.originalTransactionID)
    flags.set(.hasOriginalPurchaseDate, fact.originalPurchaseDate != nil)
    flags.set(.hasExpiresDate, fact.expiresDate != nil)
    flags.set(.hasRevocationDate, fact.revocationDate != nil)
    flags.set(.hasRevocationReason, fact.revocationReason != nil)
    flags.set(.hasRevocationType, fact.revocationType != nil)
    flags.set(.isUpgraded, fact.isUpgraded)
    flags.set(.hasOfferType, fact.offerType != nil)
    flags.set(.hasOfferDiscountType, fact.offerDiscountType != nil)
    flags.set(.hasGroup, fact.subscriptionGroupID != nil)
    if let group = fact.subscriptionGroupID { flags.set(.sameGroup, group == previous?.subscriptionGroupID) }
    flags.set(.hasQuantity, fact.quantity != 1)
    flags.set(.hasRevokedSeats, fact.revokedSeatQuantity != nil)
    flags.set(.hasDetails, fact.details != TransactionDetails())
    flags.set(.hasEarlyArrival, fact.arrivedEarlyAt != nil)

    append(unsigned: UInt64(flags.rawValue))
    if !flags.contains(.sameLine) { append(fact.originalTransactionID) }
    if !flags.contains(.isFirstOfLine) { append(fact.transactionID) }
    if !flags.contains(.sameProduct) { append(fact.productID) }
    append(fact.type)
    append(fact.ownership)
    let base = fact.purchaseDate
    append(signed: base.millisecondsSince1970)
    append(fact.signedDate, since: base)
    if let date = fact.originalPurchaseDate { append(date, since: base) }
    if let date = fact.expiresDate { append(date, since: base) }
    if let date = fact.revocationDate { append(date, since: base) }
    if let code = fact.revocationReason { append(code) }
    if let code = fact.revocationType { append(code) }
    if let code = fact.offerType { append(code) }
    if let code = fact.offerDiscountType { append(code) }
    if let group = fact.subscriptionGroupID, !flags.contains(.sameGroup) { append(group) }
    if flags.contains(.hasQuantity) { append(signed: fact.quantity) }
    if let quantity = fact.revokedSeatQuantity { append(signed: quantity) }
    if let arrived = fact.arrivedEarlyAt { append(arrived, since: base) }
    if flags.contains(.hasDetails) { append(fact.details, since: base, after: previous?.details) }
  }

  /// Appends the contents once each, and the packed list of their signatures.
  mutating func append(_ history: RenewalHistory) {
    append(history.originalTransactionID)
    var base = history.signatures[0].signedDate
    append(signed: base.millisecondsSince1970)
    append(unsigned: UInt64(history.contents.count))
    for index in history.contents.indices {
      append(history.contents[index], since: base, after: index == 0 ? nil : history.contents[index - 1])
    }
    append(unsigned: UInt64(history.signatures.count))
    for signature in history.signatures {
      append(unsigned: UInt64(signature.content))
      append(signature.signedDate, since: base)
      append(signature.knownAt, since: signature.signedDate)
      base = signature.signedDate
    }
  }

  /// Appends a renewal info without its line and signature date; dates are relative to `base`.
  private mutating func append(_ fact: RenewalFact, since base: Instant, after previous: RenewalFact?) {
    var flags: RenewalFlags = []
    flags.set(.sameProduct, fact.productID == previous?.productID)
    flags.set(.hasAutoRenewProduct, fact.autoRenewProductID != nil)
    flags.set(.renewsToSameProduct, fact.autoRenewProductID == fact.productID)
    flags.set(.hasAutoRenewStatus, fact.autoRenewStatus != nil)
    flags.set(.isInBillingRetry, fact.isInBillingRetry)
    flags.set(.hasGracePeriod, fact.gracePeriodExpiresDate != nil)
    flags.set(.hasExpirationIntent, fact.expirationIntent != nil)
    flags.set(.hasPriceIncreaseStatus, fact.priceIncreaseStatus != nil)
    flags.set(.hasRenewalDate, fact.renewalDate != nil)
    flags.set(.hasDetails, fact.details != RenewalDetails())

    append(unsigned: UInt64(flags.rawValue))
    if !flags.contains(.sameProduct) { append(fact.productID) }
    if let product = fact.autoRenewProductID, !flags.contains(.renewsToSameProduct) { append(product) }
    if let code = fact.autoRenewStatus { append(code) }
    if let date = fact.gracePeriodExpiresDate { append(date, since: base) }
    if let code = fact.expirationIntent { append(code) }
    if let code = fact.priceIncreaseStatus { append(code) }
    if let date = fact.renewalDate { append(date, since: base) }
    if flags.contains(.hasDetails) { append(fact.details, since: base, after: previous?.details) }
  }
}

extension FactEncoder {
  mutating func append(byte: UInt8) { bytes.append(byte) }

  mutating func append(unsigned value: UInt64) { Varint.append(value, to: &bytes) }

  /// Appends eight bytes, little-endian.
  mutating func append(fixed value: UInt64) {
    for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
  }

  /// Appends the number of bytes, and the bytes.
  mutating func append(sized body: [UInt8]) {
    append(unsigned: UInt64(body.count))
    bytes.append(contentsOf: body)
  }

  /// Appends a zigzag varint, in which small numbers of either sign are short.
  mutating func append(signed value: Int64) {
    append(unsigned: Varint.zigzag(value))
  }

  mutating func append(_ instant: Instant, since base: Instant) {
    append(signed: instant.millisecondsSince1970 &- base.millisecondsSince1970)
  }

  mutating func append(_ text: String) {
    append(unsigned: UInt64(text.utf8.count))
    bytes.append(contentsOf: text.utf8)
  }

  /// Appends no text, a reference to the same member of the fact before, or another text.
  mutating func append(_ text: String?, sharedWith previous: String? = nil) {
    guard let text else { return append(unsigned: 0) }
    guard text != previous else { return append(unsigned: 1) }
    append(unsigned: UInt64(text.utf8.count) + 2)
    bytes.append(contentsOf: text.utf8)
  }

  /// Appends the index of a known code, counted from 1; for an unknown code, 0 and its text.
  mutating func append<Code: OpenCode>(_ code: Code) where Code.RawValue == String {
    let index = Code.known.firstIndex(of: code).map { $0 + 1 } ?? 0
    append(unsigned: UInt64(index))
    if index == 0 { append(code.rawValue) }
  }

  mutating func append<Code: OpenCode>(_ code: Code) where Code.RawValue == Int64 {
    let index = Code.known.firstIndex(of: code).map { $0 + 1 } ?? 0
    append(unsigned: UInt64(index))
    if index == 0 { append(signed: code.rawValue) }
  }
}

// Reduced facts.
extension FactEncoder {
  /// Appends what reduced facts know of the others.
  mutating func append(_ omitted: OmittedAccess) {
    append(unsigned: UInt64(omitted.spans.count))
    for (entitlement, spans) in omitted.spans.sorted(by: { $0.key < $1.key }) {
      append(entitlement)
      append(unsigned: UInt64(spans.count))
      for span in spans {
        append(unsigned: UInt64(span.level.rawValue))
        append(signed: span.start.millisecondsSince1970)
        append(signed: span.end.millisecondsSince1970)
      }
    }
  }
}
