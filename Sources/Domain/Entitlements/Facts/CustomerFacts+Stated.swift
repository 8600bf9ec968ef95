internal import AppStore

// The statements of evidence, without what depends on the time of its arrival and without what an erasure
// removes: the basis of the state hash.

extension TransactionFact {
  /// The fact without its arrival and its `appAccountToken`.
  package var stated: TransactionFact {
    var fact = self
    fact.arrivedEarlyAt = nil
    fact.details.appAccountToken = nil
    return fact
  }
}

extension RenewalHistory {
  /// The renewal infos, each as if it had arrived when it was signed.
  package var stated: RenewalHistory {
    let signatures = signatures.map {
      Signature(signedDate: $0.signedDate, knownAt: $0.signedDate, content: $0.content)
    }
    return RenewalHistory(originalTransactionID, contents: contents, signatures: signatures) ?? self
  }
}

extension GrantFact {
  /// The grant without its id, which depends on the evidence before it.
  package var stated: GrantFact {
    var fact = self
    fact.grantID = ""
    fact.external?.earlier = (external?.earlier ?? []).map(\.stated)
    return fact
  }
}

extension CustomerFacts {
  /// The facts as evidence states them.
  package var stated: CustomerFacts {
    let grants = grants.map(\.stated).sorted { $1.supersedes($0) }
    return CustomerFacts(
      ordered: transactions.map(\.stated), renewalHistories.map(\.stated), grants, appTransactions)
  }
}
