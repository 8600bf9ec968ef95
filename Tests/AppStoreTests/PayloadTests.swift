import AppStore
import JSON
import Testing

@Suite struct PayloadTests {
  private func object(_ text: String) throws -> JSONObject {
    try #require(try JSONValue(parsing: text).objectValue)
  }

  @Test("A transaction's members arrive under Apple's names")
  func transaction() throws {
    let payload = try JWSTransactionDecodedPayload(
      json: object(
        """
        {"transactionId": "23456", "purchaseDate": 1698148900000, "type": "Auto-Renewable Subscription",
         "quantity": 1, "inAppOwnershipType": "PURCHASED", "revocationReason": 1, "isUpgraded": true,
         "offerType": 4, "environment": "LocalTesting", "price": 10990, "commitmentInfo": {"a": 1}}
        """))
    #expect(payload.transactionId == "23456")
    #expect(payload.purchaseDate == Instant(millisecondsSince1970: 1_698_148_900_000))
    #expect(payload.type == .autoRenewableSubscription)
    #expect(payload.inAppOwnershipType == .purchased)
    #expect(payload.revocationReason == .appIssue)
    #expect(payload.isUpgraded == true)
    #expect(payload.offerType == .winBack)
    #expect(payload.environment == .localTesting)
    #expect(payload.price == 10990)
    #expect(payload.commitmentInfo == ["a": 1])
    #expect(payload.expiresDate == nil)
  }

  @Test("Members and codes that are not known yet are kept as they came")
  func unknown() throws {
    let json = try object(#"{"type": "Rental", "offerType": 9, "novelty": [1, 2], "price": null}"#)
    let payload = try JWSTransactionDecodedPayload(json: json)
    #expect(payload.type == .unrecognized("Rental"))
    #expect(payload.type?.rawValue == "Rental")
    #expect(payload.offerType == .unrecognized(9))
    #expect(payload.price == nil)
    #expect(payload.json["novelty"] == [1, 2])
  }

  @Test("Xcode's fractions of a millisecond are cut off")
  func fraction() throws {
    let payload = try JWSRenewalInfoDecodedPayload(json: object(#"{"signedDate": 1697679936711.0747}"#))
    #expect(payload.signedDate == Instant(millisecondsSince1970: 1_697_679_936_711))
  }

  @Test("A member of another type is named in the error")
  func wrongType() throws {
    #expect(throws: PayloadError.wrongType(member: "transactionId", expected: "a string")) {
      try JWSTransactionDecodedPayload(json: ["transactionId": 5])
    }
    #expect(throws: PayloadError.wrongType(member: "isInBillingRetryPeriod", expected: "true or false")) {
      try JWSRenewalInfoDecodedPayload(json: ["isInBillingRetryPeriod": "no"])
    }
    #expect(
      throws: PayloadError.wrongType(member: "eligibleWinBackOfferIds", expected: "an array of strings")
    ) {
      try JWSRenewalInfoDecodedPayload(json: ["eligibleWinBackOfferIds": ["a", 1]])
    }
  }

  @Test("Dates beyond the calendar and environments that do not exist are refused")
  func unusable() throws {
    #expect(throws: PayloadError.dateOutOfRange(member: "signedDate")) {
      try JWSTransactionDecodedPayload(json: ["signedDate": .number(JSONNumber(.max))])
    }
    #expect(throws: PayloadError.dateOutOfRange(member: "preorderDate")) {
      try AppTransactionPayload(json: object(#"{"preorderDate": 1e300}"#))
    }
    #expect(throws: PayloadError.unknownEnvironment(member: "receiptType")) {
      try AppTransactionPayload(json: ["receiptType": "Moon"])
    }
  }
}
