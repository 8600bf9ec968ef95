internal import AppReceipt
internal import AppStore
internal import Bytes
internal import JSON
internal import SignedData

/// A parsed, unverified request of `verifyReceipt`.
package struct VerifyReceiptCall: Sendable {
  /// The receipt as received, in base64.
  package let text: String
  /// The PKCS#7 document.
  let document: [UInt8]
  /// The parsed contents. They are unverified until ``VerifyReceiptFacade`` admits the request.
  let receipt: AppReceiptPayload
  /// The shared secret in the request; never log it.
  let password: String?
  /// Whether to return only the latest period of each subscription.
  let excludesOldTransactions: Bool
  /// The environment that the receipt states; `nil` for an unknown one.
  var origin: Environment? { if case .known(let origin) = receipt.origin { origin } else { nil } }

  /// Parses a request body; `nil` if it is malformed: no JSON, no base64, or no PKCS#7 with a receipt in it.
  package init?(_ body: [UInt8]) {
    guard let request = VerifyReceiptRequest(body), let text = request.receiptData,
      let document = try? Base64.standard.decodeLines(Array(text.utf8)[...]),
      let unverified = try? UnverifiedReceipt(document),
      let receipt = try? AppReceiptPayload(parsing: unverified.content)
    else { return nil }
    self.text = text
    self.document = document
    self.receipt = receipt
    password = request.password
    excludesOldTransactions = request.excludeOldTransactions ?? false
  }
}

extension VerifyReceiptRequest {
  /// Parses a request body as JSON; `nil` if it is malformed.
  init?(_ body: [UInt8]) {
    guard let json = try? JSONValue(parsing: body, limits: .ofRequests).objectValue,
      let request = try? VerifyReceiptRequest(json: json)
    else { return nil }
    self = request
  }
}
