internal import AppStore
internal import Reports
internal import Store
internal import Wire

extension PaidTotal {
  /// The amounts in one currency, in thousandths of its unit.
  init(_ sum: PaidTotals.Sum) {
    self.init()
    total = Wire.Money(milliunits: sum.total, currency: sum.currency)
    charged = Wire.Money(milliunits: sum.charged, currency: sum.currency)
    refunded = Wire.Money(milliunits: sum.refunded, currency: sum.currency)
  }
}

extension StoreSnapshot {
  /// The ids of the customers that were merged into `customer`, at once or in steps: sorted, at most `limit`.
  func allMergedCustomers(into customer: CustomerKey, limit: Int) throws(StoreError) -> [String] {
    var found: Set<CustomerKey> = [customer]
    var next = [customer]
    while let target = next.popLast(), found.count <= limit {
      for merged in try mergedCustomers(into: target).map(customer.other) where found.insert(merged).inserted
      {
        next.append(merged)
      }
    }
    return Array(found.subtracting([customer]).map(\.customerID).sorted().prefix(limit))
  }
}
