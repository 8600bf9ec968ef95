package import JSON

/// One purchase or period in the format of `verifyReceipt` (Apple's `in_app` and `latest_receipt_info`), for
/// writing. ``LegacyTransaction`` reads the same format.
package struct LegacyPurchase: Hashable, Sendable {
  /// The list that it is written to; the lists have different members.
  package enum List: Hashable, Sendable {
    /// `in_app`: the purchases in the receipt.
    case inApp
    /// `latest_receipt_info`: Apple's current data.
    case latestReceiptInfo
  }

  /// A refund or revocation.
  package struct Cancellation: Hashable, Sendable {
    /// When Apple refunded it, or sharing ended.
    package let date: Instant
    /// `nil` for a cancellation from a receipt, which has no reasons.
    package let reason: RevocationReason?

    package init(date: Instant, reason: RevocationReason?) {
      self.date = date
      self.reason = reason
    }
  }

  /// Identifies one purchase or renewal.
  package var transactionID: String
  /// Identifies the purchase; equal for all renewals of a subscription.
  package var originalTransactionID: String
  /// The product, by its App Store product id.
  package var productID: String
  /// Whether it is an auto-renewable subscription; only these have offer flags.
  package var isSubscription: Bool
  /// The number of units of a consumable; 1 for anything else.
  package var quantity: Int64 = 1
  /// The time of the purchase, or the start of the period.
  package var purchaseDate: Instant?
  /// When the purchase was first made.
  package var originalPurchaseDate: Instant?
  /// The end of the subscription period; `nil` for other products.
  package var expiresDate: Instant?
  /// Identifies one period of a subscription, on all devices.
  package var webOrderLineItemID: String?
  /// The offer that set the price.
  package var offer = LegacyOffer()
  /// `nil` unless Apple took it back.
  package var cancellation: Cancellation?
  // The following members are in `latest_receipt_info` only.
  /// The customer's own, or shared; `nil` in receipts that do not state it.
  package var ownership: InAppOwnershipType?
  /// The UUID with which the app bought it; only `verifyReceipt` states it.
  package var appAccountToken: String?
  /// The subscription group; only `verifyReceipt` states it.
  package var subscriptionGroupID: String?
  /// Whether a purchase of a higher level of the group replaced it.
  package var isUpgraded = false

  /// Creates a purchase of quantity 1; all other members can be set.
  package init(
    transactionID: String, originalTransactionID: String, productID: String, isSubscription: Bool
  ) {
    self.transactionID = transactionID
    self.originalTransactionID = originalTransactionID
    self.productID = productID
    self.isSubscription = isSubscription
  }

  /// The members in the legacy format: numbers and Booleans as strings, dates in three formats.
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
  /// In the order of `latest_receipt_info`: latest first; at the same instant the higher id first.
  package var latestFirst: [LegacyPurchase] {
    sorted { left, right in
      guard left.purchaseDate == right.purchaseDate else {
        return left.purchaseDate.map { date in right.purchaseDate.map { date > $0 } ?? true } ?? false
      }
      return isLowerIdentifier(right.transactionID, left.transactionID)
    }
  }
}

/// Whether `left` is the lower decimal id; Apple writes ids without leading zeros.
func isLowerIdentifier(_ left: String, _ right: String) -> Bool {
  (left.utf8.count, left) < (right.utf8.count, right)
}

/// An offer in the format of `verifyReceipt`, which has fewer fields than signed documents.
package struct LegacyOffer: Hashable, Sendable {
  /// `is_trial_period`: a free trial.
  package var isTrial = false
  /// `is_in_intro_offer_period`: a paid introductory offer.
  package var isIntroductory = false
  /// `promotional_offer_id`.
  package var promotionalOfferID: String?
  /// `offer_code_ref_name`.
  package var offerCodeName: String?

  package init() {}

  /// Converts the offer of a signed document: its type, payment mode and identifier (WWDC21-10174).
  package init(_ type: OfferType?, paid: OfferDiscountType?, identifier: String?) {
    isTrial = paid == .freeTrial
    switch type {
    case .introductory?: isIntroductory = !isTrial
    case .promotional?: promotionalOfferID = identifier
    case .offerCode?: offerCodeName = identifier
    case .winBack?, .retention?, .unrecognized?, nil: break
    }
  }
}
