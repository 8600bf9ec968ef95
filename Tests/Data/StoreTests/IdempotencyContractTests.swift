import AppStore
import Store
import TestSupport
import Testing

/// Contract tests of requests with idempotency keys.
@Suite struct IdempotencyContractTests {
  private static func record(
    _ key: UInt8, _ state: IdempotencyRecord.State = .finished, at second: Int64 = 1
  ) -> IdempotencyRecord {
    IdempotencyRecord(
      keyHash: [key], requestHash: [9], state: state, response: state == .finished ? [1, 2] : [],
      recordedAt: instant(second))
  }

  private static let ana = CustomerKey(appID: "ocean", environment: .sandbox, customerID: "ana")

  @Test("A record is found by its key, replaced and deleted", arguments: Backend.allCases)
  func records(backend: Backend) async throws {
    try await backend.withStore { store in
      try await store.write { transaction throws(StoreError) in
        try transaction.put(Self.record(1, .pending), naming: [Self.ana])
        #expect(try transaction.idempotencyRecord([1]) == Self.record(1, .pending))
        try transaction.put(Self.record(1, at: 2), naming: [Self.ana])
        #expect(try transaction.idempotencyRecord([1]) == Self.record(1, at: 2))
        #expect(try transaction.idempotencyRecord([2]) == nil)
        try transaction.deleteIdempotencyRecord([1])
        #expect(try transaction.idempotencyRecord([1]) == nil)
      }
      try await store.snapshot { reader throws in #expect(try reader.idempotencyRecord([1]) == nil) }
    }
  }

  @Test("Expired records are deleted, oldest first", arguments: Backend.allCases)
  func expiry(backend: Backend) async throws {
    try await backend.withStore { store in
      try await store.write { transaction throws(StoreError) in
        for key in 1...4 as ClosedRange<UInt8> {
          try transaction.put(Self.record(key, at: Int64(key)), naming: [Self.ana])
        }
        #expect(try transaction.deleteIdempotencyRecords(before: instant(4), limit: 2) == 2)
        #expect(try transaction.idempotencyRecord([2]) == nil)
        #expect(try transaction.idempotencyRecord([3]) != nil)
        #expect(try transaction.deleteIdempotencyRecords(before: instant(4), limit: 2) == 1)
        #expect(try transaction.idempotencyRecord([4]) != nil)
      }
    }
  }

  @Test(
    "Erasing a customer removes the request and the response, and keeps the key", arguments: Backend.allCases)
  func erased(backend: Backend) async throws {
    try await backend.withStore { store in
      try await store.write { transaction throws(StoreError) in
        try transaction.put(Self.record(1), naming: [Self.ana, Self.ana.other("ben")])
        try transaction.put(Self.record(2), naming: [Self.ana.other("ben")])
        _ = try transaction.erase(Self.ana, as: "erased-1")
        let erased = try transaction.idempotencyRecord([1])
        #expect(erased?.state == .erased && erased?.requestHash == [] && erased?.response == [])
        #expect(try transaction.idempotencyRecord([2]) == Self.record(2))
        var named: Set<String> = []
        try transaction.forEachNamedCustomer { named.insert($0.customerID) }
        #expect(named == ["ben"])
      }
    }
  }
}
