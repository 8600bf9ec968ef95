import AppStore
import Foundation
import Store
import TestSupport
import Testing

@testable import SQLStore
@testable import SQLiteStore

@Suite struct RejectedEvidenceTests {
  private static let limit: Int64 = 100_000

  private func withStore(_ body: (SQLiteEntitlementStore) async throws -> Void) async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "rejected-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let store = try SQLiteEntitlementStore(directory: directory, maxRejectedBytesPerDay: Self.limit)
    try await body(store)
    await store.close()
  }

  /// Returns bytes that cannot be compressed.
  private func noise(_ count: Int, seed: UInt64) -> [UInt8] {
    var state = seed
    return (0..<count).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return UInt8(truncatingIfNeeded: state >> 56)
    }
  }

  /// Appends evidence; a `reason` rejects it.
  @discardableResult
  private func append(
    _ body: [UInt8], to store: SQLiteEntitlementStore, app: String = "ocean", customer: String? = nil,
    reason: String? = "BAD_SIGNATURE", day: Int64 = 0
  ) async throws -> EvidenceID {
    let evidence = Evidence(
      appID: app, environment: nil, customerID: customer, kind: .signedTransaction,
      source: customer == nil ? .notification : .submission, receivedAt: at(day),
      content: EvidenceContent(body),
      verdict: reason.map { .rejected(reason: $0) } ?? .accepted)
    return try await store.write { transaction throws(StoreError) in try transaction.append(evidence).id }
  }

  private func evidence(_ store: SQLiteEntitlementStore) async throws -> [StoredEvidence] {
    try await store.snapshot { try $0.evidence(after: nil, limit: 10_000) }
  }

  private func storedBodyBytes(_ store: SQLiteEntitlementStore) throws -> Int64 {
    try Connection.reader(path: store.path)
      .number("SELECT ifnull(sum(length(body)), 0) FROM evidence WHERE rejection <> ''")
  }

  @Test("A rejected body is stored once for all senders and reasons, and each piece of evidence shows it")
  func once() async throws {
    try await withStore { store in
      let body = noise(20_000, seed: 1)
      for customer in [nil, "ana", "ben"] {
        for reason in ["BAD_SIGNATURE", "WRONG_BUNDLE"] {
          try await append(body, to: store, customer: customer, reason: reason)
        }
      }
      #expect(try await evidence(store).map(\.evidence.content.body) == Array(repeating: body, count: 6))
      #expect(try storedBodyBytes(store) == 20_000)
      try await append(noise(30_000, seed: 2), to: store, reason: nil)
      try await append(noise(30_000, seed: 2), to: store)
      #expect(try storedBodyBytes(store) == 20_000, "the accepted copy is enough")
    }
  }

  @Test(
    "Rejected bodies stay within the daily bytes of their app; the oldest are dropped, accepted ones stay")
  func limit() async throws {
    try await withStore { store in
      let accepted = try await append(noise(90_000, seed: 1000), to: store, reason: nil)
      var ids: [EvidenceID] = []
      for number in 0..<60 {
        let customer = number % 2 == 0 ? "ana" : nil
        ids.append(try await append(noise(9_000, seed: UInt64(number)), to: store, customer: customer))
      }
      let stored = try await evidence(store)
      #expect(stored.count == 61)
      // 30 posts of strangers occupy 15 of 100 kB with their rows.
      #expect(stored.filter { $0.evidence.content.body != nil }.map(\.id) == [accepted] + ids.suffix(9))
      // Another app and another day have their own bytes.
      try await append(noise(9_000, seed: 2000), to: store, app: "river")
      try await append(noise(9_000, seed: 2001), to: store, day: 1)
      #expect(try await evidence(store).count { $0.evidence.content.body != nil } == 12)
      #expect(try storedBodyBytes(store) == 99_000)
    }
  }

  @Test("Rejected posts are stored while their rows fit into the daily bytes")
  func posts() async throws {
    try await withStore { store in
      func hasRoom(_ app: String, day: Int64) async throws -> Bool {
        try await store.write { transaction throws(StoreError) in
          try transaction.hasRoomForRejectedPost(to: app, at: at(day))
        }
      }
      for number in 0..<195 {
        #expect(try await hasRoom("ocean", day: 0))
        try await append(Array("post \(number)".utf8), to: store)
      }
      #expect(try await !hasRoom("ocean", day: 0))
      #expect(try await hasRoom("ocean", day: 1))
      #expect(try await hasRoom("river", day: 0))
    }
  }

  @Test("A body larger than the daily limit is not stored, and drops no other")
  func tooLarge() async throws {
    try await withStore { store in
      try await append(noise(9_000, seed: 1), to: store)
      try await append(noise(200_000, seed: 2), to: store)
      #expect(try await evidence(store).map { $0.evidence.content.body == nil } == [false, true])
    }
  }
}
