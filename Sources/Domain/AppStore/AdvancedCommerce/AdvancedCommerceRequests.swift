package import JSON

// The requests of the Advanced Commerce API. A `SKU` is the operator's of an item; a `description` is the operator's own,
// and customers see the `displayName`. Prices are in milliunits of the `currency` (ISO 4217), a `storefront` is in ISO
// 3166-1 alpha-3, a `period` an ISO 8601 duration, and `effective` is `IMMEDIATELY` or `NEXT_BILL_CYCLE`.
extension PayloadShape {
  /// The identifiers of a request. `requestReferenceId` is the idempotency key, a UUID; `appAccountToken` is the UUID of the
  /// customer that the operator chose, and `consistencyToken` Apple's of the latest renewal info of the subscription.
  package static let advancedCommerceRequestInfo: PayloadShape = [
    "requestReferenceId": .string, "appAccountToken": .string, "consistencyToken": .string,
  ]

  /// An item that is named only.
  package static let advancedCommerceItemSKU: PayloadShape = ["SKU": .string]

  /// The description of a purchase.
  package static let advancedCommerceDescriptors: PayloadShape = [
    "description": .string, "displayName": .string,
  ]

  /// A new description of a purchase, and its beginning.
  package static let advancedCommerceNewDescriptors: PayloadShape = [
    "effective": .string, "description": .string, "displayName": .string,
  ]

  /// An offer: a lower price for the first periods of an item.
  package static let advancedCommerceOffer: PayloadShape = [
    "period": .string, "periodCount": .integer, "price": .integer, "reason": .string,
  ]
}

// The operator's requests to Apple.
extension PayloadShape {
  /// A refund of items (Request Transaction Refund). Apple sends a `CONSUMPTION_REQUEST` before it decides unless
  /// `refundRiskingPreference` is `false`.
  package static let requestTransactionRefund: PayloadShape = [
    "items": .objects(refundedItem), "refundRiskingPreference": .bool,
    "requestInfo": .object(advancedCommerceRequestInfo), "currency": .string, "storefront": .string,
  ]

  /// An item to refund.
  package static let refundedItem: PayloadShape = [
    "SKU": .string, "refundReason": .string, "refundType": .string, "revoke": .bool, "refundAmount": .integer,
  ]

  /// A cancellation: turns auto-renew off (Cancel a Subscription).
  package static let cancelSubscription: PayloadShape = [
    "requestInfo": .object(advancedCommerceRequestInfo), "storefront": .string,
  ]

  /// A revocation: ends and refunds a subscription immediately (Revoke Subscription).
  package static let revokeSubscription: PayloadShape = [
    "requestInfo": .object(advancedCommerceRequestInfo), "refundRiskingPreference": .bool,
    "refundReason": .string, "refundType": .string, "storefront": .string,
  ]

  /// A change of item prices (Change Subscription Price).
  package static let changeSubscriptionPrice: PayloadShape = [
    "requestInfo": .object(advancedCommerceRequestInfo), "items": .objects(itemPrice), "currency": .string,
    "storefront": .string,
  ]

  /// A new price of an item. The `dependentSKUs` end without the customer's consent.
  package static let itemPrice: PayloadShape = [
    "SKU": .string, "price": .integer, "dependentSKUs": .strings,
  ]

  /// A change of descriptions (Change Subscription Metadata).
  package static let changeSubscriptionMetadata: PayloadShape = [
    "requestInfo": .object(advancedCommerceRequestInfo),
    "descriptors": .object(advancedCommerceNewDescriptors), "items": .objects(itemMetadata),
    "storefront": .string, "taxCode": .string,
  ]

  /// A new description of the item `currentSKU`.
  package static let itemMetadata: PayloadShape = [
    "currentSKU": .string, "effective": .string, "description": .string, "displayName": .string,
    "SKU": .string,
  ]

  /// A migration to Advanced Commerce (Migrate a Subscription). `renewalItems` are the items of the periods after it.
  package static let migrateSubscription: PayloadShape = [
    "requestInfo": .object(advancedCommerceRequestInfo),
    "descriptors": .object(advancedCommerceDescriptors), "items": .objects(migratedItem),
    "renewalItems": .objects(migratedItem), "targetProductId": .string, "storefront": .string,
    "taxCode": .string,
  ]

