/// A fact of any kind.
package enum AnyFact: Hashable, Sendable {
  /// One purchase or period, of a signed transaction or a legacy receipt.
  case transaction(TransactionFact)
  /// The next renewal of a subscription, of a signed renewal info.
  case renewal(RenewalFact)
  /// An entitlement by the operator's decision, or a purchase in another store.
  case grant(GrantFact)
  /// An app install, of a signed app transaction or an app receipt.
  case appTransaction(AppTransactionFact)
}

extension CustomerFacts {
  /// Whether a fact of an equal document is among these.
  package func contains(_ fact: AnyFact) -> Bool {
    switch fact {
    case .transaction(let fact):
      transactions.contains { $0.asStated == fact.asStated }
    case .renewal(let fact): renewalHistories.contains { $0.contains(fact) }
    case .grant(let fact): grants.contains { $0.current == fact.current }
    case .appTransaction(let fact): appTransactions.contains { fact.isStated(by: $0) }
    }
  }
}

/// The outcome of adding a document to stored facts.
package enum FactInsertion: Hashable, Sendable {
  /// The facts have all of it, and had it by that time.
  case duplicate
  /// The facts have a later document, which still states the present; this one adds what was true before.
  case older
  /// No later document is stored.
  case latest
}

/// A required field is missing in a verified document.
package enum FactError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The field with Apple's name `field` is missing.
  case missing(field: String)
  /// The transaction id is 0, as that of the first purchase of a StoreKit test in Xcode, and identifies no purchase.
  case transactionIDZero

  /// The reason code.
  package var reason: String {
    switch self {
    case .missing: "MISSING_FIELD"
    case .transactionIDZero: "TRANSACTION_ID_ZERO"
    }
  }

  package var description: String {
    switch self {
    case .missing(let field): "the field \(field) is missing"
    case .transactionIDZero: "the transaction id is 0, as in StoreKit testing, and identifies no purchase"
    }
  }
}
