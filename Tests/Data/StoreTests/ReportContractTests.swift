import AppStore
import Entitlements
import Reports
import Store
import TestSupport
import Testing

/// Contract tests of postings and their sums. Those of closed days and revisions are in an extension.
@Suite struct ReportContractTests {
  /// Six monthly subscriptions with a refund that is learned two days late.
  private static let payers: [(line: LineKey, facts: CustomerFacts)] = (0..<6).map { number in
    let id = "L\(number)"
    let periods = (Int64(0)..<3).map { month in
      fact("\(id)-\(month)", line: id).with {
        $0.type = .autoRenewableSubscription
        $0.purchaseDate = at(Int64(number) + 30 * month)
        $0.expiresDate = at(Int64(number) + 30 * (month + 1))
        ($0.details.price, $0.details.currency) = (9_990, number < 4 ? "USD" : "EUR")
        $0.details.storefront = number < 4 ? "USA" : "DEU"
        if number == 1, month == 2 { $0.revocationDate = at(70) }
      }
    }
    return (line(id), CustomerFacts(transactions: periods))
  }

  private static let shop = AppDefinition(
    id: "ocean", identity: AppIdentity(bundleID: "com.example.ocean", appAppleID: nil),
    environments: [.sandbox], products: [])

  /// The postings of all payers, each with the time at which it becomes known.
  private static let known: [(posting: Posting, knownAt: Instant)] = payers.flatMap { _, facts in
    PayerPostings(facts, in: shop, at: at(120)).postings.map { posting in
      let isLate = posting.effectiveAt == at(70)
      return (posting, isLate ? at(72) : posting.effectiveAt)
    }
  }

  private static let delay = ReportPolicy.standard.closeAfter

  func fill(
    _ store: any EntitlementStore, where belongs: @Sendable (Posting) -> Bool = { _ in true }
  ) async throws {
    let known = Self.known.filter { belongs($0.posting) }
    try await store.write { transaction throws(StoreError) in try Self.append(known, to: transaction) }
  }

  private static func append(
    _ known: [(posting: Posting, knownAt: Instant)], to transaction: any StoreTransaction
  ) throws(StoreError) {
    for (posting, knownAt) in known {
      try transaction.append([
        NewPostings(
          [posting], of: "ocean", in: .sandbox, knownAt: knownAt,
          knownDay: ReportDay(closingAfter: knownAt, delay: delay), cause: .lateNotification)
      ])
    }
  }

  /// Packs the sums of the days up to `day`, some in each write.
  func pack(_ store: any EntitlementStore, through day: Int64) async throws {
    var hasMore = true
    while hasMore {
      hasMore = try await store.write { transaction throws(StoreError) in
        try transaction.packReports(through: ReportDay(at(day)), of: "ocean", in: .sandbox, limit: 40)
      }
    }
  }

  @Test(
    "Reports from the store are those of its postings, whatever days are packed", arguments: Backend.allCases,
    [nil, 40, 100] as [Int64?])
  func sums(backend: Backend, packed: Int64?) async throws {
    try await backend.withStore { store in
      try await fill(store)
      if let packed { try await pack(store, through: packed) }
      for (name, knowledge) in Report.Name.allCases.flatMap({ name in
        [ReportQuery.Knowledge.now, .firstClosed, .whenClosed(ReportDay(at(71)))].map { (name, $0) }
      }) {
        // Cohorts begin on the first days: before the query, on its first days, and long before it.
        for (first, granularity) in [(10, .month), (3, .day), (75, .day)] as [(Int64, Granularity)] {
          var query = ReportQuery(
            name, from: ReportDay(at(first)), to: ReportDay(at(110)), by: granularity,
            groupBy: [.storefront, .product], knowledge: knowledge)
          guard knowledge != .firstClosed || query.report.cohortKinds.isEmpty else { continue }
          query.filters = [.storefront: first == 10 ? [] : ["USA"]]
          let expected = try ReportTable(query, query.sums(of: Self.known, closingAfter: Self.delay))
          let found = try await store.snapshot { [query] reader in
            try ReportTable(query, try reader.reportSums(query, of: "ocean", in: .sandbox))
          }
          #expect(found == expected, "\(name) \(knowledge)")
        }
      }
    }
  }

