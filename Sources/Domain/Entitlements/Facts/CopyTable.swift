/// Transactions of one line, in which those of one purchase are found: a transaction and its copies.
///
/// A table makes many searches fast, and would cost a write of one transaction more than its search.
struct CopyTable {
  /// The number of searches without a table.
  private static let maxScans = 8

  private(set) var transactions: [TransactionFact]
  private var scans = 0
  /// The positions by the transaction id, and by the id that the copies of a purchase share.
  private var byTransactionID: [String: [Int]] = [:]
  private var bySharedID: [String: [Int]] = [:]

  init(_ transactions: [TransactionFact]) { self.transactions = transactions }

  mutating func append(_ fact: TransactionFact) {
    transactions.append(fact)
    if scans > Self.maxScans { enter(transactions.endIndex - 1) }
  }

  /// The first transaction of the purchase of `fact`.
  mutating func first(of fact: TransactionFact) -> TransactionFact? {
    positions(of: fact).first.map { transactions[$0] }
  }

  /// All transactions of the purchase of `fact`.
  mutating func all(of fact: TransactionFact) -> [TransactionFact] {
    positions(of: fact).map { transactions[$0] }
  }

  private mutating func positions(of fact: TransactionFact) -> [Int] {
    scans += 1
    guard scans > Self.maxScans else { return transactions.indices.filter { isSamePurchase($0, fact) } }
    if scans == Self.maxScans + 1 { transactions.indices.forEach { enter($0) } }
    let candidates =
      (byTransactionID[fact.transactionID] ?? []) + (fact.sharedID.flatMap { bySharedID[$0] } ?? [])
    return Set(candidates).filter { isSamePurchase($0, fact) }.sorted()
  }

  private func isSamePurchase(_ position: Int, _ fact: TransactionFact) -> Bool {
    transactions[position].isSame(as: fact) || transactions[position].isCopy(of: fact)
  }

  private mutating func enter(_ position: Int) {
    byTransactionID[transactions[position].transactionID, default: []].append(position)
    if let id = transactions[position].sharedID { bySharedID[id, default: []].append(position) }
  }
}
