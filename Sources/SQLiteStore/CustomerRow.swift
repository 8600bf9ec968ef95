internal import AppStore
internal import Entitlements
internal import Store

/// The rows of `customer`: what is known of each and what is answered about it, as one value each.
///
/// A customer's row has the number that ``CustomerIdentity/hash(_:)`` gives, or the next one that was
/// free: a number is found in half the time of a text. So no row is ever deleted: those that had to move
/// on behind it would not be found.
final class CustomerRow {
  private let selectAnswers: Statement
  private let selectFacts: Statement
  private let put: Statement
  private let hash: CustomerIdentity.Hash

  /// `hash` says where to look first; it is another one than the store's own only in tests.
  init(_ connection: Connection, hash: @escaping CustomerIdentity.Hash) throws(StoreError) {
    self.hash = hash
    selectAnswers = try Statement(
      "SELECT identity, answers FROM customer WHERE customer_number = ?", on: connection)
    selectFacts = try Statement(
      "SELECT identity, facts FROM customer WHERE customer_number = ?", on: connection)
    put = try Statement(
      "INSERT OR REPLACE INTO customer (customer_number, identity, answers, facts) VALUES (?, ?, ?, ?)",
      on: connection)
  }

  func answer(
    to entitlement: String, of key: CustomerKey, under fingerprint: UInt64, at now: Instant
  ) throws(StoreError) -> StoredAnswer {
    defer { selectAnswers.reset() }
    guard try find(key, with: selectAnswers).exists else { return .unknownCustomer }
    let segment = try selectAnswers.withBytes(1) { bytes throws(StoreError) in
      try AnswerCoding.answer(in: bytes, to: entitlement, under: fingerprint, at: now)
    }
    return segment.map(StoredAnswer.told) ?? .notTold
  }

  func facts(of key: CustomerKey) throws(StoreError) -> CustomerFacts? {
    defer { selectFacts.reset() }
    guard try find(key, with: selectFacts).exists else { return nil }
    return try FactCoding.customerFacts(selectFacts.bytes(1))
  }

  func put(
    _ facts: CustomerFacts, _ answers: CustomerAnswers, of key: CustomerKey
  ) throws(StoreError) {
    let number = try number(of: key)
    try put.bind(1, number)
    try put.bind(2, CustomerIdentity.encode(key))
    try put.bind(3, AnswerCoding.encode(answers))
    try put.bind(4, FactCoding.encode(facts))
    try put.run()
  }

  /// At most `limit` customers of one app and environment by the number of their rows, beginning behind
  /// that of `last`. Rare enough to prepare its statement each time.
  func page(
    _ connection: Connection, of appID: String, in environment: Environment, after last: CustomerKey?,
    limit: Int
  ) throws(StoreError) -> [CustomerRecord] {
    let select = try Statement(
      "SELECT identity, facts FROM customer WHERE customer_number > ? ORDER BY customer_number",
      on: connection)
    try select.bind(1, try last.map { key throws(StoreError) in try number(of: key) } ?? .min)
    defer { select.reset() }
    var page: [CustomerRecord] = []
    while page.count < limit, try select.step() {
      guard let id = CustomerIdentity.customerID(select.bytes(0), of: appID, in: environment) else {
        continue
      }
      page.append(
        CustomerRecord(
          key: CustomerKey(appID: appID, environment: environment, customerID: id),
          facts: try FactCoding.customerFacts(select.bytes(1))))
    }
    return page
  }

  /// The number of the customer's row, or of the one that it is going to have.
  private func number(of key: CustomerKey) throws(StoreError) -> Int64 {
    defer { selectAnswers.reset() }
    return try find(key, with: selectAnswers).number
  }

  /// Goes with `select` to the customer's row; the caller resets it.
  private func find(
    _ key: CustomerKey, with select: Statement
  ) throws(StoreError) -> (number: Int64, exists: Bool) {
    var number = hash(key)
    while true {
      try select.bind(1, number)
      guard try select.step() else { return (number, false) }
      if select.withBytes(0, { CustomerIdentity.isSame($0, key) }) { return (number, true) }
      select.reset()
      number &+= 1
    }
  }
}
