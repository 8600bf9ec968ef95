package import AppStore
package import JSON

/// A call to Apple that an operator made, with Apple's response.
package struct AppleCall: Hashable, Sendable {
  /// The RPC that the operator called, such as `ExtendRenewalDate`.
  package let method: String
  /// The purchase; empty for a call about several.
  package let originalTransactionID: String
  /// The transaction; empty for a call about the whole purchase.
  package let transactionID: String
  /// The request to Apple.
  package let request: JSONObject
  /// Apple's response; for an error, Apple's code and message.
  package var answer: JSONObject

  /// The RPC that answers a consumption request.
  package static let sendConsumptionInformation = "SendConsumptionInformation"

  package init(
    method: String, originalTransactionID: String, transactionID: String = "", request: JSONObject,
    answer: JSONObject
  ) {
    self.method = method
    self.originalTransactionID = originalTransactionID
    self.transactionID = transactionID
    self.request = request
    self.answer = answer
  }

  /// Apple's error as ``answer``.
  package static func refusal(_ code: APIErrorCode, message: String) -> JSONObject {
    ["errorCode": .number(JSONNumber(code.rawValue)), "errorMessage": .string(message)]
  }

  /// Whether Apple returned an error.
  var isRefused: Bool { answer["errorCode"] != nil }

  /// The call without anything that may identify a person.
  var anonymous: AppleCall {
    AppleCall(
      method: method, originalTransactionID: originalTransactionID, transactionID: transactionID,
      request: [:], answer: answer["errorCode"].map { ["errorCode": $0] } ?? [:])
  }
}

extension JSONObject {
  /// The form of a call in its evidence.
  init(_ call: AppleCall) {
    self = [
      "method": .string(call.method), "purchase": .string(call.originalTransactionID),
      "request": .object(call.request), "answer": .object(call.answer),
    ]
    if !call.transactionID.isEmpty { self["transaction"] = .string(call.transactionID) }
  }
}

extension AppleCall {
  /// Decodes a call; `nil` if the method is missing.
  init?(_ object: JSONObject) {
    guard let method = object["method"]?.stringValue else { return nil }
    self.init(
      method: method, originalTransactionID: object["purchase"]?.stringValue ?? "",
      transactionID: object["transaction"]?.stringValue ?? "", request: object["request"]?.objectValue ?? [:],
      answer: object["answer"]?.objectValue ?? [:])
  }
}
