package import AppStore

/// All facts of one customer in one app and environment.
///
/// Sorted as evaluation reads them: by purchase line, then by purchase date. The result does not depend on
/// the order of insertion nor on repetitions.
package struct CustomerFacts: Hashable, Sendable {
  /// By line, purchase date and transaction id; each transaction once.
  package private(set) var transactions: [TransactionFact]
  /// All renewal infos, by line; one history per line.
  package private(set) var renewalHistories: [RenewalHistory]
  /// By grant id; each grant once.
  package private(set) var grants: [GrantFact]
  /// The customer's app installs by Apple's `appTransactionId`, one per Apple account; those without one come first, by
  /// purchase time and version.
  package private(set) var appTransactions: [AppTransactionFact]
  /// `nil` if these are all facts of the customer. Reduced facts give the same answers, from the instant on for which
  /// they were reduced and under the same catalog.
  package var omitted: OmittedAccess?

  /// Creates facts from documents in any order, with any repetitions.
  package init(
    transactions: [TransactionFact] = [], renewals: [RenewalFact] = [], grants: [GrantFact] = [],
    appTransactions: [AppTransactionFact] = []
  ) {
    self.init(ordered: [], [])
    insert(contentsOf: transactions)
    for renewal in renewals { insert(renewal) }
    for grant in grants { insert(grant) }
    for appTransaction in appTransactions { insert(appTransaction) }
  }

  /// Creates facts from transactions that are all different, in any order.
  package init(distinct transactions: [TransactionFact]) {
    // By member, because an element has about 300 bytes and a dozen reference counts.
    let isOrdered = transactions.indices.dropFirst().allSatisfy { next in
      let index = next - 1
      guard transactions[index].originalTransactionID == transactions[next].originalTransactionID else {
        return transactions[index].originalTransactionID < transactions[next].originalTransactionID
      }
      guard transactions[index].purchaseDate == transactions[next].purchaseDate else {
        return transactions[index].purchaseDate < transactions[next].purchaseDate
      }
      return transactions[index].transactionID < transactions[next].transactionID
    }
    self.init(ordered: isOrdered ? transactions : transactions.sorted { $0.precedes($1) }, [])
  }

  /// Creates facts from arrays in the order of another value's members.
  package init(
    ordered transactions: [TransactionFact], _ renewalHistories: [RenewalHistory],
    _ grants: [GrantFact] = [], _ appTransactions: [AppTransactionFact] = []
  ) {
    self.transactions = transactions
    self.renewalHistories = renewalHistories
    self.grants = grants
    self.appTransactions = appTransactions
  }

  /// Adds a transaction.
  ///
  /// - Returns: whether the facts changed; `false` for a repetition and for an older document.
  @discardableResult
  package mutating func insert(_ fact: TransactionFact) -> Bool {
    // New facts are mostly the latest of their line.
    let known = range(ofLine: fact.originalTransactionID).last {
      transactions[$0].transactionID == fact.transactionID
    }
    if let known {
      let merged = fact.merged(with: transactions[known])
      guard merged != transactions[known] else { return false }
      transactions.remove(at: known)
      insertSorted(merged)
    } else {
      insertSorted(fact)
    }
    return true
  }

  /// Adds transactions in any order, with any repetitions. Many are found by a table and sorted once, because
  /// ``insert(_:)-(TransactionFact)`` looks at each transaction of the line.
  private mutating func insert(contentsOf facts: [TransactionFact]) {
    guard facts.count > 8 else {
      for fact in facts { insert(fact) }
      return
    }
    var indices: [TransactionFact.Identity: Int] = [:]
    indices.reserveCapacity(transactions.count + facts.count)
    for (index, fact) in transactions.enumerated() { indices[fact.identity] = index }
    for fact in facts {
      if let known = indices[fact.identity] {
        transactions[known] = fact.merged(with: transactions[known])
      } else {
        indices[fact.identity] = transactions.endIndex
        transactions.append(fact)
      }
    }
    transactions.sort { $0.precedes($1) }
  }

  private mutating func insertSorted(_ fact: TransactionFact) {
    let index = transactions.indices.firstInOrder { fact.precedes(transactions[$0]) }
    transactions.insert(fact, at: index)
  }

  /// The latest renewal info of each line.
  package var renewals: [RenewalFact] { renewalHistories.map(\.latest) }

  /// Adds a renewal info that was known from `knownAt` on; without that, from its signature on.
  @discardableResult
  package mutating func insert(
    _ fact: RenewalFact, knownAt: Instant? = nil
  ) -> FactInsertion {
    let knownAt = knownAt ?? fact.signedDate
    let index = renewalIndex(fact.originalTransactionID)
    guard index < renewalHistories.endIndex,
      renewalHistories[index].originalTransactionID == fact.originalTransactionID
    else {
      renewalHistories.insert(RenewalHistory(fact, knownAt: knownAt), at: index)
      return .latest
    }
    return renewalHistories[index].insert(fact, knownAt: knownAt)
  }

  /// Adds all renewal infos of one line.
  package mutating func insert(_ history: RenewalHistory) {
    let index = renewalIndex(history.originalTransactionID)
    guard index < renewalHistories.endIndex,
      renewalHistories[index].originalTransactionID == history.originalTransactionID
    else { return renewalHistories.insert(history, at: index) }
    renewalHistories[index].merge(history)
  }

  /// The index of a line's history, or where to insert it.
  private func renewalIndex(_ line: String) -> Int {
    renewalHistories.indices.firstInOrder { renewalHistories[$0].originalTransactionID >= line }
  }

  /// Adds a grant; of two states of one grant the one revoked later wins, or that with the greater revision.
  ///
  /// - Returns: whether the facts changed.
  @discardableResult
  package mutating func insert(_ fact: GrantFact) -> Bool {
    let index = grants.firstIndex { $0.grantID >= fact.grantID } ?? grants.endIndex
    guard index < grants.endIndex, grants[index].grantID == fact.grantID else {
      grants.insert(fact, at: index)
      return true
    }
    let merged = fact.merged(with: grants[index])
    guard merged != grants[index] else { return false }
    grants[index] = merged
    return true
  }

  /// Adds an app transaction. See ``insert(_:)-(TransactionFact)``.
  @discardableResult
  package mutating func insert(_ fact: AppTransactionFact) -> Bool {
    let index = appTransactions.firstIndex { !$0.precedes(fact) } ?? appTransactions.endIndex
    guard index < appTransactions.endIndex, appTransactions[index].isSameInstall(as: fact) else {
      appTransactions.insert(fact, at: index)
      return true
    }
    let merged = fact.merged(with: appTransactions[index])
    guard merged != appTransactions[index] else { return false }
    appTransactions[index] = merged
    return true
  }

  /// Adds all facts of `other`.
  package mutating func merge(_ other: CustomerFacts) {
    insert(contentsOf: other.transactions)
    for history in other.renewalHistories { insert(history) }
    for grant in other.grants { insert(grant) }
    for appTransaction in other.appTransactions { insert(appTransaction) }
  }

  /// The same facts with other transactions, which are in the order of ``transactions``.
  func replacing(transactions: [TransactionFact]) -> CustomerFacts {
    var facts = self
    facts.transactions = transactions
    return facts
  }

  /// The transactions and renewal infos of one line.
  package func ofLine(_ originalTransactionID: String) -> CustomerFacts {
    CustomerFacts(
      ordered: Array(transactions[range(ofLine: originalTransactionID)]),
      renewalHistory(ofLine: originalTransactionID).map { [renewalHistories[$0]] } ?? [])
  }
}

