import RPC
import Testing

@testable import Services

/// The requests of devices, which anyone can send.
@Suite struct DeviceSyncRequestTests {
  private func request(_ json: String) throws(Status) -> DeviceSyncRequest {
    try DeviceSyncRequest(Array(json.utf8))
  }

  private func request(transactions: Int, installationID: String = "I") throws(Status) -> DeviceSyncRequest {
    let documents = (0..<transactions).map { "\"\($0)\"" }.joined(separator: ",")
    let id = "\"installationId\": \"\(installationID)\""
    return try request(#"{"signedAppTransaction": "a", "signedTransactions": [\#(documents)], \#(id)}"#)
  }

  @Test("A request has the app transaction, each transaction once, and an id of the device")
  func members() throws {
    let full = try request(
      #"""
      {"signedAppTransaction": "a", "signedTransactions": ["b", "c", "b"], "installationId": "Ab",
       "deviceVerificationId": "Cd"}
      """#)
    #expect(full.signedAppTransaction == "a" && full.signedTransactions == ["b", "c"])
    #expect(full.installationID == "Ab" && full.deviceVerificationID == "cd")
    let short = try request(
      #"{"signedAppTransaction": "a", "signedTransactions": null, "deviceVerificationId": "cd"}"#)
    #expect(short.signedTransactions.isEmpty && short.installationID == nil)
  }

  @Test(
    "A request in another form is refused with the member that is wrong",
    arguments: [
      ("", "MALFORMED_MESSAGE", nil), ("[]", "MALFORMED_MESSAGE", nil),
      (#"{"signedAppTransaction": "a", "signedAppTransaction": "b"}"#, "MALFORMED_MESSAGE", nil),
      (#"{"installationId": "I"}"#, "MISSING_FIELD", "signedAppTransaction"),
      (#"{"signedAppTransaction": "", "installationId": "I"}"#, "MISSING_FIELD", "signedAppTransaction"),
      (#"{"signedAppTransaction": "a", "installationId": ""}"#, "MISSING_FIELD", "installationId"),
      (#"{"signedAppTransaction": 7, "installationId": "I"}"#, "INVALID_FIELD", "signedAppTransaction"),
      (#"{"signedAppTransaction": "a", "customerId": "ann"}"#, "INVALID_FIELD", "customerId"),
      (#"{"signedAppTransaction": "a", "signedTransactions": "b"}"#, "INVALID_FIELD", "signedTransactions"),
      (#"{"signedAppTransaction": "a", "signedTransactions": [""]}"#, "INVALID_FIELD", "signedTransactions"),
    ] as [(String, String, String?)])
  func refusals(json: String, reason: String, field: String?) {
    let status = thrownStatus { _ = try request(json) }
    #expect(status?.code == .invalidArgument)
    #expect(status?.reason == reason)
    #expect(status?.invalidField == field)
  }

  @Test("A request has at most 100 transactions and ids of at most 128 bytes")
  func limits() throws {
    let longest = String(repeating: "x", count: 128)
    #expect(try request(transactions: 100, installationID: longest).signedTransactions.count == 100)
    #expect(thrownStatus { _ = try request(transactions: 101) }?.reason == "TOO_MANY_TRANSACTIONS")
    let status = thrownStatus { _ = try request(transactions: 0, installationID: longest + "x") }
    #expect(status?.reason == "FIELD_TOO_LONG" && status?.invalidField == "installationId")
  }
}
