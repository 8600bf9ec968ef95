internal import AppStore

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
