import AppStore
import AppStoreReports
import ReportReconciliation
import Reports
import Testing

/// The comparison of proceeds with the share of the price.
@Suite struct ProceedsTests {
  @Test("Proceeds that are not the share of the price are findings of their rows")
  func proceeds() throws {
    let result = try reconcile(
      .subscriber,
      [
        subscriberRow("2026-10-24"), subscriberRow("2026-10-24", proceeds: "7.99"),
        subscriberRow("2026-10-24", proceeds: "8.49", reason: "Rate After One Year"),
      ],
      [
        moneyPosting("A", "2026-10-24T12:00:00Z"), moneyPosting("B", "2026-10-24T12:00:00Z"),
        moneyPosting("C", "2026-10-24T12:00:00Z", share: 85),
      ])
    #expect(result.matched == 3)
    #expect(result.unexplained.map(\.kind) == [.proceeds])
    #expect(result.unexplained[0].rows == ["2026-10-24.txt:3"])
  }

  @Test("Proceeds that are less by one tax in all rows of a country are explained, but one row is not")
  func tax() throws {
    let ids = ["A", "B", "C", "D", "E", "F", "G"]
    let rows = ids.map {
      subscriberRow("2026-10-24", proceeds: $0 == "G" ? "6.47" : "5.88", country: "DE")
    }
    let result = try reconcile(
      .subscriber, rows, ids.map { moneyPosting($0, "2026-10-24T12:00:00Z", country: "DEU") })
    #expect(result.days[0].explained.map(\.rule) == Array(repeating: .tax, count: 6))
    #expect(result.unexplained.map(\.kind) == [.proceeds])
  }
}
