import JSON
import Testing
import Wire

/// A response as Google's Python library (7.36) encodes it.
@Suite struct InteroperationTests {
  private let message = CheckResponse.with {
    $0.entitled = true
    $0.accessLevel = .full
    $0.stateCode = "-5.1"
    $0.status = -3
    $0.evidenceId = .max
    $0.environment = .unrecognized(77)
    $0.until = .init(millisecondsSince1970: -1)
    $0.renewalPrice = .with { ($0.milliunits, $0.currency) = (9990, "EUR") }
    $0.advice = [
      .with { ($0.kind, $0.offerIds) = (.winBackOffer, ["a", "", "c"]) },
      .with { $0.message = String(repeating: "é😀", count: 40) },
    ]
  }

  private let wireForm =
    "0801100322042d352e31321108ffffffffffffffffff0110c08faedc03604d9801fdffffffffffffffff01"
    + "a001ffffffffffffffff7fba010808864e1203455552c2010a08043201613200320163c201f30112f001"
    + String(repeating: "c3a9f09f9880", count: 40)

  private let jsonForm =
    #"{"entitled": true, "accessLevel": "ACCESS_LEVEL_FULL", "stateCode": "-5.1", "#
    + #""until": "1969-12-31T23:59:59.999Z", "environment": 77, "status": -3, "#
    + #""evidenceId": "9223372036854775807", "renewalPrice": {"milliunits": "9990", "currency": "EUR"}, "#
    + #""advice": [{"kind": "ADVICE_KIND_WIN_BACK_OFFER", "offerIds": ["a", "", "c"], "message": "", "url": "", "#
    + #""daysLeft": 0, "productIds": []}, {"message": ""# + String(repeating: "é😀", count: 40)
    + #"", "kind": "ADVICE_KIND_UNSPECIFIED", "url": "", "daysLeft": 0, "offerIds": [], "productIds": []}], "#
    + #""state": "ENTITLEMENT_STATE_UNSPECIFIED", "productState": "PRODUCT_STATE_UNSPECIFIED", "reason": "", "#
    + #""explanation": "", "productId": "", "transactionId": "", "originalTransactionId": "", "#
    + #""willRenew": false, "inAppOwnershipType": "IN_APP_OWNERSHIP_TYPE_UNSPECIFIED", "entitlement": "", "#
    + #""productType": "PRODUCT_TYPE_UNSPECIFIED", "autoRenewProductId": "", "grantId": "", "#
    + #""billingPlanType": "BILLING_PLAN_TYPE_UNSPECIFIED", "billingPlanTypeRaw": "", "#
    + #""inAppOwnershipTypeRaw": "", "manageUrl": ""}"#

  @Test("Encoding returns the bytes of Google's library")
  func bytes() throws {
    let hexadecimal = message.encodedBytes().map { byte in
      (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
    #expect(hexadecimal.joined() == wireForm)
    #expect(try CheckResponse.decode(message.encodedBytes()) == message)
  }

  @Test("JSON matches that of Google's library in any order of the members")
  func json() throws {
    #expect(try CheckResponse(json: Array(jsonForm.utf8)) == message)
    #expect(sorted(message.jsonValue) == sorted(try JSONValue(parsing: jsonForm)))
  }

  private func sorted(_ value: JSONValue) -> JSONValue {
    switch value {
    case .array(let elements): .array(elements.map(sorted))
    case .object(let members):
      .object(JSONObject(members.map { ($0.name, sorted($0.value)) }.sorted { $0.0 < $1.0 }))
    default: value
    }
  }
}
