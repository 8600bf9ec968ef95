internal import AppReceipt
internal import AppStore
internal import JSON
internal import SignedData

/// The notification of version 1, which still comes where version 2 was not asked for.
extension Sale {
  /// The body of the notification about the sale; `nil` for what is no subscription.
  func notificationV1(_ signer: ReceiptSigner) throws(CryptographyError) -> String? {
    guard isSubscription else { return nil }
    let isFirst = line.originalTransactionId == transactionId
    let type: NotificationTypeV1 = isFirst ? .initialBuy : .interactiveRenewal
    let receipt = object([
      ("environment", .string(Environment.sandbox.rawValue)),
      ("status", 0),
      ("latest_receipt", .string(try appReceipt(signer))),
      ("latest_receipt_info", [.object(legacyTransaction)]),
      ("pending_renewal_info", [.object(pendingRenewalInfo)]),
    ])
    let body = object([
      ("notification_type", .string(type.rawValue)),
      ("environment", .string(Environment.sandbox.rawValue)),
      ("bid", .string(app.identity.bundleID)),
      ("bvrs", "1.0"),
      ("auto_renew_product_id", .string(product.productId)),
      ("auto_renew_status", "true"),
      ("original_transaction_id", .string(line.originalTransactionId)),
      ("unified_receipt", .object(receipt)),
    ])
    return String(decoding: body.serialized(), as: UTF8.self)
  }

  private var legacyTransaction: JSONObject {
    var transaction = object([
      ("quantity", .string(String(quantity))),
      ("product_id", .string(product.productId)),
      ("transaction_id", .string(transactionId)),
      ("original_transaction_id", .string(line.originalTransactionId)),
      ("web_order_line_item_id", webOrderLineItemId.map(JSONValue.string)),
      ("subscription_group_identifier", product.subscriptionGroupIdentifier.map(JSONValue.string)),
      ("in_app_ownership_type", .string(InAppOwnershipType.purchased.rawValue)),
      ("app_account_token", appAccountToken.map(JSONValue.string)),
      ("is_trial_period", "false"),
      ("is_in_intro_offer_period", "false"),
    ])
    transaction.add(receiptDate: purchaseDate, as: "purchase_date")
    transaction.add(receiptDate: line.originalPurchaseDate, as: "original_purchase_date")
    transaction.add(receiptDate: expiresDate, as: "expires_date")
    return transaction
  }

  private var pendingRenewalInfo: JSONObject {
    [
      "auto_renew_product_id": .string(product.productId),
      "product_id": .string(product.productId),
      "original_transaction_id": .string(line.originalTransactionId),
      "auto_renew_status": "1",
    ]
  }
}
