internal import AppStore
internal import Entitlements
internal import Store

extension ExpectedReads {
  /// Returns the rows that the writes of submissions read.
  static func reads(of entries: [SubmissionWrite]) -> ExpectedReads {
    entries.reduce(into: ExpectedReads()) { $0.formUnion($1.expectedReads) }
  }

  /// Adds what the write of a transaction reads about it, its line, the one that it replaced, and its token.
  mutating func add(_ fact: TransactionFact, of line: LineKey) {
    lines.insert(line)
    transactions.insert(TransactionKey(fact.transactionID, of: line))
    if let previous = fact.details.previousOriginalTransactionID, !previous.isEmpty {
      lines.insert(line.other(previous))
    }
    if let token = fact.details.appAccountToken, !token.isEmpty {
      tokens.insert(ScopedID(token.lowercased(), of: line.appID, in: line.environment))
    }
  }
}
