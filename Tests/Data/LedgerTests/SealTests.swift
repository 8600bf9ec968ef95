import Foundation
import JSON
import Store
import TestSupport
import Testing

@testable import Ledger

/// Statements of replicas that they have verified the signatures of a notification.
@Suite struct SealTests {
  @Test("A seal of this installation stands for the signatures of its document, and no other seal does")
  func seals() async throws {
    try await LedgerFixture.run { fixture in
      let signed = try fixture.sign([
        "notificationType": "TEST", "notificationUUID": "seal", "version": "2.0",
        "signedDate": .number(JSONNumber(at(45).millisecondsSince1970)),
        "data": ["bundleId": "com.example", "environment": "Sandbox"],
      ])
      let seal = try #require(try fixture.ledger.seal(signed, for: "ocean"))
      // Another signature of the same length.
      let start = try #require(signed.lastIndex(of: "."))
      let changed = signed.index(start, offsetBy: 5)
      let damaged = String(
        signed[..<changed] + (signed[changed] == "A" ? "B" : "A") + signed[signed.index(after: changed)...])
      #expect(try fixture.ledger.seal(damaged, for: "ocean") == nil)
      func ingest(_ payload: String, _ seal: [UInt8]?) async throws -> NotificationRecord {
        let body = JSONValue.object(["signedPayload": .string(payload)]).serialized()
        var notification = IncomingNotification(appID: "ocean", body: body, source: .notification)
        notification.seal = seal
        return try await fixture.ledger.ingest(notification, signedPayload: payload).record
      }
      for other in [nil, [], seal] {
        let record = try await ingest(damaged, other)
        #expect(record.state == .rejected && record.reason == "BAD_SIGNATURE")
      }
      #expect(try await ingest(signed, [1, 2, 3]).state != .rejected)
      let ofDamaged = fixture.ledger.erasures.seal(ofVerified: damaged)
      #expect(try await ingest(damaged, ofDamaged).state != .rejected)
    }
  }
}
