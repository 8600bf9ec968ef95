internal import AppStore
internal import Entitlements

// Details, grants and app transactions, in the order of ``FactEncoder``.
extension FactDecoder {
  /// Replaces ``details``, those of the transaction before.
  mutating func readDetails(since base: Instant) throws(StoreError) {
    let flags = TransactionDetailFlags(rawValue: UInt32(truncatingIfNeeded: try unsigned()))
    // Moved, because a copy has a dozen reference counts.
    var previous = TransactionDetails()
    swap(&previous, &details)
    details.isFromReceipt = flags.contains(.isFromReceipt)
    details.wasWithoutAdditions = flags.contains(.wasWithoutAdditions)
    details.isAdvancedCommerce = flags.contains(.isAdvancedCommerce)
    if flags.contains(.hasPrice) { details.price = try signed() }
    details.currency = try optionalText(sharedWith: previous.currency)
    details.offerIdentifier = try optionalText(sharedWith: previous.offerIdentifier)
    details.webOrderLineItemID = try optionalText()
    details.appAccountToken = try optionalText(sharedWith: previous.appAccountToken)
    details.appTransactionID = try optionalText(sharedWith: previous.appTransactionID)
    details.storefront = try optionalText(sharedWith: previous.storefront)
    details.additionalTransactionReason = try optionalText()
    details.previousOriginalTransactionID = try optionalText(
      sharedWith: previous.previousOriginalTransactionID)
    if flags.contains(.hasReason) { details.transactionReason = try code() }
    if flags.contains(.hasRevocationPercentage) { details.revocationPercentage = try signed() }
    if flags.contains(.hasBillingPlan) { details.billingPlanType = try code() }
    if flags.contains(.hasInvitationManagement) { details.invitationManagement = try code() }
    if flags.contains(.hasSeatsPrice) { details.seatsPrice = try signed() }
    if flags.contains(.hasOfferPeriod) { details.offerPeriod = try text() }
    if flags.contains(.hasFirstExpiresDate) { details.firstExpiresDate = try instant(since: base) }
    if flags.contains(.hasUpgradeReport) { details.upgradeReportedAt = try instant(since: base) }
    for _ in 0..<(try flags.contains(.hasSeatRefunds) ? count() : 0) {
      details.seatRefunds.append(.init(quantity: try signed(), reportedAt: try instant(since: base)))
    }
    for _ in 0..<(try flags.contains(.hasRefunds) ? count() : 0) {
      let (date, code) = (try instant(since: base), try signed())
      let percentage = code < 0 ? -(code + 1) : code
      details.refunds.append(
        .init(date: date, percentage: percentage == 0 ? nil : percentage - 1, isAppIssue: code < 0))
    }
    for _ in 0..<(try flags.contains(.hasReversals) ? count() : 0) {
      details.reversals.append(try instant(since: base))
    }
    if flags.contains(.hasReceiptStatement) {
      details.receiptStatement = try receiptStatement(since: base)
    }
    for _ in 0..<(try flags.contains(.hasEarlierSeatTimes) ? count() : 0) {
      let start = try instant(since: base)
      details.earlierSeatTimes.append(start..<max(start, try instant(since: start)))
    }
    guard flags.contains(.hasCommitment) else { return }
    details.commitment = TransactionDetails.Commitment(
      billingPeriodNumber: try signed(), totalBillingPeriods: try signed(),
      expiresDate: try flags.contains(.hasCommitmentEnd) ? instant(since: base) : nil,
      price: try flags.contains(.hasCommitmentPrice) ? signed() : nil)
  }

  private mutating func receiptStatement(
    since base: Instant
  ) throws(StoreError) -> TransactionDetails.ReceiptStatement {
    let flags = ReceiptStatementFlags(rawValue: UInt32(truncatingIfNeeded: try unsigned()))
    let statedAt = try instant(since: base)
    let cancelledAt = try flags.contains(.isCancelled) ? instant(since: base) : nil
    let reason: RevocationReason? = try flags.contains(.hasReason) ? code() : nil
    return .init(
      statedAt: statedAt, cancelledAt: cancelledAt, reason: reason, isInForce: flags.contains(.isInForce))
  }

