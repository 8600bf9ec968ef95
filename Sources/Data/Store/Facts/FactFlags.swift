/// The optional parts of a stored transaction, and those equal to the transaction before.
///
/// Persisted: the meaning of a bit may change only with the version of the format.
struct TransactionFlags: OptionSet {
  let rawValue: UInt32

  /// The purchase is that of the transaction before, and does not follow.
  static let sameLine = TransactionFlags(rawValue: 1 << 0)
  /// The transaction has the id of the purchase, which does not follow.
  static let isFirstOfLine = TransactionFlags(rawValue: 1 << 1)
  /// The product is that of the transaction before, and does not follow.
  static let sameProduct = TransactionFlags(rawValue: 1 << 2)
  static let hasExpiresDate = TransactionFlags(rawValue: 1 << 3)
  static let hasOriginalPurchaseDate = TransactionFlags(rawValue: 1 << 4)
  static let hasGroup = TransactionFlags(rawValue: 1 << 5)
  /// The subscription group is that of the transaction before, and does not follow.
  static let sameGroup = TransactionFlags(rawValue: 1 << 6)
  static let hasRevocationDate = TransactionFlags(rawValue: 1 << 7)
  static let hasRevocationReason = TransactionFlags(rawValue: 1 << 8)
  static let hasRevocationType = TransactionFlags(rawValue: 1 << 9)
  static let isUpgraded = TransactionFlags(rawValue: 1 << 10)
  static let hasOfferType = TransactionFlags(rawValue: 1 << 11)
  static let hasOfferDiscountType = TransactionFlags(rawValue: 1 << 12)
  /// The quantity is not 1, and follows.
  static let hasQuantity = TransactionFlags(rawValue: 1 << 13)
  static let hasRevokedSeats = TransactionFlags(rawValue: 1 << 14)
  /// ``TransactionDetailFlags`` and what they announce follow.
  static let hasDetails = TransactionFlags(rawValue: 1 << 15)
  /// The service had it before its purchase date; the time follows.
  static let hasEarlyArrival = TransactionFlags(rawValue: 1 << 16)
}

/// The optional parts of a stored renewal info. Persisted as ``TransactionFlags`` are.
struct RenewalFlags: OptionSet {
  let rawValue: UInt32

  static let hasAutoRenewProduct = RenewalFlags(rawValue: 1 << 0)
  /// The next product is that of the renewal info, and does not follow.
  static let renewsToSameProduct = RenewalFlags(rawValue: 1 << 1)
  static let hasAutoRenewStatus = RenewalFlags(rawValue: 1 << 2)
  static let isInBillingRetry = RenewalFlags(rawValue: 1 << 3)
  static let hasGracePeriod = RenewalFlags(rawValue: 1 << 4)
  static let hasExpirationIntent = RenewalFlags(rawValue: 1 << 5)
  static let hasPriceIncreaseStatus = RenewalFlags(rawValue: 1 << 6)
  static let hasRenewalDate = RenewalFlags(rawValue: 1 << 7)
  /// ``RenewalDetailFlags`` and what they announce follow.
  static let hasDetails = RenewalFlags(rawValue: 1 << 8)
  /// The product is that of the renewal info before, and does not follow.
  static let sameProduct = RenewalFlags(rawValue: 1 << 9)
}

/// The optional numbers and codes in the details of a transaction; its texts encode their absence themselves.
struct TransactionDetailFlags: OptionSet {
  let rawValue: UInt32

