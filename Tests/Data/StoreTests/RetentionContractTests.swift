import AppStore
import Store
import TestSupport
import Testing

@Suite struct RetentionContractTests {
  @Test(
    "Purging removes old selected bodies and keeps hashes, sizes, verdicts and other bodies",
    arguments: Backend.allCases)
  func purging(backend: Backend) async throws {
    try await backend.withStore { store in
      for (text, instant, verdict) in [
        ("old", 5, Evidence.Verdict.accepted), ("refused", 6, .rejected(reason: "BAD")),
        ("other", 7, .accepted),
        ("young", 50, .accepted),
      ] {
        var piece = evidence(text, verdict)
        piece.receivedAt = Instant(millisecondsSince1970: Int64(instant))
        if text == "other" { piece.kind = .signedRenewalInfo }
        _ = try await store.append(piece)
      }
      let before = try await store.snapshot { try $0.evidence(after: nil, limit: 9) }.map(\.evidence)
      #expect(try await purge(.accepted([.signedTransaction]), in: store) == 1)
      #expect(try await bodies(in: store) == [nil, "refused", "other", "young"])
      #expect(try await purge(.rejected, in: store) == 1)
      #expect(try await purge(.rejected, in: store) == 0)
      #expect(try await bodies(in: store) == [nil, nil, "other", "young"])
      let after = try await store.snapshot { try $0.evidence(after: nil, limit: 9) }.map(\.evidence)
      #expect(after.map(\.content.hash) == before.map(\.content.hash))
      #expect(after.map(\.content.size) == before.map(\.content.size))
      #expect(after.map(\.verdict) == before.map(\.verdict))
      // The hash still identifies the same content.
      var again = evidence("old")
      again.receivedAt = Instant(millisecondsSince1970: 60)
      #expect(try await store.append(again).isDuplicate)
    }
  }

  @Test(
    "A notification that is not forwarded yet keeps its body for a bounded time", arguments: Backend.allCases)
  func undelivered(backend: Backend) async throws {
    try await backend.withStore { store in
      let old = WebhookKey(appID: "ocean", kind: .notifications, name: "old")
      try await store.write { transaction throws(StoreError) in
        for (number, text) in ["early", "pending", "dead", "sent", "new"].enumerated() {
          var piece = evidence(text)
          piece.kind = .signedRenewalInfo
          piece.receivedAt = instant(Int64(number) + 1)
          let appended = try transaction.append(piece)
          try transaction.put(
            NotificationRecord(
              evidenceID: appended.id, appID: "ocean", environment: .sandbox, version: 2, state: .applied,
              receivedAt: piece.receivedAt))
          if text == "sent" { try transaction.begin(old) }
          var delivery = Delivery(
            position: appended.id.rawValue, environment: .sandbox, subject: "1", type: "DID_RENEW",
            occurredAt: piece.receivedAt, dueAt: nil)
          if text == "dead" { delivery.state = .deadLetter }
          if ["early", "pending", "dead"].contains(text) { try transaction.put(delivery, of: old) }
        }
      }
      #expect(try await purge(.accepted([.signedRenewalInfo]), undeliveredSince: 2, in: store) == 2)
      #expect(try await bodies(in: store) == [nil, "pending", "dead", nil, "new"])
      #expect(try await purge(.accepted([.signedRenewalInfo]), in: store) == 3)
    }
  }

  @Test(
    "A search in rejected bodies finds those of the app that match, beyond one page of rows",
    arguments: Backend.allCases)
  func rejectedBodies(backend: Backend) async throws {
    try await backend.withStore { store in
      try await store.write { transaction throws(StoreError) in
        for number in 0..<1_001 {
          var piece = evidence("\(number % 2 == 0 ? "even" : "odd") \(number)", .rejected(reason: "BAD"))
          // Several arrive at once.
          piece.receivedAt = instant(Int64(number / 3))
          _ = try transaction.append(piece)
        }
        var other = evidence("even of another app", .rejected(reason: "BAD"))
        other.appID = "lake"
        _ = try transaction.append(other)
        _ = try transaction.append(evidence("even accepted"))
      }
      let found = try await store.snapshot {
        try $0.rejectedEvidence(of: "ocean") { String(decoding: $0, as: UTF8.self).hasPrefix("even") }
      }
      #expect(found.count == 501)
      #expect(Set(found).count == 501)
    }
  }

  /// Purges the bodies that arrived before 50, one piece of evidence at a time.
  private func purge(
    _ selection: EvidenceSelection, undeliveredSince undelivered: Int64 = 50, in store: any EntitlementStore
  ) async throws -> Int {
    var (last, count): (EvidenceID?, Int) = (nil, 0)
    repeat {
      let start = last
      let page = try await store.write { transaction throws(StoreError) in
        try transaction.purgeBodies(
          of: selection, in: .all, receivedBefore: instant(50), undeliveredSince: instant(undelivered),
          after: start, limit: 1)
      }
      (last, count) = (page.last, count + page.purged)
    } while last != nil
    return count
  }

  private func bodies(in store: any EntitlementStore) async throws -> [String?] {
    try await store.snapshot { try $0.evidence(after: nil, limit: 9) }.map { stored in
      stored.evidence.content.body.map { String(decoding: $0, as: UTF8.self) }
    }
  }
}
