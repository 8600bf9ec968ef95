import AppStore
import JSON
import Testing

@Suite struct NotificationPayloadTests {
  private func object(_ text: String) throws -> JSONObject {
    try #require(try JSONValue(parsing: text).objectValue)
  }

  @Test("A type that is not known yet is kept, with all that came with it")
  func unknownType() throws {
    let payload = try ResponseBodyV2DecodedPayload(
      json: object(
        """
        {"notificationType": "TELEPORTED", "subtype": "SIDEWAYS", "version": "3.0",
         "teleportInfo": {"planet": "Mars"}, "data": {"status": 17, "environment": "Moon"}}
        """))
    #expect(payload.notificationType == .unrecognized("TELEPORTED"))
    #expect(payload.subtype == .unrecognized("SIDEWAYS"))
    #expect(payload.data?.status == .unrecognized(17))
    #expect(payload.data?.environment == nil)
    #expect(payload.json["teleportInfo"]?.objectValue?["planet"] == "Mars")
  }

  @Test("The migration to Advanced Commerce has the two names that Apple uses")
  func migration() {
    #expect(NotificationTypeV2(rawValue: "MIGRATE") == .migrate)
    #expect(NotificationTypeV2(rawValue: "MIGRATION") == .migration)
  }

  @Test("No two codes share what Apple writes")
  func distinct() {
    func expectDistinct<Code: OpenCode>(_: Code.Type) {
      #expect(Set(Code.known.map(\.rawValue)).count == Code.known.count)
      for code in Code.known { #expect(Code(rawValue: code.rawValue) == code) }
    }
    expectDistinct(NotificationTypeV2.self)
    expectDistinct(NotificationSubtype.self)
    expectDistinct(NotificationTypeV1.self)
    expectDistinct(VerifyReceiptStatus.self)
    expectDistinct(SubscriptionStatus.self)
    expectDistinct(ConsumptionRequestReason.self)
  }

  @Test("Released seats are named")
  func seats() throws {
    let payload = try ResponseBodyV2DecodedPayload(
      json: object(
        """
        {"notificationType": "UNCLAIM_SEATS",
         "unclaimInfo": {"bundleId": "com.example", "environment": "Sandbox", "unclaimSeatIds": ["a", "b"]}}
        """))
    #expect(payload.notificationType == .unclaimSeats)
    #expect(payload.unclaimInfo?.unclaimSeatIds == ["a", "b"])
    #expect(payload.unclaimInfo?.environment == .sandbox)
  }

  @Test("An external purchase token says where it belongs by how its identifier starts")
  func externalPurchaseToken() throws {
    let sandbox = try ExternalPurchaseToken(
      json: ["externalPurchaseId": "SANDBOX_1", "tokenType": "SERVICES", "tokenExpirationDate": 5])
    #expect(sandbox.environment == .sandbox)
    #expect(sandbox.tokenType == .services)
    #expect(sandbox.tokenExpirationDate == Instant(millisecondsSince1970: 5))
    #expect(try ExternalPurchaseToken(json: ["externalPurchaseId": "1"]).environment == .production)
    #expect(try ExternalPurchaseToken(json: [:]).environment == nil)
  }
}
