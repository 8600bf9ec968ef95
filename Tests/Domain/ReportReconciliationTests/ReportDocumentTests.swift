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
}