  /// An item of a migrated subscription.
  package static let migratedItem: PayloadShape = [
    "SKU": .string, "description": .string, "displayName": .string,
  ]
}

// The requests of an app to StoreKit that the operator signs (Apple's "Authorizing API requests from your app").
extension PayloadShape {
  /// The shape of an app's request by its `operation`; `nil` for an operation that Apple adds later.
  package static func inAppRequest(_ request: JSONObject) -> PayloadShape? {
    switch request["operation"]?.stringValue {
    case "CREATE_ONE_TIME_CHARGE": createOneTimeCharge
    case "CREATE_SUBSCRIPTION": createSubscription
    case "MODIFY_SUBSCRIPTION": modifySubscription
    case "REACTIVATE_SUBSCRIPTION": reactivateSubscription
    default: nil
    }
  }

  /// A one-time charge.
  package static let createOneTimeCharge: PayloadShape = [
    "currency": .string, "item": .object(chargedItem), "requestInfo": .object(advancedCommerceRequestInfo),
    "taxCode": .string, "storefront": .string,
  ]

  /// The item of a one-time charge.
  package static let chargedItem: PayloadShape = [
    "description": .string, "displayName": .string, "SKU": .string, "price": .integer,
  ]

  /// A new subscription, whose items renew together.
  package static let createSubscription: PayloadShape = [
    "currency": .string, "descriptors": .object(advancedCommerceDescriptors),
    "items": .objects(subscribedItem), "period": .string,
    "requestInfo": .object(advancedCommerceRequestInfo), "taxCode": .string, "storefront": .string,
    "previousTransactionId": .string,
  ]

  /// An item of a new subscription.
  package static let subscribedItem: PayloadShape = [
    "description": .string, "displayName": .string, "offer": .object(advancedCommerceOffer), "SKU": .string,
    "price": .integer,
  ]

  /// A change of the subscription of a transaction.
  package static let modifySubscription: PayloadShape = [
    "requestInfo": .object(advancedCommerceRequestInfo), "transactionId": .string,
    "retainBillingCycle": .bool, "descriptors": .object(advancedCommerceNewDescriptors),
    "addItems": .objects(addedItem), "changeItems": .objects(changedItem),
    "removeItems": .objects(advancedCommerceItemSKU), "periodChange": .object(periodChange),
    "taxCode": .string, "currency": .string, "storefront": .string,
  ]

  /// An item to add.
  package static let addedItem: PayloadShape = [
    "SKU": .string, "description": .string, "displayName": .string, "offer": .object(advancedCommerceOffer),
    "price": .integer, "proratedPrice": .integer,
  ]

  /// An item that replaces `currentSKU`. The `reason` is `UPGRADE`, `DOWNGRADE` or `APPLY_OFFER`.
  package static let changedItem: PayloadShape = [
    "currentSKU": .string, "description": .string, "displayName": .string, "effective": .string,
    "offer": .object(advancedCommerceOffer), "price": .integer, "proratedPrice": .integer, "reason": .string,
    "SKU": .string,
  ]

  /// A change of the period.
  package static let periodChange: PayloadShape = ["effective": .string, "period": .string]

  /// A reactivation of the subscription of a transaction. The `items` renew; others end.
  package static let reactivateSubscription: PayloadShape = [
    "requestInfo": .object(advancedCommerceRequestInfo), "transactionId": .string,
    "items": .objects(advancedCommerceItemSKU), "storefront": .string,
  ]
}

/// The response to an Advanced Commerce request: the documents that Apple signed.
package struct AdvancedCommerceResponse: DecodedPayload {
  package let json: JSONObject

  /// A signed transaction: a JWS, not yet verified.
  package let signedTransactionInfo: String?
  /// A signed renewal info: a JWS, not yet verified. Absent after a refund request.
  package let signedRenewalInfo: String?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    signedTransactionInfo = try json.string("signedTransactionInfo")
    signedRenewalInfo = try json.string("signedRenewalInfo")
  }
}
