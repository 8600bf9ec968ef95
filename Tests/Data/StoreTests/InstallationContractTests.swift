import AppStore
import Store
import TestSupport
import Testing

/// Contract tests of the installations of purchases.
@Suite struct InstallationContractTests {
  private static func installation(
    _ id: UInt8, of purchase: String = "L1", on day: Int64, _ environment: Environment = .sandbox
  ) -> Installation {
    Installation(line: line(purchase, environment), day: day, id: [id, 0])
  }

  @Test("Installations are counted by purchase and day, each once", arguments: Backend.allCases)
  func counts(backend: Backend) async throws {
    try await backend.withStore { store in
      try await store.write { transaction throws(StoreError) in
        for id in [1, 2, 1] as [UInt8] { try transaction.put(Self.installation(id, on: 20_000)) }
        try transaction.put(Self.installation(3, on: 20_001))
        try transaction.put(Self.installation(4, of: "L2", on: 20_000))
        try transaction.put(Self.installation(5, on: 20_000, .production))
        #expect(try transaction.installations(of: line(), on: 20_000) == [[1, 0], [2, 0]])
      }
      try await store.snapshot { reader throws in
        #expect(try reader.installations(of: line(), on: 20_000) == [[1, 0], [2, 0]])
        #expect(try reader.installations(of: line(), on: 20_001) == [[3, 0]])
        #expect(try reader.installations(of: line(), on: 20_002) == [])
      }
    }
  }

  @Test(
    "Installations of earlier days are deleted, those of other environments stay",
    arguments: Backend.allCases)
  func deletion(backend: Backend) async throws {
    try await backend.withStore { store in
      try await store.write { transaction throws(StoreError) in
        for day in 1...4 as ClosedRange<Int64> { try transaction.put(Self.installation(1, on: day)) }
        try transaction.put(Self.installation(1, on: 1, .production))
        let deleted = { (limit: Int) throws(StoreError) in
          try transaction.deleteInstallations(of: "ocean", in: .sandbox, before: 4, limit: limit)
        }
        #expect(try deleted(2) == 2)
        #expect(try transaction.installations(of: line(), on: 2) == [])
        #expect(try transaction.installations(of: line(), on: 3) == [[1, 0]])
        #expect(try deleted(2) == 1)
        #expect(try transaction.installations(of: line(), on: 4) == [[1, 0]])
        #expect(try transaction.installations(of: line("L1", .production), on: 1) == [[1, 0]])
      }
    }
  }

  @Test("Erasing a purchase deletes its installations", arguments: Backend.allCases)
  func erased(backend: Backend) async throws {
    try await backend.withStore { store in
      try await store.write { transaction throws(StoreError) in
        for day in [1, 2] as [Int64] { try transaction.put(Self.installation(1, on: day)) }
        try transaction.put(Self.installation(1, of: "L2", on: 1))
        #expect(try transaction.eraseInstallations(of: line()) == 2)
        #expect(try transaction.installations(of: line(), on: 1) == [])
        #expect(try transaction.installations(of: line("L2"), on: 1) == [[1, 0]])
      }
    }
  }
}
