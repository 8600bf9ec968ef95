package import JSON

/// The requests of an app to StoreKit that the operator signs (Apple's "Authorizing API requests from your app").
package enum AdvancedCommerceInAppRequest {
  /// Decodes `request` as what Apple documents for its `operation`. An operation that Apple adds later passes.
  ///
  /// - Throws: ``PayloadError`` for a member of another type, such as a price that is text.
  package static func check(_ request: JSONObject) throws(PayloadError) {
    switch request["operation"]?.stringValue {
    case "CREATE_ONE_TIME_CHARGE": _ = try AdvancedCommerceOneTimeChargeCreateRequest(json: request)
    case "CREATE_SUBSCRIPTION": _ = try AdvancedCommerceSubscriptionCreateRequest(json: request)
    case "MODIFY_SUBSCRIPTION": _ = try AdvancedCommerceSubscriptionModifyInAppRequest(json: request)
    case "REACTIVATE_SUBSCRIPTION": _ = try AdvancedCommerceSubscriptionReactivateInAppRequest(json: request)
    default: break
    }
  }
}

/// A one-time charge, started by the app.
package struct AdvancedCommerceOneTimeChargeCreateRequest: DecodedPayload {
  package let json: JSONObject

  /// ISO 4217.
  package let currency: String?
  /// The item that is charged.
  package let item: AdvancedCommerceOneTimeChargeItem?
  /// Identifies the request and, optionally, the customer.
  package let requestInfo: AdvancedCommerceRequestInfo?
  /// Apple's code of the tax category.
  package let taxCode: String?
  /// ISO 3166-1 alpha-3.
  package let storefront: String?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    currency = try reader.string("currency")
    item = try reader.part("item")
    requestInfo = try reader.part("requestInfo")
    taxCode = try reader.string("taxCode")
    storefront = try reader.string("storefront")
  }
}

/// The item of a one-time charge.
package struct AdvancedCommerceOneTimeChargeItem: DecodedPayload {
  package let json: JSONObject

  /// The operator's own description of the item. Apple does not show it to customers.
  package let description: String?
  /// The name of the item that customers see.
  package let displayName: String?
  /// The operator's SKU of the item.
  package let sku: String?
  /// In milliunits of the currency.
  package let price: Int64?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    description = try reader.string("description")
    displayName = try reader.string("displayName")
    sku = try reader.string("SKU")
    price = try reader.integer("price")
  }
}

/// A new subscription, started by the app.
package struct AdvancedCommerceSubscriptionCreateRequest: DecodedPayload {
  package let json: JSONObject

  /// ISO 4217.
  package let currency: String?
  /// Of the purchase as a whole; each item has its own.
  package let descriptors: AdvancedCommerceDescriptors?
  /// The items, which renew together.
  package let items: [AdvancedCommerceSubscriptionCreateItem]?
  /// An ISO 8601 duration.
  package let period: String?
  package let requestInfo: AdvancedCommerceRequestInfo?
  /// Apple's code of the tax category.
  package let taxCode: String?
  /// ISO 3166-1 alpha-3.
  package let storefront: String?
  package let previousTransactionId: String?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    currency = try reader.string("currency")
    descriptors = try reader.part("descriptors")
    items = try reader.parts("items")
    period = try reader.string("period")
    requestInfo = try reader.part("requestInfo")
    taxCode = try reader.string("taxCode")
    storefront = try reader.string("storefront")
    previousTransactionId = try reader.string("previousTransactionId")
  }
}

/// An item of a new subscription.
package struct AdvancedCommerceSubscriptionCreateItem: DecodedPayload {
  package let json: JSONObject

  /// The operator's own description of the item. Apple does not show it to customers.
  package let description: String?
  /// The name of the item that customers see.
  package let displayName: String?
  /// `nil`: the full price from the first period on.
  package let offer: AdvancedCommerceOffer?
  /// The operator's SKU of the item.
  package let sku: String?
  /// In milliunits of the currency.
  package let price: Int64?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    description = try reader.string("description")
    displayName = try reader.string("displayName")
    offer = try reader.part("offer")
    sku = try reader.string("SKU")
    price = try reader.integer("price")
  }
}
