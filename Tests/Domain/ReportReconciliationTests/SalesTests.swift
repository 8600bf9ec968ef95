import AppStore
import AppStoreReports
import ReportReconciliation
import Reports
import Testing

/// Sales without a subscription.
@Suite struct SalesTests {
  @Test("Several pieces of one transaction are explained by their price")
  func quantity() throws {
    let sale = [
      "SKU": "coins", "Product Type Identifier": "IA1", "Units": "3", "Developer Proceeds": "0.69",
      "Begin Date": "10/24/2026", "End Date": "10/24/2026", "Customer Currency": "USD", "Country Code": "US",
      "Currency of Proceeds": "USD", "Apple Identifier": "5", "Customer Price": "0.99",
    ]
    let charge = moneyPosting(
      "A", "2026-10-24T12:00:00Z", price: 2_970, product: "coins", reason: "CONSUMABLE")
    let result = try reconcile(.sales, [sale], [charge])
    #expect(result.days[0].explained.map(\.rule) == [.quantity])
    #expect(result.isClean)
  }

  @Test("Restored purchases and products of other apps are not compared with ours")
  func otherSales() throws {
    let sale = [
      "SKU": "coins", "Product Type Identifier": "IA3", "Units": "1", "Begin Date": "10/24/2026",
      "End Date": "10/24/2026", "Country Code": "US", "Customer Price": "0",
    ]
    let other = sale.merging(["SKU": "other", "Product Type Identifier": "IAY"]) { $1 }
    let result = try reconcile(.sales, [sale, other], [], appleID: "1")
    #expect(result.notes.map(\.code) == [.otherProduct])
    #expect(result.isClean)
  }
}
