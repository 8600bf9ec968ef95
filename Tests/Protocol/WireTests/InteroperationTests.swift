import JSON
import Testing
import Wire

/// A response as Google's Python library (7.36) encodes it.
@Suite struct InteroperationTests {
  private let message = CheckResponse.with {
    $0.entitlement = .with {
      $0.entitled = true
      $0.accessLevel = .full
      $0.appStoreCodes = .with { ($0.stateCode, $0.status) = ("-5.1", -3) }
      $0.evidenceId = .max
      $0.willRenew = false
      $0.until = .init(millisecondsSince1970: -1)
      $0.renewalPrice = .with { ($0.milliunits, $0.currency) = (9990, "EUR") }
      $0.advice = [
        .with { ($0.kind, $0.offerIds, $0.daysLeft) = (.winBackOffer, ["a", "", "c"], 0) },
        .with { $0.message = String(repeating: "é😀", count: 40) },
      ]
    }
    $0.environment = .unrecognized(77)
  }

  private let wireForm =
    "0ac90210011803421108ffffffffffffffffff0110c08faedc0358008801ffffffffffffffff7fb201080886"
    + "4e1203455552c2010c080428003201613200320163c201f30112f001"
    + String(repeating: "c3a9f09f9880", count: 40) + "ca01110a042d352e3118fdffffffffffffffff01104d"

  private let jsonForm =
    #"{"entitlement": {"entitled": true, "accessLevel": "ACCESS_LEVEL_FULL", "#
    + #""until": "1969-12-31T23:59:59.999Z", "willRenew": false, "#
    + #""evidenceId": "9223372036854775807", "renewalPrice": {"milliunits": "9990", "#
    + #""currency": "EUR"}, "advice": [{"kind": "ADVICE_KIND_WIN_BACK_OFFER", "daysLeft": 0, "#
    + #""offerIds": ["a", "", "c"], "message": "", "url": "", "productIds": []}, {"message": ""#
    + String(repeating: "é😀", count: 40)
    + #"", "kind": "ADVICE_KIND_UNSPECIFIED", "url": "", "offerIds": [], "productIds": []}], "#
    + #""appStoreCodes": {"stateCode": "-5.1", "status": -3, "#
    + #""productState": "PRODUCT_STATE_UNSPECIFIED", "inAppOwnershipTypeRaw": "", "#
    + #""billingPlanTypeRaw": ""}, "name": "", "state": "ENTITLEMENT_STATE_UNSPECIFIED", "#
    + #""reason": "", "explanation": "", "productId": "", "#
    + #""productType": "PRODUCT_TYPE_UNSPECIFIED", "transactionId": "", "#
    + #""originalTransactionId": "", "grantId": "", "#
    + #""inAppOwnershipType": "IN_APP_OWNERSHIP_TYPE_UNSPECIFIED", "#
    + #""billingPlanType": "BILLING_PLAN_TYPE_UNSPECIFIED", "autoRenewProductId": "", "#
    + #""manageUrl": "", "source": "", "externalId": ""}, "environment": 77}"#
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
