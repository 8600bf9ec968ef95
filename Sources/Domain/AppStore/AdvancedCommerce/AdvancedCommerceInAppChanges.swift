package import JSON

/// A change of a subscription, started by the app.
package struct AdvancedCommerceSubscriptionModifyInAppRequest: DecodedPayload {
  package let json: JSONObject

  /// Identifies the request and, optionally, the customer.
  package let requestInfo: AdvancedCommerceRequestInfo?
  /// A transaction of the subscription to change.
  package let transactionId: String?
  /// Whether the renewal date stays the same.
  package let retainBillingCycle: Bool?
  /// The new description; `nil`: unchanged.
  package let descriptors: AdvancedCommerceSubscriptionModifyDescriptors?
  /// The items to add.
  package let addItems: [AdvancedCommerceSubscriptionModifyAddItem]?
  /// The items to replace.
  package let changeItems: [AdvancedCommerceSubscriptionModifyChangeItem]?
  /// The items to remove.
  package let removeItems: [AdvancedCommerceSubscriptionModifyRemoveItem]?
  /// The new period; `nil`: unchanged.
  package let periodChange: AdvancedCommerceSubscriptionModifyPeriodChange?
  /// Apple's code of the tax category.
  package let taxCode: String?
  /// ISO 4217.
  package let currency: String?
  /// ISO 3166-1 alpha-3.
  package let storefront: String?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    requestInfo = try reader.part("requestInfo")
    transactionId = try reader.string("transactionId")
    retainBillingCycle = try reader.bool("retainBillingCycle")
    descriptors = try reader.part("descriptors")
    addItems = try reader.parts("addItems")
    changeItems = try reader.parts("changeItems")
    removeItems = try reader.parts("removeItems")
    periodChange = try reader.part("periodChange")
    taxCode = try reader.string("taxCode")
    currency = try reader.string("currency")
    storefront = try reader.string("storefront")
  }
}

/// An item to add.
package struct AdvancedCommerceSubscriptionModifyAddItem: DecodedPayload {
  package let json: JSONObject

  /// The operator's SKU of the item.
  package let sku: String?
  /// The operator's own description of the item. Apple does not show it to customers.
  package let description: String?
  /// The name of the item that customers see.
  package let displayName: String?
  /// `nil`: the full price from the first period on.
  package let offer: AdvancedCommerceOffer?
  /// In milliunits of the currency.
  package let price: Int64?
  /// In milliunits of the currency.
  package let proratedPrice: Int64?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    sku = try reader.string("SKU")
    description = try reader.string("description")
    displayName = try reader.string("displayName")
    offer = try reader.part("offer")
    price = try reader.integer("price")
    proratedPrice = try reader.integer("proratedPrice")
  }
}

/// An item to change.
package struct AdvancedCommerceSubscriptionModifyChangeItem: DecodedPayload {
  package let json: JSONObject

  /// The SKU to replace.
  package let currentSKU: String?
  /// The operator's own description of the item. Apple does not show it to customers.
  package let description: String?
  /// The name of the item that customers see.
  package let displayName: String?
  /// `IMMEDIATELY` or `NEXT_BILL_CYCLE`.
  package let effective: String?
  /// `nil`: the full price from the first period on.
  package let offer: AdvancedCommerceOffer?
  /// In milliunits of the currency.
  package let price: Int64?
  /// In milliunits of the currency.
  package let proratedPrice: Int64?
  /// `UPGRADE`, `DOWNGRADE` or `APPLY_OFFER`.
  package let reason: String?
  /// The operator's SKU of the item.
  package let sku: String?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    currentSKU = try reader.string("currentSKU")
    description = try reader.string("description")
    displayName = try reader.string("displayName")
    effective = try reader.string("effective")
    offer = try reader.part("offer")
    price = try reader.integer("price")
    proratedPrice = try reader.integer("proratedPrice")
    reason = try reader.string("reason")
    sku = try reader.string("SKU")
  }
}

/// An item to remove.
package struct AdvancedCommerceSubscriptionModifyRemoveItem: DecodedPayload {
  package let json: JSONObject

  /// The operator's SKU of the item.
  package let sku: String?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    sku = try reader.string("SKU")
  }
}

/// A new description of a subscription.
package struct AdvancedCommerceSubscriptionModifyDescriptors: DecodedPayload {
  package let json: JSONObject

  /// `IMMEDIATELY` or `NEXT_BILL_CYCLE`.
  package let effective: String?
  /// The operator's own description of the purchase. Apple does not show it to customers.
  package let description: String?
  /// The name of the purchase that customers see.
  package let displayName: String?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    effective = try reader.string("effective")
    description = try reader.string("description")
    displayName = try reader.string("displayName")
  }
}

/// A change of the period.
package struct AdvancedCommerceSubscriptionModifyPeriodChange: DecodedPayload {
  package let json: JSONObject

  /// `IMMEDIATELY` or `NEXT_BILL_CYCLE`.
  package let effective: String?
  /// An ISO 8601 duration.
  package let period: String?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    effective = try reader.string("effective")
    period = try reader.string("period")
  }
}

/// A reactivation of a subscription, started by the app.
package struct AdvancedCommerceSubscriptionReactivateInAppRequest: DecodedPayload {
  package let json: JSONObject

  package let requestInfo: AdvancedCommerceRequestInfo?
  /// A transaction of the subscription to reactivate.
  package let transactionId: String?
  /// The items that renew; others end.
  package let items: [AdvancedCommerceSubscriptionReactivateItem]?
  /// ISO 3166-1 alpha-3.
  package let storefront: String?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    requestInfo = try reader.part("requestInfo")
    transactionId = try reader.string("transactionId")
    items = try reader.parts("items")
    storefront = try reader.string("storefront")
  }
}

/// An item to keep.
package struct AdvancedCommerceSubscriptionReactivateItem: DecodedPayload {
  package let json: JSONObject

  /// The operator's SKU of the item.
  package let sku: String?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    sku = try reader.string("SKU")
  }
}