  @Test(
    "Sums with keys that came after the last report count in the next one", arguments: Backend.allCases,
    [true, false])
  func newKeys(backend: Backend, areKnownOthers: Bool) async throws {
    try await backend.withStore { store in
      let query = ReportQuery(
        .subscriptions, from: ReportDay(at(10)), to: ReportDay(at(110)), by: .month, groupBy: [.storefront])
      func storefronts() async throws -> [String] {
        try await store.snapshot { reader in
          let table = try ReportTable(query, try reader.reportSums(query, of: "ocean", in: .sandbox))
          return Set(table.rows.flatMap(\.groups)).sorted()
        }
      }
      // A posting that was rolled back is not stored.
      await #expect(throws: StoreError.self) {
        try await store.write { transaction throws(StoreError) in
          try Self.append(Self.known, to: transaction)
          throw .failed("rolled back")
        }
      }
      if areKnownOthers { try await fill(store) { $0.dimensions.storefront == "USA" } }
      #expect(try await storefronts() == (areKnownOthers ? ["USA"] : []))
      try await fill(store) { $0.dimensions.storefront == "DEU" }
      #expect(try await storefronts() == (areKnownOthers ? ["DEU", "USA"] : ["DEU"]))
      // A rebuild keeps the keys.
      try await store.write { transaction throws(StoreError) in
        try transaction.resetReports(of: "ocean", in: .sandbox)
      }
      #expect(try await storefronts().isEmpty)
      try await fill(store)
      #expect(try await storefronts() == ["DEU", "USA"])
    }
  }

  @Test("Evidence of a packed day that becomes known later counts too", arguments: Backend.allCases)
  func lateAfterPack(backend: Backend) async throws {
    try await backend.withStore { store in
      try await fill(store)
      try await pack(store, through: 100)
      // A rebuild alone does so, and packs it again.
      try await fill(store)
      for isPacked in [false, true] {
        if isPacked { try await pack(store, through: 100) }
        for (first, name) in [(10, .movements), (100, .subscriptions), (10, .retention)]
          as [(Int64, Report.Name)]
        {
          let query = ReportQuery(name, from: ReportDay(at(first)), to: ReportDay(at(110)), by: .month)
          let twice = query.sums(of: Self.known + Self.known, closingAfter: Self.delay)
          let expected = try ReportTable(query, twice)
          let found = try await store.snapshot { reader in
            try ReportTable(query, try reader.reportSums(query, of: "ocean", in: .sandbox))
          }
          #expect(found == expected, "\(name) \(isPacked)")
        }
      }
    }
  }

  @Test("Postings are returned as they were appended", arguments: Backend.allCases)
  func postings(backend: Backend) async throws {
    try await backend.withStore { store in
      try await fill(store)
      for (line, _) in Self.payers {
        let found = try await store.write { transaction throws(StoreError) in
          try transaction.postings(of: line)
        }
        #expect(found == Self.known.map(\.posting).filter { $0.line == line.lineID })
      }
    }
  }

  @Test("Postings are read page by page by position and by time", arguments: Backend.allCases)
  func pages(backend: Backend) async throws {
    try await backend.withStore { store in
      try await fill(store)
      let all = try await Self.all(store) { reader, last in
        try reader.postings(after: last?.position ?? 0, of: "ocean", in: .sandbox, limit: 7)
      }
      #expect(all.map(\.posting) == Self.known.map(\.posting))
      #expect(all.map(\.knownAt) == Self.known.map(\.knownAt))
      #expect(zip(all, all.dropFirst()).allSatisfy { $0.position < $1.position })
      let span = at(30)..<at(71)
      let timed = try await Self.all(store) { reader, last in
        try reader.postings(in: span, after: last, of: "ocean", in: .sandbox, limit: 7)
      }
      let expected = all.filter { span.contains($0.posting.effectiveAt) }
        .sorted { ($0.posting.effectiveAt, $0.position) < ($1.posting.effectiveAt, $1.position) }
      #expect(timed == expected)
      #expect(!timed.isEmpty)
      let other = try await store.snapshot { reader in
        try reader.postings(after: 0, of: "ocean", in: .production, limit: 7)
      }
      #expect(other.isEmpty)
    }
  }

  @Test("Pages begin and end within postings that became known together", arguments: Backend.allCases)
  func pagesOfDerivations(backend: Backend) async throws {
    try await backend.withStore { store in
      let shop = Self.shop
      // All postings of a purchase at once, as an import brings them.
      try await store.write { transaction throws(StoreError) in
        for (_, facts) in Self.payers {
          let postings = PayerPostings(facts, in: shop, at: at(120)).postings
          try transaction.append([
            NewPostings(
              postings, of: "ocean", in: .sandbox, knownAt: at(121), knownDay: ReportDay(at(121)),
              cause: .lateNotification)
          ])
        }
      }
      for limit in [1, 3, 1_000] {
        let all = try await Self.all(store) { reader, last in
          try reader.postings(after: last?.position ?? 0, of: "ocean", in: .sandbox, limit: limit)
        }
        #expect(all.map(\.position) == Array(1...Int64(Self.known.count)))
        #expect(Set(all.map(\.posting)) == Set(Self.known.map(\.posting)))
        for one in all {
          let isRefund = [.refund, .refundOfPurchase, .refundedOut].contains(one.posting.kind)
          #expect(one.cause == (isRefund ? .refundLearnedLate : .lateNotification))
        }
        let timed = try await Self.all(store) { reader, last in
          try reader.postings(in: at(0)..<at(200), after: last, of: "ocean", in: .sandbox, limit: limit)
        }
        let expected = all.sorted {
          ($0.posting.effectiveAt, $0.position) < ($1.posting.effectiveAt, $1.position)
        }
        #expect(timed == expected)
      }
    }
  }

  @Test("The purchases behind a value add up to it, in pages", arguments: Backend.allCases)
  func purchases(backend: Backend) async throws {
    try await backend.withStore { store in
      try await fill(store)
      for name in [
        .subscriptions, .movements, .recurringRevenue, .revenue, .churnReasons, .refunds, .retention,
        .retentionByMonth, .retentionOfPayers, .lifetimeValue,
      ] as [Report.Name] {
        let query = ReportQuery(
          name, from: ReportDay(at(10)), to: ReportDay(at(110)), by: .month, groupBy: [.storefront])
        try await store.snapshot { reader in
          let table = try ReportTable(query, try reader.reportSums(query, of: "ocean", in: .sandbox))
          #expect(!table.rows.isEmpty)
          for row in table.rows {
            let key = ReportQuery.RowKey(
              bucket: row.bucket, groups: row.groups, currency: row.currency, age: row.age)
            for (column, value) in zip(query.report.columns, row.values) {
              var sum: Int64 = 0
              for part in query.postings(of: column, in: key) {
                var end: String? = ""
                while let line = end {
                  let page = try reader.reportPurchases(
                    part.selection, of: "ocean", in: .sandbox, after: line, limit: 2, reading: 1_000)
                  let found = page.purchases
                  #expect(found.allSatisfy { $0.line > line && $0.value != 0 } && found.count <= 2)
                  for purchase in found { sum += part.sign * purchase.value }
                  end = page.end
                }
              }
              #expect(sum == value, "\(name) \(column.name) \(row.bucket)")
            }
          }
        }
      }
    }
  }

  @Test(
    "The sums of stocks before a day are those of the postings before it", arguments: Backend.allCases,
    [nil, 100] as [Int64?])
  func openingStocks(backend: Backend, packed: Int64?) async throws {
    try await backend.withStore { store in
      try await fill(store)
      if let packed { try await pack(store, through: packed) }
      for day in [ReportDay(at(10)), ReportDay(at(64)), ReportDay(at(119))] {
        let sums = try await store.snapshot { try $0.openingStocks(of: day, of: "ocean", in: .sandbox) }
        for kind in Posting.Kind.allCases where kind.isStock {
          for country in ["USA", "DEU"] {
            func isCounted(_ posting: Posting) -> Bool {
              posting.kind == kind && posting.dimensions.storefront == country
            }
            let before = Self.known.map(\.posting).filter { isCounted($0) && $0.effectiveAt < day.start }
            let found = sums.filter(isCounted)
            #expect(found.reduce(0) { $0 + $1.count } == before.reduce(0) { $0 + $1.count })
            #expect(found.reduce(0) { $0 + $1.amount } == before.reduce(0) { $0 + $1.amount })
          }
        }
      }
    }
  }

  /// All pages, each after the last posting of the one before.
  private static func all(
    _ store: any EntitlementStore,
    _ page: @escaping @Sendable (any StoreSnapshot, StoredPosting?) throws -> [StoredPosting]
  ) async throws -> [StoredPosting] {
    var all: [StoredPosting] = []
    while true {
      let next = try await store.snapshot { [last = all.last] reader in try page(reader, last) }
      all += next
      if next.isEmpty { return all }
    }
  }
}
