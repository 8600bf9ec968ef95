internal import AppReceipt
internal import AppStore
internal import Bytes
internal import SignedData

/// The receipts that StoreKit 1 stores on a device, signed now. An account without purchases has a receipt too.
struct ReceiptDocument {
  let world: World
  let signer: ReceiptSigner
  /// The creation date.
  let date: Instant

  /// Returns the app receipt of an account, base64. Consumables appear until they are finished.
  func appReceipt(of account: String, in app: SandboxApp) throws(CryptographyError) -> String {
    base64(try signer.sign(content: content(account, app).content))
  }

  /// Returns the receipt in the format before iOS 7, base64.
  ///
  /// Its signature does not have Apple's format, which can no longer be verified.
  func transactionReceipt(_ sold: SoldTransaction, in app: SandboxApp) throws(CryptographyError) -> String {
    let info = Array(purchaseInfo(sold, app).utf8)
    let list = propertyList([
      ("signature", base64(try signer.sign(content: info))),
      ("purchase-info", base64(info)),
      ("environment", Environment.sandbox.rawValue),
      ("pod", "100"),
      ("signing-status", "0"),
    ])
    return base64(Array(list.utf8))
  }

  /// Returns the purchases that an account's receipt contains.
  static func purchases(of account: String, in app: String, world: World) -> [SoldTransaction] {
    world.purchases(of: account, in: app).filter { sold in
      world.product(sold.productID, of: app)?.type != .consumable || !sold.isFinished
    }
  }

  /// The attributes of an app receipt, by Apple's numbers (Apple: "Receipt fields").
  private func content(_ account: String, _ app: SandboxApp) -> ReceiptBuilder {
    let install = world.accounts[account]?.appInstalls[app.id]
    // Derived from the account instead of random, so that a receipt can be reproduced.
    let number = appTransactionID(app: app.id, account: account)
    var receipt = ReceiptBuilder()
    receipt.add(0, ReceiptType.productionSandbox.rawValue)
    // In Apple's sandbox the app has no Apple id.
    receipt.add(1, 0)
    receipt.add(2, app.identity.bundleID)
    receipt.add(3, install?.version ?? "1.0")
    receipt.add(4, bytes: Array(number.utf8.prefix(16)))
    // A device hash that matches no device.
    receipt.add(5, bytes: Array((number + number).utf8.prefix(20)))
    receipt.add(12, date)
    receipt.add(15, 0)
    receipt.add(16, 0)
    let legacy = LegacyDocument(world: world, app: app, receipts: self).purchases(account)
    for (sold, purchase) in zip(Self.purchases(of: account, in: app.id, world: world), legacy) {
      receipt.add(purchase: entry(sold, cancelled: purchase.cancellation?.date))
    }
    // Apple's sandbox reports this purchase date for every app.
    receipt.add(18, Instant(millisecondsSince1970: 1_375_340_400_000))
    receipt.add(19, install?.originalVersion ?? "1.0")
    return receipt
  }

  /// The attributes of one purchase in a receipt.
  private func entry(_ sold: SoldTransaction, cancelled: Instant?) -> ReceiptBuilder {
    var purchase = ReceiptBuilder()
    purchase.add(1701, sold.quantity)
    purchase.add(1702, sold.productID)
    purchase.add(1703, String(sold.id))
    purchase.add(1704, sold.purchaseDate)
    purchase.add(1705, String(sold.originalID))
    purchase.add(1706, sold.originalPurchaseDate)
    if let expiresDate = sold.expiresDate { purchase.add(1708, expiresDate) }
    purchase.add(1711, sold.webOrderLineItemID ?? 0)
    if let cancelled { purchase.add(1712, cancelled) }
    purchase.add(1713, sold.isTrial ? 1 : 0)
    purchase.add(1719, sold.isIntroductory ? 1 : 0)
    return purchase
  }

  /// The purchase of a receipt from before iOS 7, as a property list.
  private func purchaseInfo(_ sold: SoldTransaction, _ app: SandboxApp) -> String {
    var entries = [
      ("bid", app.identity.bundleID),
      ("bvrs", "1.0"),
      ("product-id", sold.productID),
      ("quantity", String(sold.quantity)),
      ("transaction-id", String(sold.id)),
      ("original-transaction-id", String(sold.originalID)),
      ("purchase-date-ms", String(sold.purchaseDate.millisecondsSince1970)),
      ("original-purchase-date-ms", String(sold.originalPurchaseDate.millisecondsSince1970)),
    ]
    if let end = sold.expiresDate { entries.append(("expires-date", String(end.millisecondsSince1970))) }
    if let item = sold.webOrderLineItemID { entries.append(("web-order-line-item-id", String(item))) }
    return propertyList(entries)
  }

  /// Formats an old-style property list. The values contain no characters that need escaping.
  private func propertyList(_ entries: [(String, String)]) -> String {
    "{\n" + entries.map { name, value in "\t\"\(name)\" = \"\(value)\";\n" }.joined() + "}"
  }

  private func base64(_ bytes: [UInt8]) -> String {
    Base64.standard.encode(bytes)
  }
}

extension SoldTransaction {
  /// Whether it is free by an offer.
  var isTrial: Bool { offer?.mode == .freeTrial }

  /// Whether it is a paid introductory offer.
  var isIntroductory: Bool { offer?.type == .introductory && !isTrial }
}
