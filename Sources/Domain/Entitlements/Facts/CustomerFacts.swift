internal import AppStore

/// Everything that is known of one customer's purchases in one app and environment.
///
/// Kept in the order in which evaluation reads it: by purchase line, then by purchase date.
/// The order in which facts were inserted, and how often, leaves no trace.
package struct CustomerFacts: Hashable, Sendable {
  /// By line, then purchase date, then transaction id; each transaction once.
  package private(set) var transactions: [TransactionFact]
  /// By line; each line at most once.
  package private(set) var renewals: [RenewalFact]
  /// By number; each grant once.
  package private(set) var grants: [GrantFact]
  /// The copies of the app that the customer has: one for each Apple account, by Apple's number.
  package private(set) var appTransactions: [AppTransactionFact]

  /// Facts in any order, with any repetitions.
  package init(
    transactions: [TransactionFact] = [], renewals: [RenewalFact] = [], grants: [GrantFact] = [],
    appTransactions: [AppTransactionFact] = []
  ) {
    self.init(ordered: [], [])
    for transaction in transactions { insert(transaction) }
    for renewal in renewals { insert(renewal) }
    for grant in grants { insert(grant) }
    for appTransaction in appTransactions { insert(appTransaction) }
  }

  /// Facts that were read from another value's members, in their order.
  package init(
    ordered transactions: [TransactionFact], _ renewals: [RenewalFact], _ grants: [GrantFact] = [],
    _ appTransactions: [AppTransactionFact] = []
  ) {
    self.transactions = transactions
    self.renewals = renewals
    self.grants = grants
    self.appTransactions = appTransactions
  }

  /// Takes in what one signed transaction says.
  ///
  /// - Returns: whether it was news; `false` for a repetition and for something older than is known.
  @discardableResult
  package mutating func insert(_ fact: TransactionFact) -> Bool {
    let known = transactions.firstIndex {
      $0.transactionID == fact.transactionID && $0.originalTransactionID == fact.originalTransactionID
    }
    if let known {
      guard fact.supersedes(transactions[known]) else { return false }
      transactions.remove(at: known)
    }
    let index = transactions.firstIndex { fact.precedes($0) } ?? transactions.endIndex
    transactions.insert(fact, at: index)
    return true
  }

  /// Takes in what one signed renewal info says. See ``insert(_:)-(TransactionFact)``.
  @discardableResult
  package mutating func insert(_ fact: RenewalFact) -> Bool {
    let index =
      renewals.firstIndex { $0.originalTransactionID >= fact.originalTransactionID } ?? renewals.endIndex
    guard index < renewals.endIndex,
      renewals[index].originalTransactionID == fact.originalTransactionID
    else {
      renewals.insert(fact, at: index)
      return true
    }
    guard fact.supersedes(renewals[index]) else { return false }
    renewals[index] = fact
    return true
  }

  /// Takes in what the operator gave, or took back: of two about one grant the one taken back later stays.
  ///
  /// - Returns: whether it was news.
  @discardableResult
  package mutating func insert(_ fact: GrantFact) -> Bool {
    let index = grants.firstIndex { $0.grantID >= fact.grantID } ?? grants.endIndex
    guard index < grants.endIndex, grants[index].grantID == fact.grantID else {
      grants.insert(fact, at: index)
      return true
    }
    guard fact.supersedes(grants[index]) else { return false }
    grants[index] = fact
    return true
  }

  /// Takes in what one signed app transaction says. See ``insert(_:)-(TransactionFact)``.
  @discardableResult
  package mutating func insert(_ fact: AppTransactionFact) -> Bool {
    let index =
      appTransactions.firstIndex { $0.appTransactionID >= fact.appTransactionID } ?? appTransactions.endIndex
    guard index < appTransactions.endIndex,
      appTransactions[index].appTransactionID == fact.appTransactionID
    else {
      appTransactions.insert(fact, at: index)
      return true
    }
    guard fact.supersedes(appTransactions[index]) else { return false }
    appTransactions[index] = fact
    return true
  }

  /// Takes in all of `other`.
  package mutating func merge(_ other: CustomerFacts) {
    for transaction in other.transactions { insert(transaction) }
    for renewal in other.renewals { insert(renewal) }
    for grant in other.grants { insert(grant) }
    for appTransaction in other.appTransactions { insert(appTransaction) }
  }

  /// The purchases and renewals of the line that has this number of Apple's.
  package func ofLine(_ originalTransactionID: String) -> CustomerFacts {
    CustomerFacts(
      ordered: transactions.filter { $0.originalTransactionID == originalTransactionID },
      renewals.filter { $0.originalTransactionID == originalTransactionID })
  }
}

extension TransactionFact {
  /// Whether this one comes first in ``CustomerFacts/transactions``.
  fileprivate func precedes(_ other: TransactionFact) -> Bool {
    (originalTransactionID, purchaseDate, transactionID)
      < (other.originalTransactionID, other.purchaseDate, other.transactionID)
  }
}

extension CustomerFacts {
  /// The same facts without the dates of Apple's signatures: Apple signs anew whatever it is asked, so only
  /// these tell whether there is news in an answer.
  package var undated: CustomerFacts {
    let never = Instant(millisecondsSince1970: 0)
    return CustomerFacts(
      ordered: transactions.map { fact in
        var fact = fact
        fact.signedDate = never
        return fact
      },
      renewals.map { fact in
        var fact = fact
        fact.signedDate = never
        return fact
      }, grants,
      appTransactions.map { fact in
        var fact = fact
        fact.signedDate = never
        return fact
      })
  }
}
