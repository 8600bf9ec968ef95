package import AppStore
package import JSON

/// Something that the operator asked Apple to do, and what Apple answered.
package struct AppleCall: Hashable, Sendable {
  /// The method of the contract by which it was asked, such as `ExtendRenewalDate`.
  package let method: String
  /// The purchase line that it is about; empty for a call about no single one.
  package let originalTransactionID: String
  /// The one purchase of the line that it is about; empty for a call about the whole line, and in evidence from
  /// before this was kept.
  package let transactionID: String
  /// What Apple was sent.
  package let request: JSONObject
  /// What Apple answered; of a refusal, Apple's code and message.
  package var answer: JSONObject

  /// The method by which Apple's questions about refunds are answered.
  package static let sendConsumptionInformation = "SendConsumptionInformation"

  /// A call by its parts.
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

  /// Apple's refusal, as an answer.
  package static func refusal(_ code: APIErrorCode, message: String) -> JSONObject {
    ["errorCode": .number(JSONNumber(code.rawValue)), "errorMessage": .string(message)]
  }

  /// Whether Apple did not do it.
  var isRefused: Bool { answer["errorCode"] != nil }

  /// The same without what may lead to a person.
  var anonymous: AppleCall {
    AppleCall(
      method: method, originalTransactionID: originalTransactionID, transactionID: transactionID,
      request: [:], answer: answer["errorCode"].map { ["errorCode": $0] } ?? [:])
  }
}

extension JSONObject {
  /// A call as its evidence has it.
  init(_ call: AppleCall) {
    self = [
      "method": .string(call.method), "purchase": .string(call.originalTransactionID),
      "request": .object(call.request), "answer": .object(call.answer),
    ]
    if !call.transactionID.isEmpty { self["transaction"] = .string(call.transactionID) }
  }
}

extension AppleCall {
  /// The call in the members of its evidence; `nil` if they are none.
  init?(_ object: JSONObject) {
    guard let method = object["method"]?.stringValue else { return nil }
    self.init(
      method: method, originalTransactionID: object["purchase"]?.stringValue ?? "",
      transactionID: object["transaction"]?.stringValue ?? "", request: object["request"]?.objectValue ?? [:],
      answer: object["answer"]?.objectValue ?? [:])
  }
}
