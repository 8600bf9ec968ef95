internal import AppStore
internal import Entitlements
internal import Store

// Scans. Statements are prepared on each call, because calls are rare.
extension CustomerRow {
  /// Returns at most `limit` customers of one app and environment after `last`, ordered by row id.
  func page(
    of appID: String, in environment: Environment, after last: CustomerKey?, limit: Int
  ) throws(StoreError) -> [CustomerRecord] {
    try scan("facts", after: last, limit: limit) { key, row throws(StoreError) in
      guard key.appID == appID, key.environment == environment else { return nil }
      let facts = try lines.completing(FactCoding.customerFacts(row.bytes(2)), of: row.number(0))
      return CustomerRecord(key: key, facts: facts)
    }
  }

  /// Returns at most `limit` customers of one app and environment after `last` that are marked as contradictory.
  func contradictory(
    of appID: String, in environment: Environment, after last: CustomerKey?, limit: Int
  ) throws(StoreError) -> [CustomerKey] {
    try scan("is_contradictory", where: "is_contradictory = 1", after: last, limit: limit) { key, _ in
      key.appID == appID && key.environment == environment ? key : nil
    }
  }

  /// Returns at most `limit` customers of one app whose answers have a catalog fingerprint other than
  /// `fingerprint`.
  func page(
    of appID: String, withFingerprintOtherThan fingerprint: UInt64, after last: CustomerKey?, limit: Int
  ) throws(StoreError) -> [CustomerKey] {
    try scan("answers", after: last, limit: limit) { key, row throws(StoreError) in
      guard key.appID == appID else { return nil }
      return try EncodedAnswers(row.bytes(2)).fingerprint != fingerprint ? key : nil
    }
  }

  /// Returns at most `limit` customers who are due by `now`.
  func due(by now: Instant, in domain: ClockDomain, limit: Int) throws(StoreError) -> [CustomerKey] {
    var page: [CustomerKey] = []
    for condition in domain.dueCustomerConditions(connection.dialect) {
      page += try due(by: now, where: condition, limit: limit - page.count)
    }
    return page
  }

  private func due(
    by now: Instant, where condition: String, limit: Int
  ) throws(StoreError) -> [CustomerKey] {
    let select = try connection.prepare(
      "SELECT identity FROM customer WHERE due_at <= ? AND \(condition) ORDER BY due_at LIMIT ?")
    try select.bind(1, now.millisecondsSince1970)
    try select.bind(2, Int64(limit))
    defer { select.reset() }
    var page: [CustomerKey] = []
    while try select.step() {
      guard let key = CustomerIdentity.decode(select.bytes(0)) else {
        throw .corrupt("a due customer has no identity")
      }
      page.append(key)
    }
    return page
  }

  /// Returns the results of `decode` for customers after `last`, ordered by row id, until there are `limit`. Reads
  /// the rows piece by piece, because an engine may fetch all that a statement selects.
  private func scan<Value>(
    _ column: String, where condition: String = "length(identity) > 0", after last: CustomerKey?, limit: Int,
    _ decode: (CustomerKey, any SQLStatement) throws(StoreError) -> Value?
  ) throws(StoreError) -> [Value] {
    let size = 1000
    let select = try connection.prepare(
      """
      SELECT customer_number, identity, \(column) FROM customer
      WHERE customer_number >= ? AND \(condition) ORDER BY customer_number LIMIT \(size)
      """)
    defer { select.reset() }
    var found: [Value] = []
    // Row ids are all 64-bit integers, beginning with the least.
    var next: Int64? = .min
    if let last { next = try number(of: last).successor }
    var count = size
    while let start = next, count == size, found.count < limit {
      count = 0
      select.reset()
      try select.bind(1, start)
      while found.count < limit, try select.step() {
        count += 1
        next = select.number(0).successor
        guard let key = CustomerIdentity.decode(select.bytes(1)), let value = try decode(key, select)
        else { continue }
        found.append(value)
      }
    }
    return found
  }
}

extension Int64 {
  /// The next number; `nil` after the greatest.
  fileprivate var successor: Int64? { self == .max ? nil : self + 1 }
}
