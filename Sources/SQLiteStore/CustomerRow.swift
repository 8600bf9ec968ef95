internal import AppStore
internal import Entitlements
internal import Store

/// The rows of `customer`: what is known of each, as one value.
final class CustomerRow {
  private let select: Statement
  private let put: Statement
  /// The app and environment that ``select`` has as its parameters. They are mostly those of the read
  /// before, and to bind them again would cost a fifth of a read.
  private var selected: (appID: String, environment: Environment)?

  init(_ connection: Connection) throws(StoreError) {
    select = try Statement(
      "SELECT facts FROM customer WHERE customer_id = ? AND app = ? AND environment = ?", on: connection)
    put = try Statement(
      "INSERT OR REPLACE INTO customer (customer_id, app, environment, facts) VALUES (?, ?, ?, ?)",
      on: connection)
  }

  func facts(of key: CustomerKey) throws(StoreError) -> CustomerFacts? {
    try select.bind(1, key.customerID)
    if selected?.appID != key.appID || selected?.environment != key.environment {
      selected = nil
      try select.bind(2, key.appID)
      try select.bind(3, key.environment.rawValue)
      selected = (key.appID, key.environment)
    }
    defer { select.reset() }
    guard try select.step() else { return nil }
    return try FactCoding.customerFacts(select.bytes(0))
  }

  func put(_ facts: CustomerFacts, of key: CustomerKey) throws(StoreError) {
    try put.bind(1, key.customerID)
    try put.bind(2, key.appID)
    try put.bind(3, key.environment.rawValue)
    try put.bind(4, FactCoding.encode(facts))
    try put.run()
  }
}
