package import AppStore

extension TransactionFact {
  /// Creates the fact of a signed transaction, which the caller has verified.
  ///
  /// - Throws: ``FactError/missing(field:)`` for a field that Apple always sends, and for an auto-renewable
  ///   subscription without `expiresDate`, which would say nothing about access;
  ///   ``FactError/transactionIDZero``.
  package init(_ payload: JWSTransactionDecodedPayload) throws(FactError) {
    let type = try required(payload.type, "type")
    if type == .autoRenewableSubscription { _ = try required(payload.expiresDate, "expiresDate") }
    self.init(
      transactionID: try identifier(payload.transactionId, "transactionId"),
      originalTransactionID: try identifier(payload.originalTransactionId, "originalTransactionId"),
      productID: try required(payload.productId, "productId"),
      type: type,
      purchaseDate: try required(payload.purchaseDate, "purchaseDate"),
      originalPurchaseDate: payload.originalPurchaseDate,
      expiresDate: payload.expiresDate,
      revocationDate: payload.revocationDate,
      revocationReason: payload.revocationReason,
      revocationType: payload.revocationType,
      isUpgraded: payload.isUpgraded ?? false,
      ownership: payload.inAppOwnershipType ?? .purchased,
      offerType: payload.offerType,
      offerDiscountType: payload.offerDiscountType,
      subscriptionGroupID: payload.subscriptionGroupIdentifier,
      quantity: max(1, payload.quantity ?? 1),
      revokedSeatQuantity: payload.multiSeatInfo?.revokedSeatQuantity,
      signedDate: try required(payload.signedDate, "signedDate"),
      details: TransactionDetails(payload))
    if let revokedSeatQuantity, revokedSeatQuantity > 0 {
      details.seatRefunds = [.init(quantity: revokedSeatQuantity, reportedAt: signedDate)]
    }
    if let revocationDate {
      details.refunds = [
        .init(
          date: revocationDate, percentage: details.revocationPercentage,
          isAppIssue: revocationReason == .appIssue)
      ]
    }
  }
}

extension TransactionDetails {
  fileprivate init(_ payload: JWSTransactionDecodedPayload) {
    self.init()
    price = payload.price
    currency = payload.currency
    offerIdentifier = payload.offerIdentifier
    offerPeriod = payload.offerDiscountType == .payUpFront ? payload.offerPeriod : nil
    webOrderLineItemID = payload.webOrderLineItemId
    appAccountToken = payload.appAccountToken
    appTransactionID = payload.appTransactionId
    storefront = payload.storefront
    transactionReason = payload.transactionReason
    additionalTransactionReason = payload.additionalTransactionReason?.rawValue
    revocationPercentage = payload.revocationPercentage
    previousOriginalTransactionID = payload.previousOriginalTransactionId
    isAdvancedCommerce = payload.advancedCommerceInfo != nil
    billingPlanType = payload.billingPlanType
    invitationManagement = payload.multiSeatInfo?.invitationManagement
    seatsPrice = payload.multiSeatInfo?.totalPrice
    commitment = payload.commitmentInfo.map { info in
      Commitment(
        billingPeriodNumber: info.billingPeriodNumber ?? 0,
        totalBillingPeriods: info.totalBillingPeriods ?? 0, expiresDate: info.commitmentExpiresDate,
        price: info.commitmentPrice)
    }
  }
}

extension RenewalFact {
  /// Creates the fact of a signed renewal info, which the caller has verified.
  ///
  /// - Throws: ``FactError/missing(field:)`` for a field that Apple always sends.
  package init(_ payload: JWSRenewalInfoDecodedPayload) throws(FactError) {
    self.init(
      originalTransactionID: try identifier(payload.originalTransactionId, "originalTransactionId"),
      productID: try required(payload.productId, "productId"),
      autoRenewProductID: payload.autoRenewProductId,
      autoRenewStatus: payload.autoRenewStatus,
      isInBillingRetry: payload.isInBillingRetryPeriod ?? false,
      gracePeriodExpiresDate: payload.gracePeriodExpiresDate,
      expirationIntent: payload.expirationIntent,
      priceIncreaseStatus: payload.priceIncreaseStatus ?? payload.advancedCommerceInfo?.priceIncreaseStatus,
      renewalDate: payload.renewalDate,
      signedDate: try required(payload.signedDate, "signedDate"),
      details: RenewalDetails(payload))
  }
}

extension RenewalDetails {
  fileprivate init(_ payload: JWSRenewalInfoDecodedPayload) {
    self.init()
    renewalPrice = payload.renewalPrice
    currency = payload.currency
    offerType = payload.offerType
    offerIdentifier = payload.offerIdentifier
    offerDiscountType = payload.offerDiscountType
    offerPeriod = payload.offerDiscountType == .payUpFront ? payload.offerPeriod : nil
    eligibleWinBackOfferIDs = payload.eligibleWinBackOfferIds ?? []
    recentSubscriptionStartDate = payload.recentSubscriptionStartDate
    billingPlanType = payload.renewalBillingPlanType
    commitment = payload.commitmentInfo.map(Commitment.init)
  }
}

extension RenewalDetails.Commitment {
  fileprivate init(_ info: RenewalCommitmentInfo) {
    self.init()
    autoRenewProductID = info.commitmentAutoRenewProductId
    autoRenewStatus = info.commitmentAutoRenewStatus
    billingPlanType = info.commitmentRenewalBillingPlanType
    renewalDate = info.commitmentRenewalDate
    renewalPrice = info.commitmentRenewalPrice
  }
}

extension AppTransactionFact {
  /// Creates the fact of a signed app transaction, which the caller has verified.
  ///
  /// - Throws: ``FactError/missing(field:)`` for a field that Apple always sends.
  package init(_ payload: AppTransactionPayload) throws(FactError) {
    self.init(
      appTransactionID: payload.appTransactionId ?? "",
      originalApplicationVersion: try required(
        payload.originalApplicationVersion, "originalApplicationVersion"),
      originalPurchaseDate: payload.originalPurchaseDate,
      preorderDate: payload.preorderDate,
      originalPlatform: payload.originalPlatform,
      revocationDate: payload.revocationDate,
      signedDate: try required(payload.receiptCreationDate, "receiptCreationDate"))
  }
}

extension FactError {
  /// The reason why a payload has no fact; `nil` if it has one, or if documents of its kind have none.
  package static func found(in payload: some DecodedPayload) -> FactError? {
    do throws(FactError) {
      switch payload {
      case let payload as JWSTransactionDecodedPayload: _ = try TransactionFact(payload)
      case let payload as JWSRenewalInfoDecodedPayload: _ = try RenewalFact(payload)
      case let payload as AppTransactionPayload: _ = try AppTransactionFact(payload)
      default: break
      }
      return nil
    } catch {
      return error
    }
  }
}

private func identifier(_ id: String?, _ field: String) throws(FactError) -> String {
  let id = try required(id, field)
  guard id != "0" else { throw .transactionIDZero }
  return id
}

private func required<Value>(_ value: Value?, _ field: String) throws(FactError) -> Value {
  guard let value else { throw .missing(field: field) }
  return value
}
