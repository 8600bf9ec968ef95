internal import AppStore
internal import SQLite
internal import Store

// Going through many customers. Rare enough to prepare the statements each time.
extension CustomerRow {
  /// At most `limit` customers of one app and environment by the number of their rows, beginning behind
  /// that of `last`.
  func page(
    of appID: String, in environment: Environment, after last: CustomerKey?, limit: Int
  ) throws(StoreError) -> [CustomerRecord] {
    let select = try rows("identity, facts", after: last)
    defer { select.reset() }
    var page: [CustomerRecord] = []
    while page.count < limit, try select.step() {
      guard let key = CustomerIdentity.decode(select.bytes(0)), key.appID == appID,
        key.environment == environment
      else { continue }
      page.append(CustomerRecord(key: key, facts: try FactCoding.customerFacts(select.bytes(1))))
    }
    return page
  }

  /// At most `limit` customers of one app whose answers are of another catalog than `fingerprint` says.
  func page(
    of appID: String, toldUnderOtherThan fingerprint: UInt64, after last: CustomerKey?, limit: Int
  ) throws(StoreError) -> [CustomerKey] {
    let select = try rows("identity, answers", after: last)
    defer { select.reset() }
    var page: [CustomerKey] = []
    while page.count < limit, try select.step() {
      guard let key = CustomerIdentity.decode(select.bytes(0)), key.appID == appID,
        try EncodedAnswers(select.bytes(1)).fingerprint != fingerprint
      else { continue }
      page.append(key)
    }
    return page
  }

  /// At most `limit` customers who are due by `now`.
  func due(by now: Instant, limit: Int) throws(StoreError) -> [CustomerKey] {
    let select = try Statement(
      "SELECT identity FROM customer WHERE due_at <= ? ORDER BY due_at LIMIT ?", on: connection)
    try select.bind(1, now.millisecondsSince1970)
    try select.bind(2, Int64(limit))
    defer { select.reset() }
    var page: [CustomerKey] = []
    while try select.step() {
      guard let key = CustomerIdentity.decode(select.bytes(0)) else {
        throw .corrupt("somebody is due who is not there")
      }
      page.append(key)
    }
    return page
  }

  /// All customers that have an identity, by the number of their rows, beginning behind that of `last`.
  private func rows(_ columns: String, after last: CustomerKey?) throws(StoreError) -> Statement {
    let behind = last == nil ? "" : "customer_number > ? AND "
    let select = try Statement(
      "SELECT \(columns) FROM customer WHERE \(behind)identity <> x'' ORDER BY customer_number",
      on: connection)
    if let last { try select.bind(1, try number(of: last)) }
    return select
  }
}
