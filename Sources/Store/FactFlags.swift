/// Which parts of a transaction are there, and which are those of the one before.
struct TransactionFlags: OptionSet {
  let rawValue: UInt32

  static let sameLine = TransactionFlags(rawValue: 1 << 0)
  static let isFirstOfLine = TransactionFlags(rawValue: 1 << 1)
  static let sameProduct = TransactionFlags(rawValue: 1 << 2)
  static let hasExpiresDate = TransactionFlags(rawValue: 1 << 3)
  static let hasOriginalPurchaseDate = TransactionFlags(rawValue: 1 << 4)
  static let hasGroup = TransactionFlags(rawValue: 1 << 5)
  static let sameGroup = TransactionFlags(rawValue: 1 << 6)
  static let hasRevocationDate = TransactionFlags(rawValue: 1 << 7)
  static let hasRevocationReason = TransactionFlags(rawValue: 1 << 8)
  static let hasRevocationType = TransactionFlags(rawValue: 1 << 9)
  static let isUpgraded = TransactionFlags(rawValue: 1 << 10)
  static let hasOfferType = TransactionFlags(rawValue: 1 << 11)
  static let hasOfferDiscountType = TransactionFlags(rawValue: 1 << 12)
  static let hasQuantity = TransactionFlags(rawValue: 1 << 13)
}

/// Which parts of a renewal info are there.
struct RenewalFlags: OptionSet {
  let rawValue: UInt32

  static let hasAutoRenewProduct = RenewalFlags(rawValue: 1 << 0)
  static let renewsToSameProduct = RenewalFlags(rawValue: 1 << 1)
  static let hasAutoRenewStatus = RenewalFlags(rawValue: 1 << 2)
  static let isInBillingRetry = RenewalFlags(rawValue: 1 << 3)
  static let hasGracePeriod = RenewalFlags(rawValue: 1 << 4)
  static let hasExpirationIntent = RenewalFlags(rawValue: 1 << 5)
  static let hasPriceIncreaseStatus = RenewalFlags(rawValue: 1 << 6)
  static let hasRenewalDate = RenewalFlags(rawValue: 1 << 7)
}

extension OptionSet {
  mutating func set(_ member: Element, _ isSet: Bool) {
    if isSet { insert(member) }
  }
}
