package import JSON

/// The identifiers of an Advanced Commerce request.
package struct AdvancedCommerceRequestInfo: DecodedPayload {
  package let json: JSONObject

  /// The idempotency key, a UUID.
  package let requestReferenceId: String?
  /// The UUID of the customer that the operator chose.
  package let appAccountToken: String?
  /// Apple's token of the latest renewal info of the subscription; a developer never makes one.
  package let consistencyToken: String?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    requestReferenceId = try reader.string("requestReferenceId")
    appAccountToken = try reader.string("appAccountToken")
    consistencyToken = try reader.string("consistencyToken")
  }
}

/// A refund of items (Request Transaction Refund).
package struct AdvancedCommerceRequestRefundRequest: DecodedPayload {
  package let json: JSONObject

  package let items: [AdvancedCommerceRequestRefundItem]?
  /// Whether Apple sends a `CONSUMPTION_REQUEST` before it decides; `nil` counts as `true`.
  package let refundRiskingPreference: Bool?
  package let requestInfo: AdvancedCommerceRequestInfo?
  /// ISO 4217.
  package let currency: String?
  /// ISO 3166-1 alpha-3.
  package let storefront: String?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    items = try reader.parts("items")
    refundRiskingPreference = try reader.bool("refundRiskingPreference")
    requestInfo = try reader.part("requestInfo")
    currency = try reader.string("currency")
    storefront = try reader.string("storefront")
  }
}

/// One item to refund.
package struct AdvancedCommerceRequestRefundItem: DecodedPayload {
  package let json: JSONObject

  /// The operator's SKU of the item.
  package let sku: String?
  /// The reason for the refund.
  package let refundReason: AdvancedCommerceRefundReason?
  /// How much is refunded; `CUSTOM` needs `refundAmount`.
  package let refundType: AdvancedCommerceRefundType?
  /// Whether the refund revokes the item.
  package let revoke: Bool?
  /// In milliunits of the currency.
  package let refundAmount: Int64?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    sku = try reader.string("SKU")
    refundReason = try reader.code("refundReason")
    refundType = try reader.code("refundType")
    revoke = try reader.bool("revoke")
    refundAmount = try reader.integer("refundAmount")
  }
}

/// A cancellation: turns auto-renew off (Cancel a Subscription).
package struct AdvancedCommerceSubscriptionCancelRequest: DecodedPayload {
  package let json: JSONObject

  package let requestInfo: AdvancedCommerceRequestInfo?
  /// ISO 3166-1 alpha-3.
  package let storefront: String?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    requestInfo = try reader.part("requestInfo")
    storefront = try reader.string("storefront")
  }
}

/// A revocation: ends and refunds a subscription immediately (Revoke Subscription).
package struct AdvancedCommerceSubscriptionRevokeRequest: DecodedPayload {
  package let json: JSONObject

  package let requestInfo: AdvancedCommerceRequestInfo?
  /// Whether Apple sends a `CONSUMPTION_REQUEST` before it decides; `nil` counts as `true`.
  package let refundRiskingPreference: Bool?
  package let refundReason: AdvancedCommerceRefundReason?
  package let refundType: AdvancedCommerceRefundType?
  /// ISO 3166-1 alpha-3.
  package let storefront: String?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    requestInfo = try reader.part("requestInfo")
    refundRiskingPreference = try reader.bool("refundRiskingPreference")
    refundReason = try reader.code("refundReason")
    refundType = try reader.code("refundType")
    storefront = try reader.string("storefront")
  }
}

/// A change of item prices (Change Subscription Price).
package struct AdvancedCommerceSubscriptionPriceChangeRequest: DecodedPayload {
  package let json: JSONObject

  package let requestInfo: AdvancedCommerceRequestInfo?
  package let items: [AdvancedCommerceSubscriptionPriceChangeItem]?
  /// ISO 4217.
  package let currency: String?
  /// ISO 3166-1 alpha-3.
  package let storefront: String?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    requestInfo = try reader.part("requestInfo")
    items = try reader.parts("items")
    currency = try reader.string("currency")
    storefront = try reader.string("storefront")
  }
}

/// The new price of an item.
package struct AdvancedCommerceSubscriptionPriceChangeItem: DecodedPayload {
  package let json: JSONObject

  /// The operator's SKU of the item.
  package let sku: String?
  /// In milliunits of the currency.
  package let price: Int64?
  /// The SKUs of items whose price changes with it.
  package let dependentSKUs: [String]?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    sku = try reader.string("SKU")
    price = try reader.integer("price")
    dependentSKUs = try reader.strings("dependentSKUs")
  }
}

