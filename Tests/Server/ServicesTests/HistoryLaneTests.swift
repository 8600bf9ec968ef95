import AppStore
import Entitlements
import Foundation
import SQLiteStore
import Store
import Testing
import Wire

@testable import Services

@Suite("Lanes of a customer's history")
struct HistoryLaneTests {
  @Test("The lane of commands keeps the latest of too many, oldest first")
  func latestCommands() async throws {
    try await withStore { store in
      try await store.appendCommand("bea", by: "lena", at: 0)
      for day in 1...5 {
        try await store.appendCommand("ana", by: "lena", at: Int64(day))
        // Events of no command fill pages.
        try await store.appendCommand("ana", by: "", at: Int64(day))
      }
      #expect(try await store.commandDays(until: 9, limit: 2) == [4, 5])
      #expect(try await store.commandDays(until: 9, limit: 5) == [1, 2, 3, 4, 5])
      #expect(try await store.commandDays(until: 9, limit: 1_000) == [1, 2, 3, 4, 5])
      #expect(try await store.commandDays(until: 3, limit: 2) == [2, 3])
    }
  }

  private func withStore(_ body: (SQLiteEntitlementStore) async throws -> Void) async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "lanes-\(UUID())")
    defer { try? FileManager.default.removeItem(at: directory) }
    let store = try SQLiteEntitlementStore(directory: directory.path)
    try await body(store)
    await store.close()
  }
}

extension EntitlementStore {
  /// Commits an event of a customer, recorded some days after the start of the tests' calendar.
  fileprivate func appendCommand(_ customerID: String, by actor: String, at day: Int64) async throws {
    let answer = evaluate(CustomerFacts(), entitlement: "pro", in: WatchFixture.ocean, at: instant(day))
    let change = EntitlementChange(
      entitlement: "pro", kind: .started, effectiveAt: instant(day), before: answer, after: answer)
    let event = NewEvent(
      customer: customer(customerID), change: change, recordedAt: instant(day), evidenceID: nil, actor: actor)
    _ = try await write { store throws(StoreError) in _ = try store.append(event) }
  }

  /// The days of the marks in the lane of ana's commands.
  fileprivate func commandDays(until end: Int64, limit: Int) async throws -> [Int64] {
    let lane = try await read { snapshot throws(StoreError) in
      try HistoryLane(commandsAbout: customer("ana"), instant(0), instant(end), limit: limit, snapshot)
    }
    return lane.marks.compactMap { $0.time?.millisecondsSince1970 }.map {
      ($0 - WatchFixture.instant.millisecondsSince1970) / dayLength
    }
  }
}

private let dayLength: Int64 = 86_400_000

private func instant(_ day: Int64) -> Instant {
  WatchFixture.instant.advanced(byMilliseconds: day * dayLength)
}

private func customer(_ id: String) -> CustomerKey {
  CustomerKey(appID: WatchFixture.ocean.id, environment: .sandbox, customerID: id)
}
