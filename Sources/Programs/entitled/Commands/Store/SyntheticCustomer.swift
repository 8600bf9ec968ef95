internal import AppStore
internal import Entitlements
internal import Store

/// A number of synthetic customers, indexed from 1.
struct SyntheticCustomers: Sendable {
  let count: Int
  let app: AppDefinition
  let now: Instant

  subscript(number: Int) -> SyntheticCustomer {
    SyntheticCustomer(number: number, of: count, app: app, now: now)
  }
}

/// A synthetic customer.
struct SyntheticCustomer {
  /// The app of the demo configuration.
  static let appID = "ocean-journal"

  private let number: Int
  private let app: AppDefinition
  private let now: Instant
  /// The start of the current period: 60 to 30 days ago.
  private let start: Instant

  /// Customer `number` of `count`. The prime factor 7919 spreads customers with adjacent starts over all numbers, as
  /// Apple's ids do.
  init(number: Int, of count: Int, app: AppDefinition, now: Instant) {
    self.number = number
    self.app = app
    self.now = now
    let index = Int64(number * 7919 % count)
    let day = Instant.millisecondsPerDay
    start = now.advanced(byMilliseconds: -60 * day + 30 * day * index / Int64(count))
  }

  /// `customer-0000001` and so on, in Apple's sandbox.
  var key: CustomerKey {
    let digits = String(number)
    let id = "customer-" + String(repeating: "0", count: max(0, 7 - digits.count)) + digits
    return CustomerKey(appID: Self.appID, environment: .sandbox, customerID: id)
  }

  private var line: LineKey { key.line(String(2_000_000_000_000_000 + number * 10)) }

  /// Writes the answers without facts.
  func writeAnswers(to store: any StoreTransaction) throws(StoreError) {
    let facts = CustomerFacts(transactions: transactions(of: line), renewals: [renewal(of: line)])
    try put(facts, from: EvidenceID(rawValue: 1), to: store)
  }

  func write(to store: any StoreTransaction, _ evidence: EvidenceID) throws(StoreError) {
    for transaction in transactions(of: line) { _ = try store.put(transaction, of: line, from: evidence) }
    _ = try store.put(renewal(of: line), of: line, knownAt: now, from: evidence)
    try store.index(evidence, under: line)
    try store.record(
      OwnershipChange(line: line, customerID: key.customerID, gained: true, at: now, evidenceID: evidence))
    let facts = try store.facts(of: line)
    try put(facts, from: evidence, to: store)
  }

  private func put(
    _ facts: CustomerFacts, from evidence: EvidenceID, to store: any StoreTransaction
  ) throws(StoreError) {
    let answers = try PrecomputedAnswers(facts, in: app, from: now).addingEvidence { _ in evidence }
    try store.putFacts(facts, answers: answers, of: key)
  }

  /// Periods of one year, the last of which is active.
  private func transactions(of line: LineKey) -> [TransactionFact] {
    let count = 1 + number % 3
    return (0..<count).map { index in
      let start = start.advanced(byMilliseconds: Int64(index + 1 - count) * Self.year)
      return TransactionFact(
        transactionID: String(2_000_000_000_000_000 + number * 10 + index),
        originalTransactionID: line.lineID, productID: "pro.yearly",
        type: .autoRenewableSubscription, purchaseDate: start,
        expiresDate: start.advanced(byMilliseconds: Self.year), signedDate: start)
    }
  }

  /// The renewal info of the current period, with auto-renewal on.
  private func renewal(of line: LineKey) -> RenewalFact {
    RenewalFact(
      originalTransactionID: line.lineID, productID: "pro.yearly",
      autoRenewProductID: "pro.yearly", autoRenewStatus: .on, signedDate: start)
  }

  private static let year: Int64 = 365 * Instant.millisecondsPerDay
}
