internal import AppStore
internal import Entitlements
internal import Store

/// The rows of `customer`: what is known of each, as one value.
final class CustomerRow {
  private let select: Statement
  private let put: Statement

  init(_ connection: Connection) throws(StoreError) {
    select = try Statement(
      "SELECT facts FROM customer WHERE customer_id = ? AND app = ? AND environment = ?", on: connection)
    put = try Statement(
      "INSERT OR REPLACE INTO customer (customer_id, app, environment, facts) VALUES (?, ?, ?, ?)",
      on: connection)
  }

  func facts(of key: CustomerKey) throws(StoreError) -> CustomerFacts? {
    try bind(key, to: select)
    defer { select.reset() }
    guard try select.step() else { return nil }
    return try FactCoding.customerFacts(select.bytes(0))
  }

  func put(_ facts: CustomerFacts, of key: CustomerKey) throws(StoreError) {
    try bind(key, to: put)
    try put.bind(4, FactCoding.encode(facts))
    try put.run()
  }

  private func bind(_ key: CustomerKey, to statement: Statement) throws(StoreError) {
    try statement.bind(1, key.customerID)
    try statement.bind(2, key.appID)
    try statement.bind(3, key.environment.rawValue)
  }
}
