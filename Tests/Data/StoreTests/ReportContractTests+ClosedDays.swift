import AppStore
import Reports
import Store
import TestSupport
import Testing

extension ReportContractTests {
  @Test(
    "A posting about a closed day makes one revision for each day of knowledge", arguments: Backend.allCases)
  func revisions(backend: Backend) async throws {
    try await backend.withStore { store in
      try await fill(store)
      let revisions = try await store.snapshot { reader in
        try reader.reportRevisions(
          from: ReportDay(at(0)), to: ReportDay(at(110)), ofStocks: false, knownBy: nil, of: "ocean",
          in: .sandbox)
      }
      #expect(revisions.map(\.day) == [ReportDay(at(70))])
      #expect(revisions.map(\.number) == [1])
      #expect(revisions.first?.causes["REFUND_LEARNED_LATE"] == 3)
    }
  }

  @Test(
    "The changes of revisions are the difference to the days as first closed", arguments: Backend.allCases,
    [nil, 100] as [Int64?])
  func changes(backend: Backend, packed: Int64?) async throws {
    try await backend.withStore { store in
      try await fill(store)
      if let packed { try await pack(store, through: packed) }
      let days = (ReportDay(at(60)), ReportDay(at(80)))
      try await store.snapshot { reader in
        func rows(_ knowledge: ReportQuery.Knowledge) throws -> [ReportDay: [Int64]] {
          let query = ReportQuery(.subscriptions, from: days.0, to: days.1, knowledge: knowledge)
          let table = try ReportTable(query, try reader.reportSums(query, of: "ocean", in: .sandbox))
          return Dictionary(table.rows.map { ($0.bucket, $0.values) }, uniquingKeysWith: { $1 })
        }
        let (now, first) = (try rows(.now), try rows(.firstClosed))
        let query = ReportQuery(.subscriptions, from: days.0, to: days.1)
        let changes = try reader.reportChanges(query, of: "ocean", in: .sandbox)
        let differences = ReportDifference.all(query, changes)
        #expect(!differences.isEmpty)
        for (day, values) in now {
          let changed = differences.filter { $0.day <= day && day < $0.knownDay }
          for index in values.indices {
            let sum = changed.reduce(0) { $0 + $1.values[index] }
            #expect(values[index] == (first[day]?[index] ?? 0) + sum)
          }
        }
      }
    }
  }

  @Test("Closed days keep the instants at which they closed", arguments: Backend.allCases)
  func closing(backend: Backend) async throws {
    try await backend.withStore { store in
      let day = ReportDay(at(90))
      try await store.write { transaction throws(StoreError) in
        for (number, delay) in [(Int64(0), Int64(1)), (1, 6), (2, 2)] {
          let day = day.advanced(by: number)
          try transaction.close(
            day, at: day.closing(after: delay * 3_600_000), of: "ocean", in: .sandbox)
        }
      }
      let closing = day.advanced(by: 1).closing(after: 6 * 3_600_000)
      try await store.snapshot { reader in
        let known = try reader.lastClosedDay(of: "ocean", in: .sandbox, by: closing)
        #expect(known?.day == day.advanced(by: 1) && known?.closedAt == closing)
        let before = closing.advanced(byMilliseconds: -1)
        #expect(try reader.lastClosedDay(of: "ocean", in: .sandbox, by: before)?.day == day)
        #expect(try reader.lastClosedDay(of: "ocean", in: .sandbox) == day.advanced(by: 2))
        #expect(try reader.lastClosedDay(of: "ocean", in: .production) == nil)
        let next = try reader.nextReportDue(in: .sandbox) { _ in 5 }
        #expect(next == day.advanced(by: 3).closing(after: 5))
      }
      let known = try await store.write { transaction throws(StoreError) in
        try transaction.firstDay(closedAfter: closing, of: "ocean", in: .sandbox)
      }
      #expect(known == day.advanced(by: 2))
    }
  }
}
