import AppStore
import JSON
import Testing

@Suite struct PayloadTests {
  private func object(_ text: String) throws -> JSONObject {
    try #require(try JSONValue(parsing: text).objectValue)
  }

  @Test("A refund of an Advanced Commerce item has its seats")
  func advancedCommerceRefund() throws {
    let info = try AdvancedCommerceTransactionInfo(
      json: object(
        """
        {"items": [{"SKU": "films", "refunds": [
          {"refundAmount": 4990, "refundReason": "LEGAL", "refundType": "FULL", "revokedSeatQuantity": 2}]}]}
        """))
    let refund = try #require(info.items?.first?.refunds?.first)
    #expect(refund.refundAmount == 4990 && refund.refundReason == .legal && refund.refundType == .full)
    #expect(refund.revokedSeatQuantity == 2)
  }

  @Test("The members of a transaction are decoded")
  func transaction() throws {
    let payload = try JWSTransactionDecodedPayload(
      json: object(
        """
        {"transactionId": "23456", "purchaseDate": 1698148900000, "type": "Auto-Renewable Subscription",
         "quantity": 1, "inAppOwnershipType": "PURCHASED", "revocationReason": 1, "isUpgraded": true,
         "offerType": 4, "environment": "LocalTesting", "price": 10990, "commitmentInfo": {"totalBillingPeriods": 12, "a": 1}}
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
    #expect(payload.commitmentInfo?.totalBillingPeriods == 12)
    #expect(payload.commitmentInfo?.json["a"] == 1)
    #expect(payload.expiresDate == nil)
  }

  // The documents of WWDC26, "What's new in Apple In-App Purchase".
  @Test("The members of a commitment are decoded")
  func commitment() throws {
    let transaction = try JWSTransactionDecodedPayload(
      json: object(
        """
        {"expiresDate": 1783503660000, "price": 10990, "billingPlanType": "MONTHLY", "commitmentInfo":
         {"billingPeriodNumber": 1, "totalBillingPeriods": 12, "commitmentExpiresDate": 1812447660000,
          "commitmentPrice": 131880}}
        """))
    let end = Instant(millisecondsSince1970: 1_812_447_660_000)
    #expect(transaction.billingPlanType == .monthly)
    #expect(transaction.commitmentInfo?.billingPeriodNumber == 1)
    #expect(transaction.commitmentInfo?.totalBillingPeriods == 12)
    #expect(transaction.commitmentInfo?.commitmentExpiresDate == end)
    #expect(transaction.commitmentInfo?.commitmentPrice == 131_880)
    let renewal = try JWSRenewalInfoDecodedPayload(
      json: object(
        """
        {"renewalBillingPlanType": "MONTHLY", "commitmentInfo":
         {"commitmentAutoRenewProductId": "plus.standard.annual", "commitmentAutoRenewStatus": 0,
          "commitmentRenewalDate": 1812447660000, "commitmentRenewalPrice": 10990,
          "commitmentRenewalBillingPlanType": "BILLED_UPFRONT"}}
        """))
    #expect(renewal.renewalBillingPlanType == .monthly)
    #expect(renewal.commitmentInfo?.commitmentAutoRenewProductId == "plus.standard.annual")
    #expect(renewal.commitmentInfo?.commitmentAutoRenewStatus == .off)
    #expect(renewal.commitmentInfo?.commitmentRenewalDate == end)
    #expect(renewal.commitmentInfo?.commitmentRenewalPrice == 10_990)
    #expect(renewal.commitmentInfo?.commitmentRenewalBillingPlanType == .billedUpfront)
  }

  @Test("Unknown members and codes are preserved")
  func unknown() throws {
    let json = try object(#"{"type": "Rental", "offerType": 9, "novelty": [1, 2], "price": null}"#)
    let payload = try JWSTransactionDecodedPayload(json: json)
    #expect(payload.type == .unrecognized("Rental"))
    #expect(payload.type?.rawValue == "Rental")
    #expect(payload.offerType == .unrecognized(9))
    #expect(payload.price == nil)
    #expect(payload.json["novelty"] == [1, 2])
  }

  @Test("Fractions of a millisecond are truncated")
  func fraction() throws {
    let payload = try JWSRenewalInfoDecodedPayload(json: object(#"{"signedDate": 1697679936711.0747}"#))
    #expect(payload.signedDate == Instant(millisecondsSince1970: 1_697_679_936_711))
  }

  @Test("A member of the wrong type is named in the error")
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

  @Test("Dates outside the calendar range are rejected")
  func unusable() throws {
    #expect(throws: PayloadError.dateOutOfRange(member: "signedDate")) {
      try JWSTransactionDecodedPayload(json: ["signedDate": .number(JSONNumber(.max))])
    }
    #expect(throws: PayloadError.dateOutOfRange(member: "preorderDate")) {
      try AppTransactionPayload(json: object(#"{"preorderDate": 1e300}"#))
    }
  }

  @Test("An unknown environment is nil and stays in the JSON")
  func unknownEnvironment() throws {
    let payload = try AppTransactionPayload(json: ["receiptType": "Moon"])
    #expect(payload.receiptType == nil)
    #expect(payload.json["receiptType"] == "Moon")
  }

  @Test("An error in a nested member has its path")
  func faultInside() throws {
    let json = try object(#"{"multiSeatInfo": {"priceTiers": [{"tierPrice": 1}, {"tierPrice": "1"}]}}"#)
    let path = "multiSeatInfo.priceTiers[1].tierPrice"
    #expect(throws: PayloadError.wrongType(member: path, expected: "an integer")) {
      try JWSTransactionDecodedPayload(json: json)
    }
  }

  @Test("Seats are decoded with their price tiers and renewal price tiers")
  func seats() throws {
    let bought = try JWSTransactionDecodedPayload(
      json: object(
        """
        {"quantity": 7, "inAppOwnershipType": "ASSIGNED", "additionalTransactionReason": "SEAT_ADDITION",
         "multiSeatInfo": {"invitationManagement": "DEVELOPER", "revokedSeatQuantity": 2,
                           "priceTiers": [{"tierPrice": 4990, "tierQuantity": 5}]}}
        """))
    #expect(bought.inAppOwnershipType == .assigned)
    #expect(bought.multiSeatInfo?.invitationManagement == .developer)
    #expect(bought.multiSeatInfo?.revokedSeatQuantity == 2)
    #expect(bought.multiSeatInfo?.priceTiers?.first?.tierPrice == 4990)
    #expect(bought.additionalTransactionReason == .seatAddition)
    let next = try JWSRenewalInfoDecodedPayload(
      json: object(
        #"{"renewalQuantity": 9, "multiSeatInfo": {"renewalPriceTiers": [{"tierQuantity": 9}]}}"#))
    #expect(next.renewalQuantity == 9)
    #expect(next.multiSeatInfo?.renewalPriceTiers?.first?.tierQuantity == 9)
  }

  @Test("Groups are decoded with their type and the roles of organizations")
  func groups() throws {
    let response = try GetCustomerGroupsResponse(
      json: object(
        """
        {"groups": [{"groupId": "9", "groupType": "CONSUMER"},
                    {"groupId": "8", "groupType": "ORGANIZATION", "roles": [
                      {"productId": "a", "role": "ADMIN"}, {"productId": "b", "role": "NONE"},
                      {"productId": "c", "role": "OWNER"}]}]}
        """))
    #expect(response.groups?.map(\.groupType) == [.consumer, .organization])
    #expect(response.groups?.last?.roles?.map(\.role) == [.admin, .member, .unrecognized("OWNER")])
    #expect(response.groups?.first?.roles == nil)
  }
}
