import AppStore
import AppStoreReports
import ReportReconciliation
import Reports
import Testing

/// Comparisons in which most items are left over on both sides, as with a wrong price or product.
@Suite struct LargeDifferenceTests {
  @Test("The time of a comparison grows with the number of differences, and not with its square")
  func differences() throws {
    let count = 4_000
    let products = (0..<count).map { "p\($0)" }
    let names = ProductNames(given: [:], known: Set(products), learnedFrom: [])
    let postings = products.map { moneyPosting($0, "2026-10-24T12:00:00Z", price: 4_990, product: $0) }
    func duration(ofRowsWith price: String) throws -> (Duration, ReconciliationResult) {
      var table = TabularText(columns: AppStoreReport.subscriber.columns)
      for product in products { table.append(subscriberRow("2026-10-24", price: price, product: product)) }
      let document = try ReportDocument(name: "2026-10-24.txt", text: table.text)
      let comparison = try ReportComparison([document], products: names, appleID: nil, zone: .pacific)
      var result: ReconciliationResult?
      let duration = ContinuousClock().measure { result = comparison.result(postings) }
      return (duration, try #require(result))
    }
    let (equal, clean) = try duration(ofRowsWith: "4.99")
    #expect(clean.matched == Int64(count) && clean.isClean)
    let (different, result) = try duration(ofRowsWith: "9.99")
    #expect(result.unexplained.count == 2 * count)
    #expect(different < equal * 10)
  }
}
