import JSON
import Store
import TestSupport
import Testing

@testable import Ledger

/// Notifications of types that Apple may introduce.
@Suite struct UnknownNotificationTests {
  private func notification(
    _ type: String, _ part: String, _ content: JSONObject, signed fixture: LedgerFixture
  ) throws -> String {
    try fixture.sign([
      "notificationType": .string(type), "subtype": "SIDEWAYS",
      "notificationUUID": .string("\(type)-\(part)"), "version": "2.0", "novelty": 1,
      "signedDate": .number(JSONNumber(at(45).millisecondsSince1970)),
      .init(stringLiteral: part): .object(content),
    ])
  }

  private func ingest(_ payload: String, _ fixture: LedgerFixture) async throws -> ReceivedNotification {
    let body = JSONValue.object(["signedPayload": .string(payload)]).serialized()
    return try await fixture.ledger.ingest(
      IncomingNotification(appID: "ocean", body: body, source: .notification), signedPayload: payload)
  }

  private let named: JSONObject = ["bundleId": "com.example", "environment": "Sandbox", "words": "new"]

  @Test(
    "An unknown type is stored as unsupported, whatever its part",
    arguments: ["data", "summary", "externalPurchaseToken", "appData", "unclaimInfo", "bundleInfo"])
  func unknownType(part: String) async throws {
    try await LedgerFixture.run { fixture in
      var content = named
      if part == "externalPurchaseToken" { content["externalPurchaseId"] = "SANDBOX_1" }
      let payload = try notification("TELEPORTED", part, content, signed: fixture)
      #expect(try fixture.ledger.seal(payload, for: "ocean") != nil)
      let received = try await ingest(payload, fixture)
      #expect(received.record.state == .unsupported && !received.isDuplicate)
      #expect(received.record.environment == .sandbox)
      #expect((received.record.type, received.record.subtype) == ("TELEPORTED", "SIDEWAYS"))
      #expect(try await ingest(payload, fixture).isDuplicate)
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("An unknown type that names no environment is stored as unsupported, and kept by a replay")
  func unnamed() async throws {
    try await LedgerFixture.run { fixture in
      let payload = try notification("TELEPORTED", "novelties", ["words": "new"], signed: fixture)
      #expect(try fixture.ledger.seal(payload, for: "ocean") != nil)
      let received = try await ingest(payload, fixture)
      #expect(received.record.state == .unsupported && received.record.reason.isEmpty)
      #expect(received.record.environment == nil && received.record.type == "TELEPORTED")
      #expect(received.record.meaning.contains("TELEPORTED with SIDEWAYS"))
      #expect(try await ingest(payload, fixture).isDuplicate)
      let evidence = try await fixture.evidence()
      #expect(evidence.map(\.verdict) == [.accepted])
      #expect(try await fixture.replayDifferences().isEmpty)
      #expect(try !fixture.ledger.wouldChange(received.record, signedPayload: payload))
    }
  }

  @Test("The signed documents in an unknown part are verified and applied")
  func documents() async throws {
    try await LedgerFixture.run { fixture in
      var content = named
      content["signedTransactionInfo"] = .string(try fixture.period(40...70))
      let payload = try notification("TELEPORTED", "bundleInfo", content, signed: fixture)
      let record = try await ingest(payload, fixture).record
      #expect(record.state == .unsupported && record.originalTransactionID == "L1")
      #expect(try await fixture.unclaimed() == ["L1"])
      #expect(try await fixture.replayDifferences().isEmpty)
      content["signedTransactionInfo"] = .string(
        try fixture.period(40...70, line: "L2", ["bundleId": "com.other"]))
      let forged = try notification("TELEPORTED", "bundleDetails", content, signed: fixture)
      #expect(try await ingest(forged, fixture).record.reason == "WRONG_BUNDLE")
    }
  }

  @Test("A known type with a part that is unknown to this version is stored as unsupported")
  func unknownPart() async throws {
    try await LedgerFixture.run { fixture in
      let payload = try notification("DID_RENEW", "bundleInfo", named, signed: fixture)
      #expect(try await ingest(payload, fixture).record.state == .unsupported)
      let malformed = try notification("DID_RENEW", "bundleInfo", ["words": "new"], signed: fixture)
      let record = try await ingest(malformed, fixture).record
      #expect(record.state == .rejected && record.reason == "MISSING_FIELD")
    }
  }
}
