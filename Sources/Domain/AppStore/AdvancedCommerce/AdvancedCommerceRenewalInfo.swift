package import JSON

/// What an Advanced Commerce subscription renews to.
package struct AdvancedCommerceRenewalInfo: DecodedPayload {
  package let json: JSONObject

  package let consistencyToken: String?
  /// The UUID of the request that made it.
  package let requestReferenceId: String?
  package let descriptors: AdvancedCommerceDescriptors?
  package let items: [AdvancedCommerceRenewalItem]?
  /// An ISO 8601 duration; see ``Period``.
  package let period: String?
  package let taxCode: String?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    consistencyToken = try reader.string("consistencyToken")
    requestReferenceId = try reader.string("requestReferenceId")
    descriptors = try reader.part("descriptors")
    items = try reader.parts("items")
    period = try reader.string("period")
    taxCode = try reader.string("taxCode")
  }
}

/// One item of the next period.
package struct AdvancedCommerceRenewalItem: DecodedPayload {
  package let json: JSONObject

  /// The developer's own name for it.
  package let sku: String?
  package let displayName: String?
  package let description: String?
  /// In thousandths of the currency.
  package let price: Int64?
  package let offer: AdvancedCommerceOffer?
  package let priceIncreaseInfo: AdvancedCommercePriceIncreaseInfo?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    sku = try reader.string("SKU")
    displayName = try reader.string("displayName")
    description = try reader.string("description")
    price = try reader.integer("price")
    offer = try reader.part("offer")
    priceIncreaseInfo = try reader.part("priceIncreaseInfo")
  }
}

/// A higher price that an item is going to have.
package struct AdvancedCommercePriceIncreaseInfo: DecodedPayload {
  package let json: JSONObject

  /// In thousandths of the currency.
  package let price: Int64?
  package let status: AdvancedCommercePriceIncreaseStatus?
  /// The items that end if the customer does not agree.
  package let dependentSKUs: [String]?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    price = try reader.integer("price")
    status = try reader.code("status")
    dependentSKUs = try reader.strings("dependentSKUs")
  }
}
