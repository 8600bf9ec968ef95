internal import AppStore
internal import Bytes
package import JSON
internal import SignedData

// For display, and for readers of verifyReceipt responses. Omits the redundant dates in Pacific Time.
extension AppReceiptPayload {
  /// The receipt as in a `verifyReceipt` response, plus `unknown_attributes`.
  package var json: JSONObject {
    var json = JSONObject()
    json["receipt_type"] = receiptType.map { .string($0.rawValue) }
    json["adam_id"] = appItemID.map { .number(JSONNumber($0)) }
    json["app_item_id"] = appItemID.map { .number(JSONNumber($0)) }
    json["bundle_id"] = bundleID.map { .string($0) }
    json["application_version"] = applicationVersion.map { .string($0) }
    json["download_id"] = downloadID.map { .number(JSONNumber($0)) }
    json["version_external_identifier"] = versionExternalIdentifier.map { .number(JSONNumber($0)) }
    json.add(receiptDate: creationDate, as: "receipt_creation_date")
    json.add(receiptDate: originalPurchaseDate, as: "original_purchase_date")
    json.add(receiptDate: expirationDate, as: "expiration_date")
    json["original_application_version"] = originalApplicationVersion.map { .string($0) }
    json["in_app"] = .array(purchases.map { .object($0.json) })
    json.add(unknownAttributes)
    return json
  }
}

extension InAppPurchase {
  /// The purchase as in a `verifyReceipt` response, plus `unknown_attributes`.
  package var json: JSONObject {
    var json = JSONObject()
    json["quantity"] = quantity.map { .string(String($0)) }
    json["product_id"] = productID.map { .string($0) }
    json["transaction_id"] = transactionID.map { .string($0) }
    json["original_transaction_id"] = originalTransactionID.map { .string($0) }
    json.add(receiptDate: purchaseDate, as: "purchase_date")
    json.add(receiptDate: originalPurchaseDate, as: "original_purchase_date")
    json.add(receiptDate: expirationDate, as: "expires_date")
    json["web_order_line_item_id"] = webOrderLineItemID.map { .string(String($0)) }
    json["is_trial_period"] = isInTrialPeriod.map { .string(String($0)) }
    json["is_in_intro_offer_period"] = isInIntroductoryOfferPeriod.map { .string(String($0)) }
    json["promotional_offer_id"] = promotionalOfferID.map { .string($0) }
    json.add(receiptDate: cancellationDate, as: "cancellation_date")
    json.add(unknownAttributes)
    return json
  }
}

extension JSONObject {
  /// Adds a date in the two forms that need no time zone.
  fileprivate mutating func add(receiptDate date: Instant?, as name: String) {
    guard let date else { return }
    self[name] = .string("\(date.legacyText) Etc/GMT")
    self["\(name)_ms"] = .string(String(date.millisecondsSince1970))
  }

  /// Adds the attributes that this version does not know, with their values in Base64.
  fileprivate mutating func add(_ unknown: [ReceiptAttribute]) {
    guard !unknown.isEmpty else { return }
    self["unknown_attributes"] = .array(
      unknown.map { attribute in
        [
          "type": .number(JSONNumber(attribute.type)), "version": .number(JSONNumber(attribute.version)),
          "value": .string(Base64.standard.encode(attribute.value)),
        ]
      })
  }
}