extension TransactionFact {
  /// The identity of a transaction among those of a customer.
  fileprivate struct Identity: Hashable {
    let line: String
    let transactionID: String
  }

  fileprivate var identity: Identity {
    Identity(line: originalTransactionID, transactionID: transactionID)
  }

  /// Whether it precedes `other` in ``CustomerFacts/transactions``.
  func precedes(_ other: TransactionFact) -> Bool {
    (originalTransactionID, purchaseDate, transactionID)
      < (other.originalTransactionID, other.purchaseDate, other.transactionID)
  }
}

extension CustomerFacts {
  /// The present facts without signature dates. Apple signs every response again, so only these facts show
  /// whether a response contains new information.
  package var undated: CustomerFacts {
    let never = Instant(millisecondsSince1970: 0)
    return CustomerFacts(
      ordered: transactions.map { fact in
        var undated = fact.asStated
        undated.signedDate = never
        // A later cancellation in a receipt is new information.
        (undated.revocationDate, undated.revocationReason) = (fact.revocationDate, fact.revocationReason)
        return undated
      },
      renewals.map { fact in
        var fact = fact
        fact.signedDate = never
        return RenewalHistory(fact, knownAt: never)
      }, grants,
      appTransactions.map { fact in
        var fact = fact
        fact.signedDate = never
        fact.earlier = []
        return fact
      })
  }
}
