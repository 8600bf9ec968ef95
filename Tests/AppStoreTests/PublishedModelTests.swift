import AppStore
import JSON
import Testing

/// Apple's own example payloads, from its server libraries.
@Suite(.enabled(if: TestData.folder != nil, "ENTITLED_TESTDATA is not there"))
struct PublishedModelTests {
  private func model(_ name: String) throws -> JSONObject {
    try #require(try JSONValue(parsing: TestData.bytes("apple-asl/models/\(name).json")).objectValue)
  }

  /// The members that a payload has a property for, as its mirror shows them.
  private func present(in payload: Any) -> Set<String> {
    Set(
      Mirror(reflecting: payload).children.compactMap { child in
        let isNil =
          Mirror(reflecting: child.value).displayStyle == .optional
          && Mirror(reflecting: child.value).children.isEmpty
        return isNil || child.label == "json" ? nil : child.label
      })
  }

  @Test("Every member of the published transactions has its property")
  func transactions() throws {
    for name in ["signedTransaction", "signedTransactionWithRevocation"] {
      let json = try model(name)
      #expect(present(in: try JWSTransactionDecodedPayload(json: json)) == Set(json.map(\.name)))
    }
  }

  @Test("Every member of the published renewal info has its property")
  func renewalInfo() throws {
    let json = try model("signedRenewalInfo")
    #expect(present(in: try JWSRenewalInfoDecodedPayload(json: json)) == Set(json.map(\.name)))
  }

  @Test("Every member of the published app transaction has its property")
  func appTransaction() throws {
    let json = try model("appTransaction")
    #expect(present(in: try AppTransactionPayload(json: json)) == Set(json.map(\.name)))
  }
}