/// A change of the descriptions of a subscription and its items (Change Subscription Metadata).
package struct AdvancedCommerceSubscriptionChangeMetadataRequest: DecodedPayload {
  package let json: JSONObject

  package let requestInfo: AdvancedCommerceRequestInfo?
  package let descriptors: AdvancedCommerceSubscriptionChangeMetadataDescriptors?
  package let items: [AdvancedCommerceSubscriptionChangeMetadataItem]?
  /// ISO 3166-1 alpha-3.
  package let storefront: String?
  /// Apple's code of the tax category.
  package let taxCode: String?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    requestInfo = try reader.part("requestInfo")
    descriptors = try reader.part("descriptors")
    items = try reader.parts("items")
    storefront = try reader.string("storefront")
    taxCode = try reader.string("taxCode")
  }
}

/// A new description of a subscription.
package struct AdvancedCommerceSubscriptionChangeMetadataDescriptors: DecodedPayload {
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

/// A new description of an item.
package struct AdvancedCommerceSubscriptionChangeMetadataItem: DecodedPayload {
  package let json: JSONObject

  /// The SKU to replace.
  package let currentSKU: String?
  /// `IMMEDIATELY` or `NEXT_BILL_CYCLE`.
  package let effective: String?
  /// The operator's own description of the item. Apple does not show it to customers.
  package let description: String?
  /// The name of the item that customers see.
  package let displayName: String?
  /// The operator's SKU of the item.
  package let sku: String?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    currentSKU = try reader.string("currentSKU")
    effective = try reader.string("effective")
    description = try reader.string("description")
    displayName = try reader.string("displayName")
    sku = try reader.string("SKU")
  }
}

/// A migration of a subscription to Advanced Commerce (Migrate a Subscription to Advanced Commerce API).
package struct AdvancedCommerceSubscriptionMigrateRequest: DecodedPayload {
  package let json: JSONObject

  package let requestInfo: AdvancedCommerceRequestInfo?
  package let descriptors: AdvancedCommerceSubscriptionMigrateDescriptors?
  package let items: [AdvancedCommerceSubscriptionMigrateItem]?
  /// The items from the next renewal on; `nil`: ``items``.
  package let renewalItems: [AdvancedCommerceSubscriptionMigrateRenewalItem]?
  /// The generic product of Advanced Commerce that replaces the product.
  package let targetProductId: String?
  /// ISO 3166-1 alpha-3.
  package let storefront: String?
  /// Apple's code of the tax category.
  package let taxCode: String?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    requestInfo = try reader.part("requestInfo")
    descriptors = try reader.part("descriptors")
    items = try reader.parts("items")
    renewalItems = try reader.parts("renewalItems")
    targetProductId = try reader.string("targetProductId")
    storefront = try reader.string("storefront")
    taxCode = try reader.string("taxCode")
  }
}

/// The description of a migrated subscription.
package struct AdvancedCommerceSubscriptionMigrateDescriptors: DecodedPayload {
  package let json: JSONObject

  /// The operator's own description of the purchase. Apple does not show it to customers.
  package let description: String?
  /// The name of the purchase that customers see.
  package let displayName: String?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    description = try reader.string("description")
    displayName = try reader.string("displayName")
  }
}

/// An item of a migrated subscription.
package struct AdvancedCommerceSubscriptionMigrateItem: DecodedPayload {
  package let json: JSONObject

  /// The operator's SKU of the item.
  package let sku: String?
  /// The operator's own description of the item. Apple does not show it to customers.
  package let description: String?
  /// The name of the item that customers see.
  package let displayName: String?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    sku = try reader.string("SKU")
    description = try reader.string("description")
    displayName = try reader.string("displayName")
  }
}

/// An item of the periods after the migration.
package struct AdvancedCommerceSubscriptionMigrateRenewalItem: DecodedPayload {
  package let json: JSONObject

  /// The operator's SKU of the item.
  package let sku: String?
  /// The operator's own description of the item. Apple does not show it to customers.
  package let description: String?
  /// The name of the item that customers see.
  package let displayName: String?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    sku = try reader.string("SKU")
    description = try reader.string("description")
    displayName = try reader.string("displayName")
  }
}

/// The response to an Advanced Commerce request: the documents that Apple signed.
package struct AdvancedCommerceResponse: DecodedPayload {
  package let json: JSONObject

  /// A signed transaction: a JWS, not yet verified.
  package let signedTransactionInfo: String?
  /// A signed renewal info: a JWS, not yet verified. Absent after a refund request.
  package let signedRenewalInfo: String?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    signedTransactionInfo = try reader.string("signedTransactionInfo")
    signedRenewalInfo = try reader.string("signedRenewalInfo")
  }
}