  /// Replaces ``renewalDetails``, those of the renewal info before.
  mutating func readRenewalDetails(since base: Instant) throws(StoreError) {
    let flags = RenewalDetailFlags(rawValue: UInt32(truncatingIfNeeded: try unsigned()))
    var previous = RenewalDetails()
    swap(&previous, &renewalDetails)
    if flags.contains(.hasPrice) { renewalDetails.renewalPrice = try signed() }
    renewalDetails.currency = try optionalText(sharedWith: previous.currency)
    renewalDetails.offerIdentifier = try optionalText(sharedWith: previous.offerIdentifier)
    if flags.contains(.hasOfferType) { renewalDetails.offerType = try code() }
    if flags.contains(.hasOfferDiscountType) { renewalDetails.offerDiscountType = try code() }
    if flags.contains(.hasOfferPeriod) { renewalDetails.offerPeriod = try text() }
    for _ in 0..<(try count()) { renewalDetails.eligibleWinBackOfferIDs.append(try text()) }
    if flags.contains(.hasRecentStart) {
      renewalDetails.recentSubscriptionStartDate = try instant(since: base)
    }
    if flags.contains(.hasBillingPlan) { renewalDetails.billingPlanType = try code() }
    guard flags.contains(.hasCommitment) else { return }
    var commitment = RenewalDetails.Commitment()
    commitment.autoRenewProductID = try optionalText(sharedWith: previous.commitment?.autoRenewProductID)
    if flags.contains(.hasCommitmentStatus) { commitment.autoRenewStatus = try code() }
    if flags.contains(.hasCommitmentBillingPlan) { commitment.billingPlanType = try code() }
    if flags.contains(.hasCommitmentDate) { commitment.renewalDate = try instant(since: base) }
    if flags.contains(.hasCommitmentPrice) { commitment.renewalPrice = try signed() }
    renewalDetails.commitment = commitment
  }

  mutating func grant() throws(StoreError) -> GrantFact {
    let flags = GrantFlags(rawValue: UInt32(truncatingIfNeeded: try unsigned()))
    let id = try text()
    let entitlement = try text()
    guard let level = AccessLevel(rawValue: Int(truncatingIfNeeded: try unsigned())) else {
      throw .corrupt("unknown access level in a grant")
    }
    let since = Instant(millisecondsSince1970: try signed())
    let until = try flags.contains(.hasUntil) ? instant(since: since) : nil
    let revokedAt = try flags.contains(.hasRevokedAt) ? instant(since: since) : nil
    var fact = GrantFact(
      grantID: id, entitlement: entitlement, accessLevel: level, since: since, until: until,
      revokedAt: revokedAt, note: try text(), actor: try text())
    guard flags.contains(.isExternal) else { return fact }
    var external = ExternalPurchase(
      source: try text(), externalID: try text(), productID: try text(), revision: try signed())
    for _ in 0..<(try count()) { external.earlier.append(try grant()) }
    fact.external = external
    return fact
  }

  mutating func appTransaction() throws(StoreError) -> AppTransactionFact {
    let flags = AppTransactionFlags(rawValue: UInt32(truncatingIfNeeded: try unsigned()))
    var fact = AppTransactionFact(
      appTransactionID: try text(), originalApplicationVersion: try text(),
      signedDate: Instant(millisecondsSince1970: try signed()))
    if flags.contains(.hasOriginalPurchaseDate) {
      fact.originalPurchaseDate = try instant(since: fact.signedDate)
    }
    if flags.contains(.hasPreorderDate) { fact.preorderDate = try instant(since: fact.signedDate) }
    if flags.contains(.hasPlatform) { fact.originalPlatform = try code() }
    if flags.contains(.hasRescindedConsent) { fact.consentRescindedAt = try instant(since: fact.signedDate) }
    if flags.contains(.hasReceiptExpiry) { fact.receiptExpiresDate = try instant(since: fact.signedDate) }
    if flags.contains(.hasRevocation) { fact.revocationDate = try instant(since: fact.signedDate) }
    for _ in 0..<(try flags.contains(.hasEarlier) ? count() : 0) {
      fact.earlier.append(try validity(since: fact.signedDate))
    }
    return fact
  }

  private mutating func validity(since base: Instant) throws(StoreError) -> AppTransactionFact.Validity {
    let flags = AppTransactionFlags(rawValue: UInt32(truncatingIfNeeded: try unsigned()))
    return AppTransactionFact.Validity(
      signedDate: try instant(since: base),
      receiptExpiresDate: try flags.contains(.hasReceiptExpiry) ? instant(since: base) : nil,
      revocationDate: try flags.contains(.hasRevocation) ? instant(since: base) : nil)
  }
}
