internal import AppReceipt
internal import AppStore
internal import SignedData

/// The receipts that StoreKit 1 leaves on the device after a sale.
extension Sale {
  /// The app receipt in base64, with the sale as its only purchase.
  func appReceipt(_ signer: ReceiptSigner) throws(CryptographyError) -> String {
    base64(try signer.sign(content: receiptContent.content))
  }

  /// The receipt of before iOS 7 in base64.
  ///
  /// Its signature has a form of our own. Nobody can tell: Apple's cannot be checked any more.
  func transactionReceipt(_ signer: ReceiptSigner) throws(CryptographyError) -> String {
    let info = Array(purchaseInfo.utf8)
    let list = propertyList([
      ("signature", base64(try signer.sign(content: info))),
      ("purchase-info", base64(info)),
      ("environment", Environment.sandbox.rawValue),
      ("pod", "100"),
      ("signing-status", "0"),
    ])
    return base64(Array(list.utf8))
  }

  private var receiptContent: ReceiptBuilder {
    var receipt = ReceiptBuilder()
    receipt.add(0, ReceiptType.productionSandbox.rawValue)
    // In Apple's sandbox the app has no number and was always bought at the same moment, in version 1.0.
    receipt.add(1, 0)
    receipt.add(2, app.identity.bundleID)
    receipt.add(3, "1.0")
    receipt.add(4, bytes: randomBytes(16))
    // The hash of a device that nobody has.
    receipt.add(5, bytes: randomBytes(20))
    receipt.add(12, signedDate)
    receipt.add(15, 0)
    receipt.add(16, 0)
    receipt.add(purchase: receiptPurchase)
    receipt.add(18, Instant(millisecondsSince1970: 1_375_340_400_000))
    receipt.add(19, "1.0")
    return receipt
  }

  private var receiptPurchase: ReceiptBuilder {
    var purchase = ReceiptBuilder()
    purchase.add(1701, quantity)
    purchase.add(1702, product.productId)
    purchase.add(1703, transactionId)
    purchase.add(1704, purchaseDate)
    purchase.add(1705, line.originalTransactionId)
    purchase.add(1706, line.originalPurchaseDate)
    if let expiresDate { purchase.add(1708, expiresDate) }
    purchase.add(1711, webOrderLineItemId.flatMap { Int64($0) } ?? 0)
    purchase.add(1713, 0)
    purchase.add(1719, 0)
    return purchase
  }

  private var purchaseInfo: String {
    var entries = [
      ("bid", app.identity.bundleID),
      ("bvrs", "1.0"),
      ("product-id", product.productId),
      ("quantity", String(quantity)),
      ("transaction-id", transactionId),
      ("original-transaction-id", line.originalTransactionId),
      ("purchase-date-ms", String(purchaseDate.millisecondsSince1970)),
      ("original-purchase-date-ms", String(line.originalPurchaseDate.millisecondsSince1970)),
    ]
    if let expiresDate { entries.append(("expires-date", String(expiresDate.millisecondsSince1970))) }
    if let webOrderLineItemId { entries.append(("web-order-line-item-id", webOrderLineItemId)) }
    return propertyList(entries)
  }

  /// A property list in the oldest form. None of the values has a character that would need an escape.
  private func propertyList(_ entries: [(String, String)]) -> String {
    "{\n" + entries.map { name, value in "\t\"\(name)\" = \"\(value)\";\n" }.joined() + "}"
  }

  private func randomBytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: .min ... .max) }
  }

  private func base64(_ bytes: [UInt8]) -> String {
    String(decoding: Base64.standard.encode(bytes), as: UTF8.self)
  }
}
