package import JSON

/// One purchase or one period, to be written as `verifyReceipt` writes it (Apple's `in_app` and
/// `latest_receipt_info`). ``LegacyTransaction`` reads what this writes.
package struct LegacyPurchase: Hashable, Sendable {
  /// In which list it is written: they differ in their members.
  package enum List: Hashable, Sendable {
    /// `in_app`: what the receipt itself holds.
    case inApp
    /// `latest_receipt_info`: what Apple knows today.
    case latestReceiptInfo
  }

  /// When and why Apple took it back.
  package struct Cancellation: Hashable, Sendable {
    package let date: Instant
    /// `nil` where only a receipt tells of it, which has no reasons.
    package let reason: RevocationReason?

    /// A cancellation.
    package init(date: Instant, reason: RevocationReason?) {
      self.date = date
      self.reason = reason
    }
  }

  package var transactionID: String
  package var originalTransactionID: String
  package var productID: String
  /// Of an auto-renewable subscription: only these are told the kinds of their offers.
  package var isSubscription: Bool
  package var quantity: Int64 = 1
  package var purchaseDate: Instant?
  package var originalPurchaseDate: Instant?
  package var expiresDate: Instant?
  package var webOrderLineItemID: String?
  package var offer = LegacyOffer()
  package var cancellation: Cancellation?
  // What follows is in `latest_receipt_info` only.
  package var ownership: InAppOwnershipType?
  package var appAccountToken: String?
  package var subscriptionGroupID: String?
  package var isUpgraded = false

  /// A purchase of one; everything else is set.
  package init(
    transactionID: String, originalTransactionID: String, productID: String, isSubscription: Bool
  ) {
    self.transactionID = transactionID
    self.originalTransactionID = originalTransactionID
    self.productID = productID
    self.isSubscription = isSubscription
  }

  /// The members, numbers and truth values as texts, dates three times.
  package func json(in list: List) -> JSONObject {
    var json = JSONObject(present: [
      ("quantity", .string(String(quantity))),
      ("product_id", .string(productID)),
      ("transaction_id", .string(transactionID)),
      ("original_transaction_id", .string(originalTransactionID)),
      ("web_order_line_item_id", webOrderLineItemID.map(JSONValue.string)),
      ("is_trial_period", isSubscription || list == .inApp ? .string(String(offer.isTrial)) : nil),
      ("is_in_intro_offer_period", isSubscription ? .string(String(offer.isIntroductory)) : nil),
      ("promotional_offer_id", offer.promotionalOfferID.map(JSONValue.string)),
      ("cancellation_reason", cancellation?.reason.map { .string(String($0.rawValue)) }),
    ])
    json.add(legacyDate: purchaseDate, as: "purchase_date")
    json.add(legacyDate: originalPurchaseDate, as: "original_purchase_date")
    json.add(legacyDate: expiresDate, as: "expires_date")
    json.add(legacyDate: cancellation?.date, as: "cancellation_date")
    guard list == .latestReceiptInfo else { return json }
    json["in_app_ownership_type"] = ownership.map { .string($0.rawValue) }
    json["app_account_token"] = appAccountToken.map(JSONValue.string)
    json["offer_code_ref_name"] = offer.offerCodeName.map(JSONValue.string)
    json["is_upgraded"] = isUpgraded ? "true" : nil
    json["subscription_group_identifier"] = subscriptionGroupID.map(JSONValue.string)
    return json
  }
}

extension [LegacyPurchase] {
  /// In the order of `latest_receipt_info`: the latest first, and of two of one moment the one with the greater
  /// number.
  package var latestFirst: [LegacyPurchase] {
    sorted { left, right in
      guard left.purchaseDate == right.purchaseDate else {
        return left.purchaseDate.map { date in right.purchaseDate.map { date > $0 } ?? true } ?? false
      }
      return isLowerIdentifier(right.transactionID, left.transactionID)
    }
  }
}

/// Whether one of Apple's numbers is smaller than another: they are written without zeros in front.
func isLowerIdentifier(_ left: String, _ right: String) -> Bool {
  (left.utf8.count, left) < (right.utf8.count, right)
}

/// What the JSON of `verifyReceipt` tells of an offer: less than signed documents do.
package struct LegacyOffer: Hashable, Sendable {
  /// `is_trial_period`: nothing is paid.
  package var isTrial = false
  /// `is_in_intro_offer_period`: an introductory offer that is paid.
  package var isIntroductory = false
  /// `promotional_offer_id`.
  package var promotionalOfferID: String?
  /// `offer_code_ref_name`.
  package var offerCodeName: String?

  /// The standard price.
  package init() {}

  /// An offer by what signed documents say of it: its kind, how it is paid, and its name (WWDC21-10174).
  package init(_ type: OfferType?, paid: OfferDiscountType?, identifier: String?) {
    isTrial = paid == .freeTrial
    switch type {
    case .introductory?: isIntroductory = !isTrial
    case .promotional?: promotionalOfferID = identifier
    case .offerCode?: offerCodeName = identifier
    case .winBack?, .unrecognized?, nil: break
    }
  }
}
