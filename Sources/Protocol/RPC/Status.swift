/// How a call ended: a code for machines, a message for people, and details for both.
///
/// It is the outcome of one call, never the state of the server. A handler throws it; `.ok` is not
/// thrown.
package struct Status: Error, Hashable, Sendable {
  package var code: StatusCode
  /// What went wrong and what to do, for whoever reads the caller's log.
  package var message: String
  /// A serialized `google.rpc.Status`, sent as `grpc-status-details-bin`; empty for none.
  package var details: [UInt8]
  /// By which the logs know the call, sent as `x-request-id`; empty if they say nothing of it.
  package var requestID = ""
  /// What the operator's log says beside the message, because it is no business of the caller's; it is not sent.
  package var cause = ""

  package init(_ code: StatusCode, _ message: String = "", details: [UInt8] = []) {
    self.code = code
    self.message = message
    self.details = details
  }

  /// All that is known of a failure, for the operator's log.
  package var problem: String { cause.isEmpty ? message : "\(message): \(cause)" }

  package static let ok = Status(.ok)
  /// The caller of a method that takes one message sent none, or more.
  package static let oneMessageExpected = Status(
    .unimplemented, "this method takes exactly one message and the request has another number")
}

extension Status: CustomStringConvertible {
  package var description: String { message.isEmpty ? code.name : "\(code.name): \(message)" }
}
