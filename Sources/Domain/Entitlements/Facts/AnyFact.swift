/// One fact, of whichever kind, as one document or command stated it.
package enum AnyFact: Hashable, Sendable {
  case transaction(TransactionFact)
  case renewal(RenewalFact)
  case grant(GrantFact)
  case appTransaction(AppTransactionFact)
}

extension CustomerFacts {
  /// Whether `fact` is among these, with exactly this content.
  package func contains(_ fact: AnyFact) -> Bool {
    switch fact {
    case .transaction(let fact): transactions.contains(fact)
    case .renewal(let fact): renewals.contains(fact)
    case .grant(let fact): grants.contains(fact)
    case .appTransaction(let fact): appTransactions.contains(fact)
    }
  }
}

/// Why a verified document is no fact: it is Apple's, but what the rules need is not in it.
package enum FactError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The field, by Apple's name, is not there.
  case missing(field: String)

  package var description: String {
    switch self {
    case .missing(let field): "the field \(field) is missing"
    }
  }
}