  static let hasPrice = TransactionDetailFlags(rawValue: 1 << 0)
  static let hasReason = TransactionDetailFlags(rawValue: 1 << 1)
  static let hasRevocationPercentage = TransactionDetailFlags(rawValue: 1 << 2)
  static let hasBillingPlan = TransactionDetailFlags(rawValue: 1 << 3)
  static let hasCommitment = TransactionDetailFlags(rawValue: 1 << 4)
  static let hasCommitmentEnd = TransactionDetailFlags(rawValue: 1 << 5)
  static let hasCommitmentPrice = TransactionDetailFlags(rawValue: 1 << 6)
  static let hasInvitationManagement = TransactionDetailFlags(rawValue: 1 << 7)
  /// A receipt stated it, so a signed transaction replaces it.
  static let isFromReceipt = TransactionDetailFlags(rawValue: 1 << 8)
  /// The price of all seats follows.
  static let hasSeatsPrice = TransactionDetailFlags(rawValue: 1 << 9)
  static let hasSeatRefunds = TransactionDetailFlags(rawValue: 1 << 10)
  /// An earlier document had no reason for several transactions in one period.
  static let wasWithoutAdditions = TransactionDetailFlags(rawValue: 1 << 11)
  static let hasRefunds = TransactionDetailFlags(rawValue: 1 << 12)
  static let hasReversals = TransactionDetailFlags(rawValue: 1 << 13)
  static let hasOfferPeriod = TransactionDetailFlags(rawValue: 1 << 14)
  /// An extension moved the end; the first one follows.
  static let hasFirstExpiresDate = TransactionDetailFlags(rawValue: 1 << 15)
  static let isAdvancedCommerce = TransactionDetailFlags(rawValue: 1 << 16)
  /// A receipt is newer than the signed document; ``ReceiptStatementFlags`` and what it states follow.
  static let hasReceiptStatement = TransactionDetailFlags(rawValue: 1 << 17)
  /// An earlier document said that the transaction was upgraded; its signature follows.
  static let hasUpgradeReport = TransactionDetailFlags(rawValue: 1 << 18)
  /// The claim of a seat had to wait for another one in the period; the times of access before follow.
  static let hasEarlierSeatTimes = TransactionDetailFlags(rawValue: 1 << 19)
}

/// The optional parts of what a receipt states of a signed transaction.
struct ReceiptStatementFlags: OptionSet {
  let rawValue: UInt32

  static let isCancelled = ReceiptStatementFlags(rawValue: 1 << 0)
  static let hasReason = ReceiptStatementFlags(rawValue: 1 << 1)
  /// The revocation of the transaction is this cancellation.
  static let isInForce = ReceiptStatementFlags(rawValue: 1 << 2)
}

/// The optional numbers and codes in the details of a renewal info.
struct RenewalDetailFlags: OptionSet {
  let rawValue: UInt32

  static let hasPrice = RenewalDetailFlags(rawValue: 1 << 0)
  static let hasOfferType = RenewalDetailFlags(rawValue: 1 << 1)
  static let hasOfferDiscountType = RenewalDetailFlags(rawValue: 1 << 2)
  static let hasRecentStart = RenewalDetailFlags(rawValue: 1 << 3)
  static let hasBillingPlan = RenewalDetailFlags(rawValue: 1 << 4)
  static let hasCommitment = RenewalDetailFlags(rawValue: 1 << 5)
  static let hasCommitmentStatus = RenewalDetailFlags(rawValue: 1 << 6)
  static let hasCommitmentBillingPlan = RenewalDetailFlags(rawValue: 1 << 7)
  static let hasCommitmentDate = RenewalDetailFlags(rawValue: 1 << 8)
  static let hasCommitmentPrice = RenewalDetailFlags(rawValue: 1 << 9)
  static let hasOfferPeriod = RenewalDetailFlags(rawValue: 1 << 10)
}

/// The optional parts of a grant.
struct GrantFlags: OptionSet {
  let rawValue: UInt32

  static let hasUntil = GrantFlags(rawValue: 1 << 0)
  static let hasRevokedAt = GrantFlags(rawValue: 1 << 1)
  /// A purchase in another store; its source, id, product and revision follow.
  static let isExternal = GrantFlags(rawValue: 1 << 2)
}

/// The optional parts of an app transaction.
struct AppTransactionFlags: OptionSet {
  let rawValue: UInt32

  static let hasOriginalPurchaseDate = AppTransactionFlags(rawValue: 1 << 0)
  static let hasPreorderDate = AppTransactionFlags(rawValue: 1 << 1)
  static let hasPlatform = AppTransactionFlags(rawValue: 1 << 2)
  static let hasRescindedConsent = AppTransactionFlags(rawValue: 1 << 3)
  static let hasReceiptExpiry = AppTransactionFlags(rawValue: 1 << 4)
  static let hasRevocation = AppTransactionFlags(rawValue: 1 << 5)
  static let hasEarlier = AppTransactionFlags(rawValue: 1 << 6)
}

extension OptionSet {
  mutating func set(_ member: Element, _ isSet: Bool) {
    if isSet { insert(member) }
  }
}
