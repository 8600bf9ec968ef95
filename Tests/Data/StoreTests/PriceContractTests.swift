import AppStore
import Entitlements
import Store
import TestSupport
import Testing

/// Contract tests of the prices that transactions state.
@Suite struct PriceContractTests {
  /// A transaction with a price, bought on a day after 1970.
  private func sale(
    _ id: String, day: Int64, _ price: Int64?, _ change: (inout TransactionFact) -> Void = { _ in }
  ) -> TransactionFact {
    var sale = fact(id, line: id)
    sale.purchaseDate = Instant(millisecondsSince1970: day * 86_400_000 + 5)
    sale.details.price = price
    sale.details.currency = "EUR"
    sale.details.storefront = "DEU"
    sale.details.transactionReason = .purchase
    change(&sale)
    return sale
  }

  @Test("The latest day counts, and its highest price, in any order of arrival", arguments: Backend.allCases)
  func latest(backend: Backend) async throws {
    let sales = [
      sale("1", day: 9, 900), sale("2", day: 10, 500), sale("3", day: 10, 600), sale("4", day: 8, 100),
    ]
    for order in [sales, sales.reversed()] {
      try await backend.withStore { store in
        try await store.write { transaction throws(StoreError) in
          let id = try transaction.append(evidence("a")).id
          for sale in order + order { _ = try transaction.put(sale, of: line(sale.transactionID), from: id) }
        }
        try await store.snapshot { reader throws in
          let found = try reader.prices(of: sales[0].productID, of: "ocean", in: .sandbox)
          #expect(found.map(\.day) == [10] && found.map(\.milliunits) == [600])
          #expect(found.first?.seenAt == Instant(millisecondsSince1970: 10 * 86_400_000))
          #expect(try reader.prices(of: sales[0].productID, of: "ocean", in: .production).isEmpty)
          #expect(try reader.prices(of: "other", of: "ocean", in: .sandbox).isEmpty)
        }
      }
    }
  }

  @Test("Prices are separate for each storefront, billing plan and reason", arguments: Backend.allCases)
  func keys(backend: Backend) async throws {
    let sales = [
      sale("1", day: 1, 100), sale("2", day: 1, 90) { $0.details.transactionReason = .renewal },
      sale("3", day: 1, 80) { $0.details.billingPlanType = .monthly },
      sale("4", day: 1, 70) { $0.details.storefront = "AUT" },
      sale("5", day: 1, 60) { $0.details.transactionReason = nil },
    ]
    try await backend.withStore { store in
      try await store.write { transaction throws(StoreError) in
        let id = try transaction.append(evidence("a")).id
        for sale in sales { _ = try transaction.put(sale, of: line(sale.transactionID), from: id) }
      }
      try await store.snapshot { reader throws in
        let found = try reader.prices(of: sales[0].productID, of: "ocean", in: .sandbox)
        #expect(found.map(\.milliunits) == [70, 60, 100, 90, 80])
        #expect(found.map(\.storefront) == ["AUT", "DEU", "DEU", "DEU", "DEU"])
        #expect(found.map(\.billingPlan) == [nil, nil, nil, nil, .monthly])
        #expect(found.map(\.reason) == [.purchase, nil, .purchase, .renewal, .purchase])
      }
    }
  }

  @Test("Offers, seats, shared purchases and transactions without a price state no price")
  func others() {
    #expect(StorefrontPrice(sale("1", day: 1, 100)) != nil)
    #expect(StorefrontPrice(sale("1", day: 1, 0)) != nil)
    let others = [
      sale("1", day: 1, nil), sale("1", day: 1, -1), sale("1", day: -2, 100),
      sale("1", day: 1, 100) { $0.offerType = .promotional },
      sale("1", day: 1, 100) { $0.details.offerIdentifier = "stay50" },
      sale("1", day: 1, 100) { $0.quantity = 3 }, sale("1", day: 1, 100) { $0.ownership = .familyShared },
      sale("1", day: 1, 100) { $0.details.storefront = nil },
      sale("1", day: 1, 100) { $0.details.currency = nil },
    ]
    for other in others { #expect(StorefrontPrice(other) == nil) }
  }
}
