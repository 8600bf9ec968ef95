package import JSON

/// The items of an Advanced Commerce purchase (Apple's advancedCommerceInfo of a transaction).
package struct AdvancedCommerceTransactionInfo: DecodedPayload {
  package let json: JSONObject

  /// The UUID of the request that created it.
  package let requestReferenceId: String?
  /// Of the purchase as a whole; each item has its own.
  package let descriptors: AdvancedCommerceDescriptors?
  package let items: [AdvancedCommerceTransactionItem]?
  /// An ISO 8601 duration; see ``Period``.
  package let period: String?
  /// Apple's code of the tax category.
  package let taxCode: String?
  /// A decimal fraction, such as `0.15`.
  package let taxRate: String?
  /// In milliunits of the currency.
  package let taxExclusivePrice: Int64?
  /// In milliunits of the currency.
  package let estimatedTax: Int64?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    requestReferenceId = try json.string("requestReferenceId")
    descriptors = try json.part("descriptors")
    items = try json.parts("items")
    period = try json.string("period")
    taxCode = try json.string("taxCode")
    taxRate = try json.string("taxRate")
    taxExclusivePrice = try json.integer("taxExclusivePrice")
    estimatedTax = try json.integer("estimatedTax")
  }
}

/// One item of an Advanced Commerce purchase.
package struct AdvancedCommerceTransactionItem: DecodedPayload {
  package let json: JSONObject

  /// The operator's SKU of the item.
  package let sku: String?
  /// The name of the item that customers see.
  package let displayName: String?
  /// The operator's own description of the item. Apple does not show it to customers.
  package let description: String?
  /// In milliunits of the currency.
  package let price: Int64?
  /// `nil`: the full price from the first period on.
  package let offer: AdvancedCommerceOffer?
  /// The refunds of the item; several partial ones are possible.
  package let refunds: [AdvancedCommerceRefund]?
  /// When a refund revoked the item; `nil` if the customer keeps it.
  package let revocationDate: Instant?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    sku = try json.string("SKU")
    displayName = try json.string("displayName")
    description = try json.string("description")
    price = try json.integer("price")
    offer = try json.part("offer")
    refunds = try json.parts("refunds")
    revocationDate = try json.instant("revocationDate")
  }
}

/// One refund of an item.
package struct AdvancedCommerceRefund: DecodedPayload {
  package let json: JSONObject

  /// In milliunits of the currency.
  package let refundAmount: Int64?
  /// When Apple refunded it.
  package let refundDate: Instant?
  package let refundReason: AdvancedCommerceRefundReason?
  package let refundType: AdvancedCommerceRefundType?
  /// The number of refunded seats; `nil` for a refund of all.
  package let revokedSeatQuantity: Int64?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    refundAmount = try json.integer("refundAmount")
    refundDate = try json.instant("refundDate")
    refundReason = try json.code("refundReason")
    refundType = try json.code("refundType")
    revokedSeatQuantity = try json.integer("revokedSeatQuantity")
  }
}

/// The next period of an Advanced Commerce subscription (Apple's advancedCommerceInfo of a renewal info).
package struct AdvancedCommerceRenewalInfo: DecodedPayload {
  package let json: JSONObject

  /// Apple's token of the latest renewal info of the subscription; a developer never makes one.
  package let consistencyToken: String?
  /// The UUID of the request that created it.
  package let requestReferenceId: String?
  /// Of the purchase as a whole; each item has its own.
  package let descriptors: AdvancedCommerceDescriptors?
  package let items: [AdvancedCommerceRenewalItem]?
  /// An ISO 8601 duration; see ``Period``.
  package let period: String?
  /// Apple's code of the tax category.
  package let taxCode: String?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    consistencyToken = try json.string("consistencyToken")
    requestReferenceId = try json.string("requestReferenceId")
    descriptors = try json.part("descriptors")
    items = try json.parts("items")
    period = try json.string("period")
    taxCode = try json.string("taxCode")
  }
}

/// One item of the next period.
package struct AdvancedCommerceRenewalItem: DecodedPayload {
  package let json: JSONObject

  /// The operator's SKU of the item.
  package let sku: String?
  /// The name of the item that customers see.
  package let displayName: String?
  /// The operator's own description of the item. Apple does not show it to customers.
  package let description: String?
  /// In milliunits of the currency.
  package let price: Int64?
  /// `nil`: the full price from the first period on.
  package let offer: AdvancedCommerceOffer?
  /// `nil`: the price stays.
  package let priceIncreaseInfo: AdvancedCommercePriceIncreaseInfo?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    sku = try json.string("SKU")
    displayName = try json.string("displayName")
    description = try json.string("description")
    price = try json.integer("price")
    offer = try json.part("offer")
    priceIncreaseInfo = try json.part("priceIncreaseInfo")
  }
}

extension AdvancedCommerceRenewalInfo {
  /// The state of the customer's consent to price increases: pending if that of any item is; `nil` without one that was
  /// announced.
  package var priceIncreaseStatus: PriceIncreaseStatus? {
    let states = (items ?? []).compactMap(\.priceIncreaseInfo?.status)
    if states.contains(.pending) { return .pending }
    return states.contains(.accepted) ? .accepted : nil
  }
}

/// A price increase of an item.
package struct AdvancedCommercePriceIncreaseInfo: DecodedPayload {
  package let json: JSONObject

  /// In milliunits of the currency.
  package let price: Int64?
  /// The state of the customer's consent.
  package let status: AdvancedCommercePriceIncreaseStatus?
  /// The SKUs of the items that end without the customer's consent.
  package let dependentSKUs: [String]?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    price = try json.integer("price")
    status = try json.code("status")
    dependentSKUs = try json.strings("dependentSKUs")
  }
}

/// The name of an Advanced Commerce purchase that customers see, and its description.
package struct AdvancedCommerceDescriptors: DecodedPayload {
  package let json: JSONObject

  /// The operator's own description of the purchase. Apple does not show it to customers.
  package let description: String?
  /// The name of the purchase that customers see.
  package let displayName: String?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    description = try json.string("description")
    displayName = try json.string("displayName")
  }
}

/// An offer: a lower price for the first periods of an item.
package struct AdvancedCommerceOffer: DecodedPayload {
  package let json: JSONObject

  /// An ISO 8601 duration; see ``Period``.
  package let period: String?
  /// The number of periods with this price.
  package let periodCount: Int64?
  /// In milliunits of the currency.
  package let price: Int64?
  package let reason: AdvancedCommerceOfferReason?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    period = try json.string("period")
    periodCount = try json.integer("periodCount")
    price = try json.integer("price")
    reason = try json.code("reason")
  }
}
