import AppStore
import AppStoreReports
import ReportReconciliation
import Reports
import Testing

/// Stocks of a day and sums of a fiscal month.
@Suite struct StockAndFinanceTests {
  @Test("Stocks are the sum before and the changes up to the end of the day in Pacific Time")
  func stocks() throws {
    func stock(_ kind: Posting.Kind, _ id: String, _ time: String, _ count: Int64) -> KnownPosting {
      var known = flowPosting(kind, id, time).posting
      (known.count, known.amount, known.currency) = (count, kind == .active ? count * 119_880 : 0, "USD")
      return KnownPosting(known, knownAt: instant(time))
    }
    let postings = [
      stock(.active, "", "2026-10-20T00:00:00Z", 4), stock(.active, "A", "2026-10-24T20:00:00Z", -1),
      stock(.inRetry, "A", "2026-10-24T20:00:00Z", 1), stock(.active, "B", "2026-10-25T08:00:00Z", 1),
    ]
    let row = [
      "Subscription Name": "monthly", "Country": "US", "Standard Subscription Duration": "1 Month",
      "Customer Price": "9.99", "Customer Currency": "USD", "Developer Proceeds": "6.99",
      "Proceeds Currency": "USD", "Active Standard Price Subscriptions": "3", "Billing Retry": "1",
      "Subscribers": "4",
    ]
    let result = try reconcile(.subscription, [row], postings)
    #expect(result.isClean)
    #expect(result.matched == 4)
    let higher = row.merging(["Customer Price": "10.99", "Developer Proceeds": "7.69"]) { $1 }
    #expect(try reconcile(.subscription, [higher], postings).unexplained.count == 1)
    let more = row.merging(["Billing Retry": "2"]) { $1 }
    let found = try reconcile(.subscription, [more], postings)
    #expect(found.unexplained.map(\.bucket.subject) == [.stock("Billing Retry")])
  }

  @Test("Finance is compared by product, country and fiscal month, and differences are listed only")
  func finance() throws {
    let row = [
      "Start Date": "09/27/2026", "End Date": "10/31/2026", "Vendor Identifier": "monthly", "Quantity": "3",
      "Extended Partner Share": "20.97", "Partner Share Currency": "USD", "Sale or Return": "S",
      "Country Of Sale": "US",
    ]
    let back = row.merging(["Quantity": "1", "Extended Partner Share": "6.99", "Sale or Return": "R"]) { $1 }
    let result = try reconcile(
      .finance, [row, back],
      [
        moneyPosting("A", "2026-10-24T12:00:00Z"), moneyPosting("B", "2026-10-31T12:00:00Z"),
        moneyPosting("C", "2026-11-01T12:00:00Z"),
      ], name: "finance.txt")
    let month = try #require(result.finance.first)
    #expect(result.finance.count == 1)
    #expect(month.month?.description == "2027-01")
    #expect((month.appleQuantity, month.ourQuantity) == (2, 2))
    #expect((month.appleShare, month.ourShare) == (13_980, 13_986))
    #expect(result.isClean)
  }
}
