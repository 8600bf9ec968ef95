import AppStore
import Store
import TestSupport
import Testing

@Suite("Contract: external purchase tokens")
struct ExternalTokenContractTests {
  private func token(_ id: String, created: Int64, _ evidence: EvidenceID) -> ExternalTokenRecord {
    ExternalTokenRecord(
      id, of: "ocean", in: .sandbox, createdAt: instant(created), evidenceID: evidence)
  }

  @Test("A token is found as it was stored, until it is replaced", arguments: Backend.allCases)
  func roundTrip(backend: Backend) async throws {
    try await backend.withStore { store in
      let id = try await store.append(evidence("token")).id
      var stored = token("SANDBOX_1", created: 1, id)
      stored.tokenType = "SERVICES"
      stored.expiresAt = instant(2)
      stored.notifiedAt = instant(1)
      stored.complainedAt = instant(3)
      stored.reportedAt = instant(4)
      stored.reportStatus = "NO_LINE_ITEM"
      stored.requestIdentifier = "R"
      let found = try await store.write { [stored] store throws(StoreError) in
        try store.put(token("SANDBOX_1", created: 9, id))
        try store.put(stored)
        return try store.externalToken("SANDBOX_1", of: "ocean", in: .sandbox)
      }
      #expect(found == stored)
      let other = try await store.write { store throws(StoreError) in
        try store.externalToken("SANDBOX_1", of: "lake", in: .sandbox)
      }
      #expect(other == nil)
    }
  }

  @Test("Unreported tokens are listed by their deadlines, page by page", arguments: Backend.allCases)
  func list(backend: Backend) async throws {
    try await backend.withStore { store in
      let id = try await store.append(evidence("token")).id
      try await store.write { store throws(StoreError) in
        for (name, created) in [("c", 1), ("b", 2), ("a", 2), ("d", 3)] as [(String, Int64)] {
          try store.put(token(name, created: created, id))
        }
        var reported = token("e", created: 0, id)
        reported.reportedAt = instant(5)
        try store.put(reported)
      }
      try await store.snapshot { reader throws in
        func ids(_ change: (inout ExternalTokenFilter) -> Void) throws -> [String] {
          var query = ExternalTokenFilter(appID: "ocean", limit: 9)
          change(&query)
          return try reader.externalTokens(query).map(\.externalPurchaseID)
        }
        #expect(try ids { _ in } == ["c", "a", "b", "d"])
        #expect(try ids { $0.onlyUnreported = false } == ["e", "c", "a", "b", "d"])
        #expect(try ids { $0.limit = 2 } == ["c", "a"])
        #expect(
          try ids { $0.after = .init(token("a", created: 2, id).reportBy, "a") } == ["b", "d"])
        #expect(try ids { $0.environment = .production } == [])
        #expect(try ids { $0.appID = "lake" } == [])
        let counts = try reader.unreportedExternalTokens()
        #expect(
          counts == [
            OpenDuties(
              appID: "ocean", environment: .sandbox, count: 4,
              earliest: token("c", created: 1, id).reportBy)
          ])
      }
    }
  }

  @Test("Apple expects a report after ten days, or when a token of the custom link API expires")
  func deadlines() {
    let id = EvidenceID(rawValue: 1)
    var plain = token("a", created: 0, id)
    let limit = instant(0).advanced(byMilliseconds: ExternalTokenRecord.reportTimeout)
    #expect(plain.reportBy == limit)
    plain.expiresAt = instant(1)
    #expect(plain.reportBy == limit, "a token without a type has no earlier deadline")
    plain.tokenType = "ACQUISITION"
    #expect(plain.reportBy == instant(1))
    #expect(!plain.isOverdue(at: instant(0)) && plain.isOverdue(at: instant(1)))
    plain.reportedAt = instant(2)
    #expect(plain.isReported && !plain.isOverdue(at: instant(9)))
    plain.complainedAt = instant(3)
    #expect(!plain.isReported && plain.isOverdue(at: instant(3)), "Apple complained after the report")
  }
}
