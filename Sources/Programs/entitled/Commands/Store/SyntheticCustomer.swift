internal import AppStore
internal import Entitlements
internal import Store

/// So many invented customers, by their numbers from 1 on.
struct SyntheticCustomers: Sendable {
  let count: Int
  let app: AppDefinition
  let now: Instant

  subscript(number: Int) -> SyntheticCustomer {
    SyntheticCustomer(number: number, of: count, app: app, now: now)
  }
}

/// An invented customer.
struct SyntheticCustomer {
  static let appID = "ocean-journal"

  private let number: Int
  private let app: AppDefinition
  private let now: Instant
  /// When the running period began: between 60 and 30 days ago.
  private let start: Instant

  /// Customer `number` of `count`. The numbers of those whose periods begin one after the other are far
  /// apart, as Apple's are: 7919 is a prime.
  init(number: Int, of count: Int, app: AppDefinition, now: Instant) {
    self.number = number
    self.app = app
    self.now = now
    let place = Int64(number * 7919 % count)
    start = now.advanced(byMilliseconds: -60 * Self.day + 30 * Self.day * place / Int64(count))
  }

  var key: CustomerKey {
    let digits = String(number)
    let id = "customer-" + String(repeating: "0", count: max(0, 7 - digits.count)) + digits
    return CustomerKey(appID: Self.appID, environment: .sandbox, customerID: id)
  }

  private var line: LineKey { key.line(String(2_000_000_000_000_000 + number * 10)) }

  /// Writes the answers, without what they rest on.
  func writeAnswers(to store: any StoreTransaction) throws(StoreError) {
    let facts = CustomerFacts(transactions: transactions(of: line), renewals: [renewal(of: line)])
    try put(facts, from: EvidenceID(rawValue: 1), to: store)
  }

  func write(to store: any StoreTransaction, _ evidence: EvidenceID) throws(StoreError) {
    for transaction in transactions(of: line) { _ = try store.put(transaction, of: line, from: evidence) }
    _ = try store.put(renewal(of: line), of: line, from: evidence)
    try store.relate(evidence, to: line)
    try store.record(
      OwnershipChange(line: line, customerID: key.customerID, gained: true, at: now, evidenceID: evidence))
    let facts = try store.facts(of: line)
    try put(facts, from: evidence, to: store)
  }

  private func put(
    _ facts: CustomerFacts, from evidence: EvidenceID, to store: any StoreTransaction
  ) throws(StoreError) {
    let answers = try PrecomputedAnswers(facts, in: app, from: now).resting { _ in evidence }
    try store.putFacts(facts, answers: answers, of: key)
  }

  /// Periods of a year, the last of which is running.
  private func transactions(of line: LineKey) -> [TransactionFact] {
    let count = 1 + number % 3
    return (0..<count).map { index in
      let start = start.advanced(byMilliseconds: Int64(index + 1 - count) * Self.year)
      return TransactionFact(
        transactionID: String(2_000_000_000_000_000 + number * 10 + index),
        originalTransactionID: line.originalTransactionID, productID: "pro.yearly",
        type: .autoRenewableSubscription, purchaseDate: start,
        expiresDate: start.advanced(byMilliseconds: Self.year), signedDate: start)
    }
  }

  private func renewal(of line: LineKey) -> RenewalFact {
    RenewalFact(
      originalTransactionID: line.originalTransactionID, productID: "pro.yearly",
      autoRenewProductID: "pro.yearly", autoRenewStatus: .on, signedDate: start)
  }

  private static let day: Int64 = 86_400_000
  private static let year: Int64 = 365 * day
}
