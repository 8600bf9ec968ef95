internal import AppStore
internal import Entitlements

// Details, grants and app transactions; ``FactDecoder`` reads them in the same order.
extension FactEncoder {
  mutating func append(
    _ details: TransactionDetails, since base: Instant, after previous: TransactionDetails?
  ) {
    append(unsigned: UInt64(TransactionDetailFlags(of: details).rawValue))
    if let price = details.price { append(signed: price) }
    append(details.currency, sharedWith: previous?.currency)
    append(details.offerIdentifier, sharedWith: previous?.offerIdentifier)
    append(details.webOrderLineItemID)
    append(details.appAccountToken, sharedWith: previous?.appAccountToken)
    append(details.appTransactionID, sharedWith: previous?.appTransactionID)
    append(details.storefront, sharedWith: previous?.storefront)
    append(details.additionalTransactionReason)
    append(details.previousOriginalTransactionID, sharedWith: previous?.previousOriginalTransactionID)
    if let code = details.transactionReason { append(code) }
    if let percentage = details.revocationPercentage { append(signed: percentage) }
    if let code = details.billingPlanType { append(code) }
    if let code = details.invitationManagement { append(code) }
    if let price = details.seatsPrice { append(signed: price) }
    if let period = details.offerPeriod { append(period) }
    if let date = details.firstExpiresDate { append(date, since: base) }
    if let date = details.upgradeReportedAt { append(date, since: base) }
    if !details.seatRefunds.isEmpty {
      append(unsigned: UInt64(details.seatRefunds.count))
      for refund in details.seatRefunds {
        append(signed: refund.quantity)
        append(refund.reportedAt, since: base)
      }
    }
    if !details.refunds.isEmpty {
      append(unsigned: UInt64(details.refunds.count))
      for refund in details.refunds {
        append(refund.date, since: base)
        // One more than the percentage; 0: none. Below 0, one less than the opposite: for an issue with the app.
        let percentage = refund.percentage.map { $0 + 1 } ?? 0
        append(signed: refund.isAppIssue ? -percentage - 1 : percentage)
      }
    }
    if !details.reversals.isEmpty {
      append(unsigned: UInt64(details.reversals.count))
      for reversal in details.reversals { append(reversal, since: base) }
    }
    if let statement = details.receiptStatement { append(statement, since: base) }
    if !details.earlierSeatTimes.isEmpty {
      append(unsigned: UInt64(details.earlierSeatTimes.count))
      for time in details.earlierSeatTimes {
        append(time.lowerBound, since: base)
        append(time.upperBound, since: time.lowerBound)
      }
    }
    guard let commitment = details.commitment else { return }
    append(signed: commitment.billingPeriodNumber)
    append(signed: commitment.totalBillingPeriods)
    if let date = commitment.expiresDate { append(date, since: base) }
    if let price = commitment.price { append(signed: price) }
  }

  private mutating func append(_ statement: TransactionDetails.ReceiptStatement, since base: Instant) {
    var flags = ReceiptStatementFlags()
    flags.set(.isCancelled, statement.cancelledAt != nil)
    flags.set(.hasReason, statement.reason != nil)
    flags.set(.isInForce, statement.isInForce)
    append(unsigned: UInt64(flags.rawValue))
    append(statement.statedAt, since: base)
    if let date = statement.cancelledAt { append(date, since: base) }
    if let code = statement.reason { append(code) }
  }

  mutating func append(
    _ details: RenewalDetails, since base: Instant, after previous: RenewalDetails?
  ) {
    append(unsigned: UInt64(RenewalDetailFlags(of: details).rawValue))
    if let price = details.renewalPrice { append(signed: price) }
    append(details.currency, sharedWith: previous?.currency)
    append(details.offerIdentifier, sharedWith: previous?.offerIdentifier)
    if let code = details.offerType { append(code) }
    if let code = details.offerDiscountType { append(code) }
    if let period = details.offerPeriod { append(period) }
    append(unsigned: UInt64(details.eligibleWinBackOfferIDs.count))
    for offer in details.eligibleWinBackOfferIDs { append(offer) }
    if let date = details.recentSubscriptionStartDate { append(date, since: base) }
    if let code = details.billingPlanType { append(code) }
    guard let commitment = details.commitment else { return }
    append(commitment.autoRenewProductID, sharedWith: previous?.commitment?.autoRenewProductID)
    if let code = commitment.autoRenewStatus { append(code) }
    if let code = commitment.billingPlanType { append(code) }
    if let date = commitment.renewalDate { append(date, since: base) }
    if let price = commitment.renewalPrice { append(signed: price) }
  }

