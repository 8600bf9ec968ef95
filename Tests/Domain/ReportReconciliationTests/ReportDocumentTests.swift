import AppStore
import AppStoreReports
import ReportReconciliation
import Reports
import Testing

/// The reading of report files.
@Suite struct ReportDocumentTests {
  @Test("A report of unknown kind, without a column or date, or with a malformed value is refused")
  func refused() throws {
    #expect(throws: ReportError.unknownReport("a.txt")) {
      try ReportDocument(name: "a.txt", text: "A\tB\n1\t2\n")
    }
    #expect(throws: ReportError.missingColumns("a.txt", ["Event Date", "Customer Price"])) {
      let columns = AppStoreReport.subscriber.columns.filter {
        !["Event Date", "Customer Price"].contains($0)
      }
      _ = try ReportDocument(name: "a.txt", text: columns.joined(separator: "\t") + "\n")
    }
    #expect(throws: ReportError.noDate("stock.txt")) {
      _ = try ReportDocument(
        name: "stock.txt", text: AppStoreReport.subscription.columns.joined(separator: "\t") + "\n")
    }
    #expect(throws: ReportError.malformed("2026-10-24.txt", line: 2, column: "Units", value: "one")) {
      try reconcile(.subscriber, [subscriberRow("2026-10-24", units: "one")], [])
    }
  }

  @Test("Columns are found without regard to case, and unknown ones are named")
  func columns() throws {
    var table = TabularText(
      columns: AppStoreReport.subscriber.columns.map { $0.lowercased() } + ["New Column"])
    table.rows = []
    let document = try ReportDocument(name: "Subscriber_85120115_20261024_V1_3.txt.gz", text: table.text)
    #expect(document.unknownColumns == ["New Column"])
    #expect(document.day?.description == "2026-10-24")
  }

  @Test("The days of a report are those of its rows, also if the name has another date or none")
  func days() throws {
    for name in ["sales.txt", "downloaded-2026-11-30.txt"] {
      let result = try reconcile(.subscriber, [subscriberRow("2026-10-24")], [], name: name)
      #expect(result.days.map(\.day.description) == ["2026-10-24"])
    }
    // A day without rows has only the name.
    #expect(try reconcile(.subscriber, [], []).days.map(\.day.description) == ["2026-10-24"])
    #expect(try reconcile(.subscriber, [], [], name: "sales.txt").days.isEmpty)
  }

  /// The largest number that a report may have in one column.
  private let absurd = "999999999999"

  @Test("Numbers too large to be added are an error that names the file and the line")
  func absurdNumbers() throws {
    let error = ReportError.sumTooLarge("2026-10-24.txt", line: 3)
    let plain = subscriberRow("2026-10-24")
    #expect(throws: error) {
      try reconcile(.subscriber, [plain, subscriberRow("2026-10-24", price: absurd, units: absurd)], [])
    }
    let stock = [
      "Subscription Name": "monthly", "Country": "US", "Standard Subscription Duration": "7 Days",
      "Customer Price": "9.99", "Customer Currency": "USD", "Subscribers": "1",
      SubscriptionColumn.standard.rawValue: "1",
    ]
    let many = stock.merging([
      "Customer Price": absurd, SubscriptionColumn.standard.rawValue: absurd,
    ]) { $1 }
    #expect(throws: error) { try reconcile(.subscription, [stock, many], []) }
    #expect(error.description.hasPrefix("'2026-10-24.txt' line 3: "))
  }

  @Test("Sums of many absurd rows are an error, too, whatever the rows count")
  func absurdSums() throws {
    let share = [
      "Start Date": "10/24/2026", "End Date": "10/24/2026", "Vendor Identifier": "monthly", "Quantity": "1",
      "Extended Partner Share": absurd, "Partner Share Currency": "USD", "Country Of Sale": "US",
      "Sale or Return": "S",
    ]
    #expect(throws: ReportError.self) {
      try reconcile(.finance, Array(repeating: share, count: 10_000), [])
    }
    // Each of them alone is compared.
    #expect(try reconcile(.finance, [share], []).finance.map(\.appleShare) == [999_999_999_999_000])
  }

  @Test("Proceeds of any part of the price, in each of several rows, are findings")
  func absurdProceeds() throws {
    let rows = Array(repeating: subscriberRow("2026-10-24", price: "0.01", proceeds: absurd), count: 3)
    let large = subscriberRow("2026-10-24", price: absurd, proceeds: "0.01")
    let result = try reconcile(.subscriber, rows + [large], [])
    #expect(result.unexplained.filter { $0.kind == .proceeds }.count == 4)
  }
}
