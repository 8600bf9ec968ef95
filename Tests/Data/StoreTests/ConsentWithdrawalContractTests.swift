import AppStore
import Store
import TestSupport
import Testing

@Suite("Contract: withdrawn consents")
struct ConsentWithdrawalContractTests {
  private func withdrawal(
    _ id: String, at time: Int64, _ evidence: EvidenceID, of app: String = "ocean",
    in environment: Environment = .sandbox
  ) -> ConsentWithdrawalRecord {
    ConsentWithdrawalRecord(id, of: app, in: environment, withdrawnAt: instant(time), evidenceID: evidence)
  }

  @Test("A withdrawal is found as it was stored, until it is replaced", arguments: Backend.allCases)
  func roundTrip(backend: Backend) async throws {
    try await backend.withStore { store in
      let id = try await store.append(evidence("withdrawal")).id
      let settlement = try await store.append(evidence("settlement")).id
      var settled = withdrawal("I1", at: 5, id)
      settled.settledAt = instant(6)
      settled.settlementID = settlement
      let found = try await store.write { [settled] store throws(StoreError) in
        let unknown = try store.consentWithdrawal("I1", of: "ocean", in: .sandbox)
        try store.put(withdrawal("I1", at: 5, id))
        let open = try store.consentWithdrawal("I1", of: "ocean", in: .sandbox)
        try store.put(settled)
        return [unknown, open, try store.consentWithdrawal("I1", of: "ocean", in: .sandbox)]
      }
      #expect(found == [nil, withdrawal("I1", at: 5, id), settled])
      let expected = settled
      try await store.snapshot { reader throws in
        #expect(try reader.consentWithdrawal("I1", of: "ocean", in: .sandbox) == expected)
        #expect(try reader.consentWithdrawal("I1", of: "lake", in: .sandbox) == nil)
        #expect(try reader.consentWithdrawal("I1", of: "ocean", in: .production) == nil)
        #expect(try reader.consentWithdrawal("I2", of: "ocean", in: .sandbox) == nil)
      }
    }
  }

  @Test("Reports find the app installs of withdrawals, and their settlements", arguments: Backend.allCases)
  func reported(backend: Backend) async throws {
    try await backend.withStore { store in
      let settlement = evidence("settlement")
      let id = try await store.append(settlement).id
      let install = LineKey(appID: "ocean", environment: .sandbox, lineID: "app-1")
      let (pages, changes) = try await store.write { store throws(StoreError) in
        for name in ["2", "1"] { try store.put(withdrawal(name, at: 5, id)) }
        try store.put(withdrawal("3", at: 5, id, of: "lake"))
        try store.index(id, under: install)
        let pages = [
          try store.purchases(of: "ocean", in: .sandbox, after: "", limit: 10),
          try store.purchases(of: "ocean", in: .sandbox, after: "app-1", limit: 1),
        ]
        return (pages, try store.consentChanges(ofInstall: install, settledBy: settlement.kind))
      }
      #expect(pages.map { $0.map(\.lineID) } == [["app-1", "app-2"], ["app-2"]])
      #expect(changes.map(\.evidenceID) == [id] && changes.allSatisfy(\.isSettlement))
    }
  }

  @Test("Open withdrawals are listed oldest first, page by page, and counted", arguments: Backend.allCases)
  func list(backend: Backend) async throws {
    try await backend.withStore { store in
      let id = try await store.append(evidence("withdrawal")).id
      try await store.write { store throws(StoreError) in
        for (name, time) in [("c", 1), ("b", 2), ("a", 2), ("d", 3)] as [(String, Int64)] {
          try store.put(withdrawal(name, at: time, id))
        }
        var settled = withdrawal("e", at: 0, id)
        settled.settledAt = instant(0)
        try store.put(settled)
        // Apple signed another withdrawal after the settlement.
        settled = withdrawal("f", at: 4, id)
        settled.settledAt = instant(3)
        try store.put(settled)
        try store.put(withdrawal("g", at: 1, id, in: .production))
        try store.put(withdrawal("h", at: 1, id, of: "lake"))
      }
      try await store.snapshot { reader throws in
        func ids(_ change: (inout ConsentWithdrawalFilter) -> Void) throws -> [String] {
          var query = ConsentWithdrawalFilter(appID: "ocean", limit: 9)
          change(&query)
          return try reader.consentWithdrawals(query).map(\.appTransactionID)
        }
        #expect(try ids { $0.environment = .sandbox } == ["c", "a", "b", "d", "f"])
        #expect(try ids { _ in } == ["c", "g", "a", "b", "d", "f"])
        #expect(try ids { $0.onlyOpen = false } == ["e", "c", "g", "a", "b", "d", "f"])
        #expect(try ids { $0.limit = 2 } == ["c", "g"])
        #expect(
          try ids { $0.after = .init(instant(2), "a") } == ["b", "d", "f"])
        #expect(try ids { $0.environment = .production } == ["g"])
        #expect(try ids { $0.appID = "lake" } == ["h"])
        #expect(try ids { $0.appID = "river" } == [])
        let open = try reader.openConsentWithdrawals()
        #expect(
          Set(open) == [
            OpenDuties(appID: "ocean", environment: .sandbox, count: 5, earliest: instant(1)),
            OpenDuties(appID: "ocean", environment: .production, count: 1, earliest: instant(1)),
            OpenDuties(appID: "lake", environment: .sandbox, count: 1, earliest: instant(1)),
          ])
      }
    }
  }
}
