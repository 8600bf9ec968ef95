import AppStore
import Entitlements
import Foundation
import HTTP
import RPC
import SQLiteStore
import Store
import Testing

@testable import Services

@Suite("Reads about one customer")
struct CustomerReadsTests {
  private let calls = ExpensiveCalls(.init(running: 1, waiting: 0, timeout: .seconds(600)))

  @Test(
    "A read about a large customer is an expensive call, one about a small or an unknown customer is none")
  func largeCustomer() async throws {
    try await withStore { store in
      let large = CustomerFacts.reductionThreshold + 1
      try await store.putStale(transactions: large, of: "ana")
      try await store.putStale(transactions: 3, of: "ben")
      let reads = CustomerReads(store: store, expensiveCalls: calls)
      for (customer, count) in [("ana", large), ("ben", 3), ("unknown", 0)] {
        #expect(try await transactions(of: customer, reads) == count)
      }
      #expect(calls.count == 0)

      // All places of the caller are taken.
      let place = try calls.reserve(call)
      let refused = await failure { () async throws(Status) in try await transactions(of: "ana", reads) }
      #expect(refused?.errorInfo?.reason == "TOO_MANY_EXPENSIVE_CALLS")
      #expect(try await transactions(of: "ben", reads) == 3)
      #expect(try await transactions(of: "unknown", reads) == 0)
      withExtendedLifetime(place) {}
    }
  }

  private var call: CallContext { CallContext(headers: HeaderFields(), timeout: nil) }

  private func transactions(of customerID: String, _ reads: CustomerReads) async throws(Status) -> Int {
    let key = CustomerKey(appID: WatchFixture.ocean.id, environment: .sandbox, customerID: customerID)
    return try await reads.read(about: key, call) { snapshot throws(StoreError) in
      try snapshot.facts(of: key)?.transactions.count ?? 0
    }
  }

  private func failure(_ body: () async throws(Status) -> Int) async -> Status? {
    do throws(Status) {
      _ = try await body()
      return nil
    } catch {
      return error
    }
  }

  private func withStore(_ body: (SQLiteEntitlementStore) async throws -> Void) async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "customers-\(UUID())")
    defer { try? FileManager.default.removeItem(at: directory) }
    let store = try SQLiteEntitlementStore(directory: directory.path)
    try await body(store)
    await store.close()
  }
}
