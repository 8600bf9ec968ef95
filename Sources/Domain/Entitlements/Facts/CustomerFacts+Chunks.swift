package import AppStore

// Lines with so many transactions that a write evaluates and stores only the last ones.
extension CustomerFacts {
  /// The number of transactions in a chunk.
  package static let chunkSize = 16
  /// The number of chunks in the tail of a long line.
  ///
  /// A document about an earlier period costs an evaluation of the whole line, so the tail has room for documents that
  /// arrive a few dozen periods late.
  private static let tailChunks = 4

  /// The facts of one line, split into chunks: consecutive transactions, with the renewal infos about them. A line of one
  /// or two chunks, and one whose chunks depend on each other, is not split; the tail of a split line always is.
  package func chunks(isTail: Bool) -> [CustomerFacts] {
    guard isTail || transactions.count > 2 * Self.chunkSize && isSplittable else { return [self] }
    let ranges = stride(from: 0, to: transactions.count, by: Self.chunkSize).map {
      $0..<Swift.min($0 + Self.chunkSize, transactions.count)
    }
    guard let history = renewalHistories.first else {
      return ranges.map { CustomerFacts(ordered: Array(transactions[$0]), []) }
    }
    var documents = [[Int]](repeating: [], count: ranges.count)
    for index in history.signatures.indices {
      documents[(period(describedBy: index, of: 0) ?? 0) / Self.chunkSize].append(index)
    }
    return zip(ranges, documents).map { range, documents in
      CustomerFacts(ordered: Array(transactions[range]), history.part(documents).map { [$0] } ?? [])
    }
  }

  /// Joins consecutive chunks of one line.
  package static func joining(_ chunks: [CustomerFacts]) -> CustomerFacts {
    guard chunks.count > 1 else { return chunks.first ?? CustomerFacts() }
    let history = RenewalHistory.joining(chunks.flatMap(\.renewalHistories))
    return CustomerFacts(ordered: chunks.flatMap(\.transactions), history.map { [$0] } ?? [])
  }

  /// The number of transactions at the start of a line whose intervals no later document changes, unless it is about one
  /// of them: all but those of the last four chunks, or fewer. 0 if the line cannot be split.
  ///
  /// A transaction depends on the next one of its line, on its copies, and on the renewal infos about it; its start
  /// depends on the one before if it arrived early.
  var sealedCount: Int {
    guard transactions.count > Self.tailChunks * Self.chunkSize, isSplittable else { return 0 }
    var count = ((transactions.count - 1) / Self.chunkSize + 1 - Self.tailChunks) * Self.chunkSize
    while count > 0, !isBoundary(count) { count -= Self.chunkSize }
    return count
  }

  /// Whether the transaction at `index` replaces all before it, and neither it nor the next one depends on them.
  private func isBoundary(_ index: Int) -> Bool {
    transactions[index].arrivedEarlyAt == nil
      && transactions[index - 1].purchaseDate < transactions[index].purchaseDate
      && !isReplacedBeforeStart(index) && !isReplacedBeforeStart(index + 1)
  }

  /// Whether the line is a subscription without copies, without seats added during a period and without a period that ends
  /// before it begins, so that its chunks depend on each other only in order.
  private var isSplittable: Bool {
    let arePeriods = transactions.indices.allSatisfy {
      transactions[$0].type == .autoRenewableSubscription
        && transactions[$0].details.additionalTransactionReason == nil && !transactions[$0].isContradictory
    }
    return arePeriods && !mayHaveCopies
  }

  /// The tail of a line with `new` facts of it, if these leave what comes before the tail as it is; `nil` otherwise.
  /// `lastExpiry` is the last expiry before the tail: renewal infos are about the latest transaction with the expiry that
  /// they name (``period(describedBy:of:)``).
  package func extendingTail(with new: CustomerFacts, after lastExpiry: Instant) -> CustomerFacts? {
    guard let first = transactions.first,
      new.transactions.allSatisfy({
        $0.purchaseDate > first.purchaseDate && $0.expiresDate.map { $0 > lastExpiry } ?? false
      })
    else { return nil }
    var facts = self
    facts.merge(new)
    let expiries = Set(facts.transactions.compactMap(\.expiresDate))
    let areAboutTail = new.renewalHistories.allSatisfy { history in
      history.contents.allSatisfy { $0.renewalDate.map(expiries.contains) ?? false }
    }
    return areAboutTail && facts.isSplittable && facts.transactions[0] == first ? facts : nil
  }
}
