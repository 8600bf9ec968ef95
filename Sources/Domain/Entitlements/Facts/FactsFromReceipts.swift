package import AppStore

extension TransactionFact {
  /// Creates the fact of one purchase in an app receipt or a `verifyReceipt` response.
  ///
  /// Apple does not sign the entry itself (WWDC21-10174): it is as trustworthy as the receipt, and a signed
  /// transaction replaces it (``TransactionDetails/isFromReceipt``).
  ///
  /// - Parameters:
  ///   - purchase: The entry of `in_app` or `latest_receipt_info`.
  ///   - type: The product type, which the entry does not contain.
  ///   - date: When the receipt was created.
  /// - Throws: ``FactError/missing(field:)`` for a field that Apple always sends.
  package init(
    _ purchase: LegacyTransaction, type: ProductType, createdAt date: Instant
  ) throws(FactError) {
    // In a receipt only auto-renewable subscriptions have an expiry.
    let type = purchase.expiresDate == nil ? type : .autoRenewableSubscription
    if type == .autoRenewableSubscription, purchase.expiresDate == nil {
      throw .missing(field: "expires_date")
    }
    guard let transactionID = purchase.transactionId else { throw .missing(field: "transaction_id") }
    guard let productID = purchase.productId else { throw .missing(field: "product_id") }
    guard let purchaseDate = purchase.purchaseDate else { throw .missing(field: "purchase_date") }
    let isUpgraded = purchase.isUpgraded ?? false
    self.init(
      transactionID: transactionID, originalTransactionID: purchase.originalTransactionId ?? transactionID,
      productID: productID, type: type, purchaseDate: purchaseDate,
      originalPurchaseDate: purchase.originalPurchaseDate, expiresDate: purchase.expiresDate,
      // An upgrade cuts the old period; the purchase that follows says where.
      revocationDate: isUpgraded ? nil : purchase.cancellationDate,
      revocationReason: isUpgraded ? nil : purchase.cancellationReason.map { RevocationReason(rawValue: $0) },
      isUpgraded: isUpgraded, ownership: purchase.inAppOwnershipType ?? .purchased,
      offerType: purchase.offerType,
      offerDiscountType: purchase.isTrialPeriod == true ? .freeTrial : nil,
      subscriptionGroupID: purchase.subscriptionGroupIdentifier, quantity: purchase.quantity ?? 1,
      signedDate: date, details: TransactionDetails(purchase))
  }
}

extension [TransactionFact] {
  /// The facts of one receipt, with upgraded periods marked as such instead of revoked.
  ///
  /// App receipts have no `is_upgraded`. The cancellation date of an upgraded period is "the time and date of the
  /// upgrade transaction" (Apple, Receipt Fields), so a period is upgraded if another product of its line was
  /// bought then. A renewal that was charged before the upgrade is cancelled hours after it.
  package var withUpgradesMarked: [TransactionFact] {
    guard contains(where: { $0.revocationDate != nil }) else { return self }
    let lines = Dictionary(grouping: self, by: \.originalTransactionID).mapValues { line in
      PeriodIndex(line.compactMap(\.period))
    }
    return map { fact in
      guard fact.revocationDate != nil, let line = lines[fact.originalTransactionID],
        fact.isUpgraded(in: line) || fact.isReplacedRenewal(in: line)
      else { return fact }
      var upgraded = fact
      upgraded.isUpgraded = true
      upgraded.revocationDate = nil
      upgraded.revocationReason = nil
      return upgraded
    }
  }
}

extension TransactionFact {
  /// Receipts have whole seconds, in milliseconds.
  static let receiptPrecision: Int64 = 1_000

  /// The period by product; `nil` for a purchase without an end.
  fileprivate var period: PeriodIndex<String>.Period? {
    expiresDate.map {
      .init(transactionID: transactionID, plan: productID, start: purchaseDate, end: $0)
    }
  }

  /// Whether this cancelled period of a receipt ended because another product of the same line upgraded it.
  fileprivate func isUpgraded(in line: PeriodIndex<String>) -> Bool {
    guard let cancelled = revocationDate, let expiresDate else { return false }
    let tolerance = Self.receiptPrecision + 1
    let upgrades = line.positions(
      after: max(purchaseDate, cancelled.advanced(byMilliseconds: -tolerance)),
      before: min(expiresDate, cancelled.advanced(byMilliseconds: tolerance)))
    return line.firstStart(in: upgrades, besides: productID) != nil
  }

  /// Whether this cancelled period of a receipt is a renewal in whose place an upgrade began, in the hours between its
  /// charge and its start.
  fileprivate func isReplacedRenewal(in line: PeriodIndex<String>) -> Bool {
    guard let renewed = line.start(ofPeriodEndingAt: purchaseDate) else { return false }
    let earliest = purchaseDate.advanced(byMilliseconds: -CustomerFacts.longestChargeLead - 1)
    let upgrades = line.positions(after: max(renewed, earliest), before: purchaseDate)
    return line.firstStart(in: upgrades, besides: productID, endingAfter: purchaseDate) != nil
  }
}

extension CustomerFacts {
  /// Whether the period at `index` ends at `date`, in milliseconds since 1970. If the period or the date is from a receipt,
  /// they may differ by a second.
  func ends(_ index: Int, at date: Int64, fromReceipt isFromReceipt: Bool = false) -> Bool {
    guard let end = transactions[index].expiresDate?.millisecondsSince1970 else { return false }
    guard end != date else { return true }
    return (end &- date).magnitude <= TransactionFact.receiptPrecision
      && (isFromReceipt || transactions[index].inDetails { $0.isFromReceipt })
  }
}

extension LegacyTransaction {
  /// The offer of the purchase in the terms of signed transactions (WWDC21-10174).
  fileprivate var offerType: OfferType? {
    if promotionalOfferId != nil { return .promotional }
    if offerCodeRefName != nil { return .offerCode }
    return isTrialPeriod == true || isInIntroOfferPeriod == true ? .introductory : nil
  }
}

extension TransactionDetails {
  fileprivate init(_ purchase: LegacyTransaction) {
    self.init()
    isFromReceipt = true
    offerIdentifier = purchase.promotionalOfferId ?? purchase.offerCodeRefName
    webOrderLineItemID = purchase.webOrderLineItemId.flatMap { $0 == "0" ? nil : $0 }
    appAccountToken = purchase.appAccountToken
  }
}
