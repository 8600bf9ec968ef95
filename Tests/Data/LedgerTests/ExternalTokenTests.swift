import AppStore
import Entitlements
import JSON
import Ledger
import Store
import TestSupport
import Testing

/// External purchase tokens, from notifications and reports in any order.
@Suite struct ExternalTokenTests {
  private enum Step: CaseIterable {
    case created, complained, reported
  }

  private func notification(_ subtype: String, signed: Int64, _ fixture: LedgerFixture) throws -> String {
    let (created, expires) = (at(40).millisecondsSince1970, at(130).millisecondsSince1970)
    return try fixture.sign([
      "notificationType": "EXTERNAL_PURCHASE_TOKEN", "subtype": .string(subtype),
      "notificationUUID": .string("\(subtype)-\(signed)"), "version": "2.0",
      "signedDate": .number(JSONNumber(at(signed).millisecondsSince1970)),
      "externalPurchaseToken": [
        "externalPurchaseId": "SANDBOX_1", "tokenType": "ACQUISITION", "bundleId": "com.example",
        "tokenCreationDate": .number(JSONNumber(created)),
        "tokenExpirationDate": .number(JSONNumber(expires)),
      ],
    ])
  }

  private func perform(_ step: Step, _ fixture: LedgerFixture) async throws {
    switch step {
    case .created: try await ingest(notification("CREATED", signed: 40, fixture), fixture)
    case .complained: try await ingest(notification("UNREPORTED", signed: 49, fixture), fixture)
    case .reported:
      // The clock of the fixture is at day 50.
      _ = try await fixture.ledger.record(
        AppleCall(
          method: AppleCall.sendExternalPurchaseReport, originalTransactionID: "",
          request: [
            "externalPurchaseId": "SANDBOX_1", "status": "NO_LINE_ITEM", "requestIdentifier": "R",
          ], answer: [:]), fixture.scope)
    }
  }

  private func ingest(_ signed: String, _ fixture: LedgerFixture) async throws {
    let body = JSONValue.object(["signedPayload": .string(signed)]).serialized()
    _ = try await fixture.ledger.ingest(
      IncomingNotification(
        appID: "ocean", body: body, source: .notification, receivedAt: fixture.clock.now),
      signedPayload: signed)
  }

  private func tokens(_ fixture: LedgerFixture) async throws -> [ExternalTokenRecord] {
    try await fixture.store.snapshot { reader throws in
      var query = ExternalTokenFilter(appID: "ocean", limit: 9)
      query.onlyUnreported = false
      return try reader.externalTokens(query)
    }
  }

  @Test(
    "A report after Apple's complaint settles the token, in whatever order they arrive",
    arguments: [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]])
  func order(order: [Int]) async throws {
    try await LedgerFixture.run { fixture in
      for index in order { try await perform(Step.allCases[index], fixture) }
      let found = try await tokens(fixture)
      let token = try #require(found.first)
      #expect(found.count == 1 && token.isReported)
      #expect(token.createdAt == at(40) && token.expiresAt == at(130) && token.tokenType == "ACQUISITION")
      #expect(token.complainedAt == at(49) && token.reportStatus == "NO_LINE_ITEM")
      #expect(token.reportBy == at(50) && token.requestIdentifier == "R")
      #expect(token.evidenceID == EvidenceID(rawValue: 3), "the latest of the three")
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("A refused report leaves the token unreported")
  func refused() async throws {
    try await LedgerFixture.run { fixture in
      try await perform(.created, fixture)
      _ = try await fixture.ledger.record(
        AppleCall(
          method: AppleCall.sendExternalPurchaseReport, originalTransactionID: "",
          request: ["externalPurchaseId": "SANDBOX_1", "status": "LINE_ITEM"],
          answer: ["errorCode": 4_000_000]), fixture.scope)
      let token = try #require(try await tokens(fixture).first)
      #expect(!token.isReported && token.reportedAt == nil && token.isOverdue(at: at(50)))
      #expect(!token.isOverdue(at: at(49)))
    }
  }
}
