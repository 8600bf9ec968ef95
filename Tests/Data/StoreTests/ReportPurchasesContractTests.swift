import AppStore
import Reports
import Store
import TestSupport
import Testing

/// Contract tests of the purchases behind values. Many are read in another way than few.
@Suite struct ReportPurchasesContractTests {
  private static let count = 20_400

  /// A charge of each payer on one day: a few of them in Malta, all others in the United States.
  private static let charges = (0..<count).map { number in
    let dimensions = Posting.Dimensions(productID: "coins", storefront: number % 4_000 == 0 ? "MLT" : "USA")
    let id = "L\(100_000 + number * 7 % count)"
    var charge = Posting(.charge, at: at(20), line: id, transactionID: id, dimensions)
    (charge.count, charge.amount, charge.currency) = (1, 990 + Int64(number), "USD")
    charge.cohort = Posting.Cohort(day: ReportDay(at(20)), dimensions: dimensions)
    return charge
  }

  @Test(
    "The purchases behind a value add up to it, many or few, in pages that read many rows or few",
    arguments: Backend.allCases, [40, 5_000])
  func purchases(backend: Backend, rows: Int) async throws {
    try await backend.withStore { store in
      try await store.write { transaction throws(StoreError) in
        try transaction.append([
          NewPostings(
            Self.charges, of: "ocean", in: .sandbox, knownAt: at(20), knownDay: ReportDay(at(20)),
            cause: .lateNotification)
        ])
      }
      for (name, granularity) in [(Report.Name.revenue, Granularity.day), (.lifetimeValue, .month)] {
        for storefront in ["", "MLT", "DEU"] {
          var query = ReportQuery(name, from: ReportDay(at(-40)), to: ReportDay(at(60)), by: granularity)
          if !storefront.isEmpty { query.filters = [.storefront: [storefront]] }
          let column = try #require(query.report.columns.first { $0.name == "gross" })
          let row = ReportQuery.RowKey(bucket: granularity.firstDay(of: ReportDay(at(20))), currency: "USD")
          let selection = try #require(query.postings(of: column, in: row).first).selection
          let found = try await Self.found(selection, in: store, reading: rows)
          let expected = Self.charges.filter { storefront.isEmpty || $0.dimensions.storefront == storefront }
          #expect(found.map(\.line) == expected.map(\.line).sorted(), "\(name) \(storefront)")
          #expect(
            found.reduce(0) { $0 + $1.value } == expected.reduce(0) { $0 + $1.amount },
            "\(name) \(storefront)")
        }
      }
    }
  }

  @Test(
    "A purchase with more rows than a page reads is on one page, and those without a value are on none",
    arguments: Backend.allCases)
  func rows(backend: Backend) async throws {
    try await backend.withStore { store in
      let dimensions = Posting.Dimensions(productID: "pro", storefront: "USA")
      let charges = ["A", "B", "C"].flatMap { line in
        (0..<120).map { number in
          let instant = Instant(millisecondsSince1970: at(20).millisecondsSince1970 + Int64(number))
          var charge = Posting(.charge, at: instant, line: line, transactionID: "\(number)", dimensions)
          (charge.count, charge.amount, charge.currency) = (1, 10, line == "B" ? "EUR" : "USD")
          return charge
        }
      }
      try await store.write { transaction throws(StoreError) in
        try transaction.append([
          NewPostings(
            charges, of: "ocean", in: .sandbox, knownAt: at(30), knownDay: ReportDay(at(30)),
            cause: .lateNotification)
        ])
      }
      let query = ReportQuery(.revenue, from: ReportDay(at(0)), to: ReportDay(at(60)), by: .month)
      let column = try #require(query.report.columns.first { $0.name == "gross" })
      let day = Granularity.month.firstDay(of: ReportDay(at(20)))
      let row = ReportQuery.RowKey(bucket: day, currency: "USD")
      let selection = try #require(query.postings(of: column, in: row).first).selection
      let found = try await Self.found(selection, in: store, reading: 5)
      #expect(found.map(\.line) == ["A", "C"])
      #expect(found.map(\.value) == [1_200, 1_200])
    }
  }

  /// All pages.
  private static func found(
    _ selection: PostingSelection, in store: any EntitlementStore, reading rows: Int
  ) async throws -> [ReportPurchase] {
    try await store.snapshot { reader in
      var found: [ReportPurchase] = []
      var end: String? = ""
      while let line = end {
        let page = try reader.reportPurchases(
          selection, of: "ocean", in: .sandbox, after: line, limit: 1_000, reading: rows)
        found += page.purchases
        end = page.end
      }
      return found
    }
  }
}
