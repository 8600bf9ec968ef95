package import JSON

/// Something that the operator asked Apple to do, and what Apple answered.
package struct AppleCall: Hashable, Sendable {
  /// The method of the contract by which it was asked, such as `ExtendRenewalDate`.
  package let method: String
  /// The purchase line that it is about; empty for a call about no single one.
  package let originalTransactionID: String
  /// What Apple was sent.
  package let request: JSONObject
  /// What Apple answered; of a refusal, Apple's code and message.
  package let answer: JSONObject

  /// A call by its parts.
  package init(
    method: String, originalTransactionID: String, request: JSONObject, answer: JSONObject
  ) {
    self.method = method
    self.originalTransactionID = originalTransactionID
    self.request = request
    self.answer = answer
  }

  /// The same without what may lead to a person.
  var anonymous: AppleCall {
    AppleCall(method: method, originalTransactionID: originalTransactionID, request: [:], answer: [:])
  }
}

extension JSONObject {
  /// A call as its evidence has it.
  init(_ call: AppleCall) {
    self = [
      "method": .string(call.method), "purchase": .string(call.originalTransactionID),
      "request": .object(call.request), "answer": .object(call.answer),
    ]
  }
}

extension AppleCall {
  /// The call in the members of its evidence; `nil` if they are none.
  init?(_ object: JSONObject) {
    guard let method = object["method"]?.stringValue else { return nil }
    self.init(
      method: method, originalTransactionID: object["purchase"]?.stringValue ?? "",
      request: object["request"]?.objectValue ?? [:], answer: object["answer"]?.objectValue ?? [:])
  }
}
