internal import AppReceipt
internal import AppStore
internal import Bytes
internal import JSON
internal import SignedData

/// What an old backend asks `verifyReceipt`, taken apart. Nothing of the receipt is verified yet.
package struct VerifyReceiptCall: Sendable {
  /// The receipt as it came, in base64.
  package let text: String
  /// The receipt, PKCS#7.
  let document: [UInt8]
  /// What the receipt says of itself.
  let receipt: AppReceiptPayload
  /// The shared secret that came with it: never to be logged or shown.
  let password: String?
  /// Whether only the latest period of each subscription is wanted.
  let excludesOldTransactions: Bool

  /// Reads a request's body; `nil` if it is malformed, for which Apple has one status only.
  package init?(_ body: [UInt8]) {
    guard let json = try? JSONValue(parsing: body).objectValue,
      let request = try? VerifyReceiptRequest(json: json), let text = request.receiptData,
      let document = Self.document(text), let unverified = try? UnverifiedReceipt(document),
      let receipt = try? AppReceiptPayload(parsing: unverified.content)
    else { return nil }
    self.text = text
    self.document = document
    self.receipt = receipt
    password = request.password
    excludesOldTransactions = request.excludeOldTransactions ?? false
  }

  /// Old apps break the lines of their base64.
  private static func document(_ text: String) -> [UInt8]? {
    let digits = text.utf8.filter { $0 != 0x20 && !(0x09...0x0D).contains($0) }
    return Base64.standard.decode(digits[...])
  }
}
