internal import AppReceipt
internal import AppStore
internal import JSON
internal import SignedData

/// What Apple says in the forms of `verifyReceipt` and of notifications of version 1: texts, dates three times.
struct LegacyPaper {
  let world: World
  let app: SandboxApp
  let receipts: ReceiptPaper

  /// The latest transactions of an account, newest first, as `latest_receipt_info` has them. With `onlyLatest`, of
  /// each subscription only the latest period.
  func latestReceiptInfo(_ account: String, onlyLatest: Bool = false, limit: Int = .max) -> [JSONValue] {
    let purchases = ReceiptPaper.purchases(of: account, in: app.id, world: world).reversed()
      .filter { sold in !onlyLatest || world.lines[sold.originalID].map { $0.current == sold.id } ?? true }
    return purchases.prefix(limit).map { .object(transaction($0, isLatest: true)) }
  }

  /// What each subscription of an account will do next, as `pending_renewal_info` has it.
  func pendingRenewalInfo(_ account: String) -> [JSONValue] {
    world.subscriptions(of: account, in: app.id).map { .object(pending($0)) }
  }

  /// One transaction. `isLatest`: with the members that only `latest_receipt_info` has.
  func transaction(_ sold: SoldTransaction, isLatest: Bool) -> JSONObject {
    let line = world.lines[sold.originalID]
    var json = JSONObject(present: [
      ("quantity", .string(String(sold.quantity))),
      ("product_id", .string(sold.productID)),
      ("transaction_id", .string(String(sold.id))),
      ("original_transaction_id", .string(String(sold.originalID))),
      ("web_order_line_item_id", sold.webOrderLineItemID.map { .string(String($0)) }),
      ("is_trial_period", line == nil && isLatest ? nil : .string(String(sold.isTrial))),
      ("is_in_intro_offer_period", line == nil ? nil : .string(String(sold.isIntroductory))),
      ("promotional_offer_id", name(sold.offer, .promotional)),
      ("cancellation_reason", sold.revocation.map { .string(String($0.reason.rawValue)) }),
    ])
    json.add(legacyDate: sold.purchaseDate, as: "purchase_date")
    json.add(legacyDate: sold.originalPurchaseDate, as: "original_purchase_date")
    json.add(legacyDate: sold.expiresDate, as: "expires_date")
    json.add(legacyDate: sold.revocation?.date, as: "cancellation_date")
    guard isLatest else { return json }
    json["in_app_ownership_type"] = .string(sold.ownership.rawValue)
    json["app_account_token"] = sold.appAccountToken.map(JSONValue.string)
    json["offer_code_ref_name"] = name(sold.offer, .offerCode)
    json["is_upgraded"] = sold.isUpgraded ? "true" : nil
    let product = world.product(sold.productID, of: sold.app)
    json["subscription_group_identifier"] = product?.subscriptionGroupIdentifier.map(JSONValue.string)
    return json
  }

  private func name(_ offer: Offer?, _ type: OfferType) -> JSONValue? {
    offer.flatMap { $0.type == type ? .string($0.id) : nil }
  }

  private func pending(_ line: SubscriptionLine) -> JSONObject {
    let next = line.runningOffer.flatMap { $0.left > 0 ? $0.offer : nil } ?? line.pendingOffer
    let intent = world.expirationIntent(of: line).map { JSONValue.string(String($0.rawValue)) }
    let isEnded = !line.isEntitling
    var json = JSONObject(present: [
      ("auto_renew_product_id", .string(line.renewalProductID)),
      ("product_id", .string(line.productID)),
      ("original_transaction_id", .string(String(line.id))),
      ("auto_renew_status", line.autoRenews ? "1" : "0"),
      ("expiration_intent", intent),
      ("is_in_billing_retry_period", isEnded || intent != nil ? (world.isRetried(line) ? "1" : "0") : nil),
      ("price_consent_status", line.priceIncrease.map { $0.isAgreed ? "1" : "0" }),
      ("price_increase_status", line.priceIncrease.map { $0.isAgreed ? "1" : "0" }),
      ("promotional_offer_id", name(next, .promotional)),
      ("offer_code_ref_name", name(next, .offerCode)),
    ])
    json.add(legacyDate: world.graceEnd(of: line), as: "grace_period_expires_date")
    return json
  }

  // MARK: Notifications of version 1

  /// The body of a notification of version 1; `nil` for what version 1 does not tell.
  func notification(_ notice: Notice) throws(CryptographyError) -> JSONObject? {
    guard case .purchase(let sold, let line?, _) = notice.subject, let type = notice.typeV1 else {
      return nil
    }
    let account = sold.account
    let unified = JSONObject(present: [
      ("environment", .string(Environment.sandbox.rawValue)),
      ("status", 0),
      ("latest_receipt", .string(try receipts.appReceipt(of: account, in: app))),
      ("latest_receipt_info", .array(latestReceiptInfo(account, limit: 100))),
      ("pending_renewal_info", .array(pendingRenewalInfo(account))),
    ])
    var body = JSONObject(present: [
      ("notification_type", .string(type.rawValue)),
      ("environment", .string(Environment.sandbox.rawValue)),
      ("password", world.settings[app.id]?.sharedSecret.map(JSONValue.string)),
      ("bid", .string(app.identity.bundleID)),
      ("bvrs", .string(world.accounts[account]?.copies[app.id]?.version ?? "1.0")),
      ("auto_renew_product_id", .string(line.renewalProductID)),
      ("auto_renew_status", line.autoRenews ? "true" : "false"),
      ("expiration_intent", world.expirationIntent(of: line).map { .string(String($0.rawValue)) }),
      ("original_transaction_id", .string(String(line.id))),
    ])
    if notice.type == .didChangeRenewalStatus {
      body.add(legacyDate: notice.date, as: "auto_renew_status_change_date")
    }
    body["unified_receipt"] = .object(unified)
    return body
  }
}

extension Notice {
  /// What version 1 calls it; `nil` for what it does not tell.
  var typeV1: NotificationTypeV1? {
    let isMembers = transaction.map { $0.ownership != .purchased } ?? false
    return switch (type, subtype) {
    case (.subscribed, .initialBuy?): isMembers ? nil : .initialBuy
    case (.subscribed, _), (.didChangeRenewalPref, .upgrade?), (.offerRedeemed, .upgrade?):
      .interactiveRenewal
    case (.didChangeRenewalPref, _), (.offerRedeemed, .downgrade?): .didChangeRenewalPref
    case (.didChangeRenewalStatus, _): .didChangeRenewalStatus
    case (.didFailToRenew, _): .didFailToRenew
    case (.didRenew, .billingRecovery?): .didRecover
    case (.didRenew, _): .didRenew
    case (.priceIncrease, .pending?): isMembers ? nil : .priceIncreaseConsent
    case (.refund, nil): .cancel
    case (.revoke, _): .revoke
    case (.consumptionRequest, _): .consumptionRequest
    default: nil
    }
  }
}
