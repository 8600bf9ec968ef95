package import JSON

/// How an Advanced Commerce purchase is called before customers.
package struct AdvancedCommerceDescriptors: DecodedPayload {
  package let json: JSONObject

  package let description: String?
  package let displayName: String?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    description = try reader.string("description")
    displayName = try reader.string("displayName")
  }
}

/// A lower price for the first periods of an item.
package struct AdvancedCommerceOffer: DecodedPayload {
  package let json: JSONObject

  /// An ISO 8601 duration; see ``Period``.
  package let period: String?
  package let periodCount: Int64?
  /// In thousandths of the currency.
  package let price: Int64?
  package let reason: AdvancedCommerceOfferReason?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    period = try reader.string("period")
    periodCount = try reader.integer("periodCount")
    price = try reader.integer("price")
    reason = try reader.code("reason")
  }
}
