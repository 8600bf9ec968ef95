import AppStore
import Entitlements
import Reports
import Testing

/// The selection and grouping of a query.
@Suite struct ReportQueryTests {
  private let october = World.postings(at: World.day("10-31"))

  private func table(
    _ name: Report.Name, groupBy: [ReportQuery.Dimension], maxGroups: Int? = nil,
    durations: ProductDurations = ProductDurations()
  ) throws -> ReportTable {
    var query = ReportQuery(
      name, from: World.reportDay("10-01"), to: World.reportDay("11-01"), by: .month, groupBy: groupBy)
    (query.maxGroups, query.durations) = (maxGroups, durations)
    let sums = query.sums(of: october, closingAfter: ReportPolicy.standard.closeAfter)
    return try ReportTable(query, sums).limited(query)
  }

  @Test("Groups by duration are those of the products' periods")
  func durations() throws {
    let table = try table(.subscriptions, groupBy: [.duration])
    // A D H J K are monthly, B is yearly, and G was weekly. No subscription began with E's product, which is monthly too.
    let active = Dictionary(uniqueKeysWithValues: table.rows.map { ($0.groups[0], $0.values[0]) })
    #expect([active["P1M"], active["P1Y"], active[""]] == [5, 1, 1])
    let catalog = AppDefinition(
      id: "ocean-journal", identity: AppIdentity(bundleID: "com.example.ocean", appAppleID: nil),
      environments: [.production],
      products: [
        ProductDefinition(
          productID: "premium", type: .autoRenewableSubscription, accessLevels: [:],
          price: SubscriptionPrice(milliunits: 14_990, currency: "USD", period: Period(months: 1)))
      ])
    let stated = try self.table(.subscriptions, groupBy: [.duration], durations: ProductDurations(catalog))
    #expect(stated.rows.first { $0.groups == ["P1M"] }?.values[0] == 6)
  }

  @Test("A row by months is over when the last month of its bucket has reached the age")
  func ends() {
    let (july, october) = (World.reportDay("07-01"), World.reportDay("10-01"))
    func end(of name: Report.Name, age: Int64) -> ReportDay {
      ReportQuery(name, from: july, to: october, by: .quarter).end(of: july, age: age)
    }
    #expect(end(of: .lifetimeValue, age: 0) == october)
    #expect(end(of: .retentionByMonth, age: 1) == World.reportDay("11-01"))
    // Its ages are numbers of periods.
    #expect(end(of: .retention, age: 2) == october)
  }

  @Test("Groups by reason add up to the ungrouped report")
  func reasons() throws {
    let reasons = try table(.churnReasons, groupBy: [.reason])
    let total = try table(.churnReasons, groupBy: [])
    let lapsed = Dictionary(uniqueKeysWithValues: reasons.rows.map { ($0.groups[0], $0.values[0]) })
    #expect(lapsed["BILLING"] == 1)
    #expect(lapsed.values.reduce(0, +) == total.rows[0].values[0])
    #expect(!Report.named(.subscriptions).dimensions.contains(.reason))
    #expect(!Report.named(.retention).dimensions.contains(.reason))
  }

  @Test(
    "Rows with ages are in the order of bucket, currency, age and groups",
    arguments: [Report.Name.retention, .retentionByMonth, .lifetimeValue])
  func order(name: Report.Name) throws {
    let query = ReportQuery(
      name, from: World.reportDay("06-01"), to: World.reportDay("11-01"), by: .month, groupBy: [.product])
    let rows = try ReportTable(query, query.sums(of: october, closingAfter: 0)).rows
    let inOrder = rows.sorted { left, right in
      (left.bucket, left.currency, left.age, left.groups[0])
        < (right.bucket, right.currency, right.age, right.groups[0])
    }
    #expect(rows == inOrder)
    #expect(Set(rows.map(\.age)).count > 1 && Set(rows.map(\.groups)).count > 1)
  }

  @Test("Retention leaves out days that are not closed, because no subscription had time on them")
  func openDays() throws {
    let (first, closed, end) = (World.reportDay("09-01"), World.reportDay("10-15"), World.reportDay("11-01"))
    var query = ReportQuery(
      .retention, from: first, to: end, by: .month, groupBy: [.product], knowledge: .whenClosed(closed))
    query.leaveOutOpenDays(after: closed)
    let sums = query.sums(of: october, closingAfter: ReportPolicy.standard.closeAfter)
    let rows = try ReportTable(query, sums).rows.filter { $0.bucket == first && $0.age == 2 }
    // D is in billing retry, and K's first period is not over.
    #expect(rows.first { $0.groups == ["monthly"] }?.values == [2, 3])
    var others = ReportQuery(.movements, from: first, to: end)
    others.leaveOutOpenDays(after: closed)
    #expect(others.to == end)
  }

  @Test("With a maximum number of groups, the rest is one row whose values are the difference to all")
  func maxGroups() throws {
    for name in [Report.Name.movements, .recurringRevenue, .lifetimeValue] {
      let all = try table(name, groupBy: [.product])
      let limited = try table(name, groupBy: [.product], maxGroups: 1)
      #expect(Set(limited.rows.map(\.groups)).count == 2)
      #expect(limited.rows.contains { $0.groups == [ReportTable.otherGroup] })
      for currency in Set(all.rows.map(\.currency)) {
        func sums(_ table: ReportTable) -> [Int64] {
          table.rows.filter { $0.currency == currency }.reduce(
            Array(repeating: 0, count: all.rows[0].values.count)
          ) { zip($0, $1.values).map(+) }
        }
        #expect(sums(all) == sums(limited), "\(name)")
      }
    }
    #expect(
      try table(.movements, groupBy: [.product], maxGroups: 9) == table(.movements, groupBy: [.product]))
  }
}