  mutating func append(_ fact: GrantFact) {
    var flags: GrantFlags = []
    flags.set(.hasUntil, fact.until != nil)
    flags.set(.hasRevokedAt, fact.revokedAt != nil)
    flags.set(.isExternal, fact.external != nil)
    append(unsigned: UInt64(flags.rawValue))
    append(fact.grantID)
    append(fact.entitlement)
    append(unsigned: UInt64(fact.accessLevel.rawValue))
    append(signed: fact.since.millisecondsSince1970)
    if let date = fact.until { append(date, since: fact.since) }
    if let date = fact.revokedAt { append(date, since: fact.since) }
    append(fact.note)
    append(fact.actor)
    guard let external = fact.external else { return }
    append(external.source)
    append(external.externalID)
    append(external.productID)
    append(signed: external.revision)
    append(unsigned: UInt64(external.earlier.count))
    for state in external.earlier { append(state) }
  }

  mutating func append(_ fact: AppTransactionFact) {
    var flags: AppTransactionFlags = []
    flags.set(.hasOriginalPurchaseDate, fact.originalPurchaseDate != nil)
    flags.set(.hasPreorderDate, fact.preorderDate != nil)
    flags.set(.hasPlatform, fact.originalPlatform != nil)
    flags.set(.hasRescindedConsent, fact.consentRescindedAt != nil)
    flags.set(.hasReceiptExpiry, fact.receiptExpiresDate != nil)
    flags.set(.hasRevocation, fact.revocationDate != nil)
    flags.set(.hasEarlier, !fact.earlier.isEmpty)
    append(unsigned: UInt64(flags.rawValue))
    append(fact.appTransactionID)
    append(fact.originalApplicationVersion)
    append(signed: fact.signedDate.millisecondsSince1970)
    if let date = fact.originalPurchaseDate { append(date, since: fact.signedDate) }
    if let date = fact.preorderDate { append(date, since: fact.signedDate) }
    if let code = fact.originalPlatform { append(code) }
    if let date = fact.consentRescindedAt { append(date, since: fact.signedDate) }
    if let date = fact.receiptExpiresDate { append(date, since: fact.signedDate) }
    if let date = fact.revocationDate { append(date, since: fact.signedDate) }
    guard !fact.earlier.isEmpty else { return }
    append(unsigned: UInt64(fact.earlier.count))
    for validity in fact.earlier { append(validity, since: fact.signedDate) }
  }

  private mutating func append(_ validity: AppTransactionFact.Validity, since base: Instant) {
    var flags: AppTransactionFlags = []
    flags.set(.hasReceiptExpiry, validity.receiptExpiresDate != nil)
    flags.set(.hasRevocation, validity.revocationDate != nil)
    append(unsigned: UInt64(flags.rawValue))
    append(validity.signedDate, since: base)
    if let date = validity.receiptExpiresDate { append(date, since: base) }
    if let date = validity.revocationDate { append(date, since: base) }
  }
}

extension TransactionDetailFlags {
  /// The flags of the members that `details` has.
  fileprivate init(of details: TransactionDetails) {
    self = []
    set(.hasPrice, details.price != nil)
    set(.hasReason, details.transactionReason != nil)
    set(.hasRevocationPercentage, details.revocationPercentage != nil)
    set(.hasBillingPlan, details.billingPlanType != nil)
    set(.hasCommitment, details.commitment != nil)
    set(.hasCommitmentEnd, details.commitment?.expiresDate != nil)
    set(.hasCommitmentPrice, details.commitment?.price != nil)
    set(.hasInvitationManagement, details.invitationManagement != nil)
    set(.isFromReceipt, details.isFromReceipt)
    set(.hasSeatsPrice, details.seatsPrice != nil)
    set(.hasSeatRefunds, !details.seatRefunds.isEmpty)
    set(.wasWithoutAdditions, details.wasWithoutAdditions)
    set(.hasRefunds, !details.refunds.isEmpty)
    set(.hasReversals, !details.reversals.isEmpty)
    set(.hasOfferPeriod, details.offerPeriod != nil)
    set(.hasFirstExpiresDate, details.firstExpiresDate != nil)
    set(.hasUpgradeReport, details.upgradeReportedAt != nil)
    set(.isAdvancedCommerce, details.isAdvancedCommerce)
    set(.hasReceiptStatement, details.receiptStatement != nil)
    set(.hasEarlierSeatTimes, !details.earlierSeatTimes.isEmpty)
  }
}

extension RenewalDetailFlags {
  /// The flags of the members that `details` has.
  fileprivate init(of details: RenewalDetails) {
    self = []
    set(.hasPrice, details.renewalPrice != nil)
    set(.hasOfferType, details.offerType != nil)
    set(.hasOfferDiscountType, details.offerDiscountType != nil)
    set(.hasOfferPeriod, details.offerPeriod != nil)
    set(.hasRecentStart, details.recentSubscriptionStartDate != nil)
    set(.hasBillingPlan, details.billingPlanType != nil)
    set(.hasCommitment, details.commitment != nil)
    set(.hasCommitmentStatus, details.commitment?.autoRenewStatus != nil)
    set(.hasCommitmentBillingPlan, details.commitment?.billingPlanType != nil)
    set(.hasCommitmentDate, details.commitment?.renewalDate != nil)
    set(.hasCommitmentPrice, details.commitment?.renewalPrice != nil)
  }
}
