import AppStore
import RPC
import Testing

@testable import Services

/// Requests of OpenFeature's clients (OFREP), and the errors that they get.
@Suite struct FlagRequestTests {
  private func request(_ json: String) throws(FlagError) -> FlagRequest { try FlagRequest(Array(json.utf8)) }

  private func code(_ json: String) -> FlagError.Code? {
    do throws(FlagError) { _ = try request(json) } catch { return error.code }
    return nil
  }

  @Test("The context names the customer, and may name app and environment")
  func context() throws {
    let full = try request(
      #"{"context": {"targetingKey": "ann", "app": "ocean", "environment": "Sandbox", "plan": [1]}}"#)
    #expect(full.customerID == "ann" && full.appID == "ocean" && full.environment == .sandbox)
    let short = try request(#"{"context": {"targetingKey": "ann", "app": "", "environment": null}}"#)
    #expect(short.customerID == "ann" && short.appID == nil && short.environment == nil)
  }

  @Test(
    "A body without a customer is an error that the protocol names",
    arguments: [
      ("", .parseError), ("[]", .parseError), (#"{"context": {}, "context": {}}"#, .parseError),
      ("{}", .targetingKeyMissing), (#"{"context": null}"#, .targetingKeyMissing),
      (#"{"context": {"targetingKey": ""}}"#, .targetingKeyMissing), (#"{"context": []}"#, .invalidContext),
      (#"{"context": {"targetingKey": 7}}"#, .invalidContext),
      (#"{"context": {"targetingKey": "a\u0000"}}"#, .invalidContext),
      (#"{"context": {"targetingKey": "ann", "environment": "sandbox"}}"#, .invalidContext),
    ] as [(String, FlagError.Code)])
  func invalid(json: String, expected: FlagError.Code) { #expect(code(json) == expected) }

  @Test("A customer id has at most 256 bytes")
  func length() {
    let (most, more) = (String(repeating: "a", count: 256), String(repeating: "a", count: 257))
    #expect(code(#"{"context": {"targetingKey": "\#(most)"}}"#) == nil)
    #expect(code(#"{"context": {"targetingKey": "\#(more)"}}"#) == .invalidContext)
  }

  @Test(
    "A status becomes the protocol's error for its reason, otherwise a general one with its own HTTP status",
    arguments: [
      ("UNKNOWN_ENTITLEMENT", .notFound, .flagNotFound, 404),
      ("UNKNOWN_APP", .notFound, .invalidContext, 400),
      ("WRONG_ENVIRONMENT", .invalidArgument, .invalidContext, 400),
      ("STORE_UNAVAILABLE", .unavailable, .general, 503), ("ROLE_MISSING", .permissionDenied, .general, 403),
    ] as [(String, StatusCode, FlagError.Code, Int)])
  func statuses(reason: String, code: StatusCode, expected: FlagError.Code, http: Int) {
    let error = FlagError(Status(code, reason: reason, "the problem"))
    #expect(error.code == expected && error.httpStatus == http)
    #expect(error.reason == reason && error.details == "the problem")
  }
}
