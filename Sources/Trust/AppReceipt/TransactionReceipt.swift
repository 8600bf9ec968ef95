package import AppStore
internal import Bytes
package import JSON
internal import SignedData

/// A receipt for one transaction, from before iOS 7: a property list around another one in Base64.
///
/// Not verified: Apple documents no way to, and its certificates have expired. It proves nothing and only
/// identifies a purchase to look up at Apple, by ``transactionID`` or ``originalTransactionID``.
package struct TransactionReceipt: Hashable, Sendable {
  /// `Sandbox` or `Production`; `nil` if missing.
  package let environment: Environment?
  /// The Apple server group that issued it.
  package let pod: String?
  /// `0` if signed.
  package let signingStatus: String?
  /// Whether there is a signature, valid or not.
  package let hasSignature: Bool
  /// `transaction-id`.
  package let transactionID: String?
  /// `original-transaction-id`.
  package let originalTransactionID: String?
  /// `product-id`.
  package let productID: String?
  /// `bid`.
  package let bundleID: String?
  /// `quantity`, as text.
  package let quantity: String?
  /// `purchase-date-ms`.
  package let purchaseDate: Instant?
  /// `original-purchase-date-ms`.
  package let originalPurchaseDate: Instant?
  /// The expiry of a subscription.
  package let expirationDate: Instant?
  /// `web-order-line-item-id`.
  package let webOrderLineItemID: String?
  /// All entries, with `purchase-info` as an object and the signature as `true`.
  package let json: JSONObject

  /// Decodes the property list, after Base64.
  ///
  /// - Throws: ``AppReceiptError`` for a document that is not such a property list.
  package init(parsing document: [UInt8]) throws(AppReceiptError) {
    let list = try PropertyList(parsing: document)
    guard let encoded = list["purchase-info"] else { throw .notAPropertyList("purchase-info is missing") }
    let info: [UInt8]
    do throws(Base64Fault) { info = try Base64.standard.decodeLines(Array(encoded.utf8)[...]) } catch {
      throw .notAPropertyList("purchase-info is not base64: \(error.explanation(for: .standard))")
    }
    let purchase = try PropertyList(parsing: info)
    environment = list["environment"].flatMap(Environment.init)
    pod = list["pod"]
    signingStatus = list["signing-status"]
    hasSignature = list["signature"] != nil
    transactionID = purchase["transaction-id"]
    originalTransactionID = purchase["original-transaction-id"]
    productID = purchase["product-id"]
    bundleID = purchase["bid"]
    quantity = purchase["quantity"]
    purchaseDate = try purchase.date("purchase-date-ms")
    originalPurchaseDate = try purchase.date("original-purchase-date-ms")
    expirationDate = try purchase.date("expires-date")
    webOrderLineItemID = purchase["web-order-line-item-id"]
    json = list.json(purchase: purchase)
  }
}

extension PropertyList {
  /// Returns a date from milliseconds since 1970.
  fileprivate func date(_ name: String) throws(AppReceiptError) -> Instant? {
    guard let text = self[name] else { return nil }
    guard let milliseconds = Int64(text) else { throw .notAPropertyList("\(name) is not a date") }
    return Instant(millisecondsSince1970: milliseconds)
  }

  /// The entries as JSON, for display: `purchase-info` decoded, and of the signature only that it is there.
  fileprivate func json(purchase: PropertyList) -> JSONObject {
    JSONObject(
      entries.map { entry in
        switch entry.name {
        case "purchase-info":
          (entry.name, .object(JSONObject(purchase.entries.map { ($0.name, .string($0.value)) })))
        case "signature": (entry.name, .bool(true))
        default: (entry.name, .string(entry.value))
        }
      })
  }
}
