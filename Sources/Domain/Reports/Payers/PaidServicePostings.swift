internal import AppStore
internal import Entitlements

/// When a payer has paid for a subscription group for one year, and when that count is reset.
struct PaidServicePostings {
  private(set) var postings: [Posting] = []

  init(_ facts: borrowing CustomerFacts, _ history: borrowing PayerHistory) {
    for (group, spans) in history.paidYears.spans.sorted(by: { $0.key < $1.key }) {
      let periods = history.lines.flatMap { line, periods in
        periods.filter { $0.dimensions.group == group }.map { (line: line, period: $0) }
      }
      for span in spans {
        guard let at = periods.last(where: { $0.period.start < span.reached }) else { continue }
        let year = Posting(
          .yearReached, at: span.reached, line: at.line, transactionID: at.period.transactionID,
          at.period.dimensions
        ).with { $0.count = 1 }
        // The reset is the first instant at which the year no longer counts.
        let reset = span.reset.advanced(byMilliseconds: 1)
        postings.append(year)
        postings.append(year.with { $0.kind = .pastOneYear })
        postings.append(year.with { ($0.kind, $0.effectiveAt) = (.yearReset, reset) })
        postings.append(year.with { ($0.kind, $0.effectiveAt, $0.count) = (.pastOneYear, reset, -1) })
        let charged = periods.first {
          span.reached <= $0.period.start && $0.period.start <= span.reset && $0.period.price > 0
        }
        guard let charged else { continue }
        postings.append(
          Posting(
            .firstChargeAfterYear, at: charged.period.start, line: charged.line,
            transactionID: charged.period.transactionID, charged.period.dimensions
          ).with { $0.count = 1 })
      }
    }
  }
}

/// The non-consumables that a payer owns.
struct OwnedPostings {
  private(set) var postings: [Posting] = []

  init(_ facts: borrowing CustomerFacts, _ history: borrowing PayerHistory) {
    for index in facts.transactions.indices where !facts.transactions[index].isShared {
      let fact = facts.transactions[index]
      guard fact.type == .nonConsumable else { continue }
      let owned = Posting(
        .nonConsumableOwned, at: fact.purchaseDate, line: fact.originalTransactionID,
        transactionID: fact.transactionID, Posting.Dimensions(fact, history.groups)
      ).with { $0.count = 1 }
      postings.append(owned)
      guard let revoked = fact.accessRevokedAt else { continue }
      postings.append(owned.with { ($0.effectiveAt, $0.count) = (max(revoked, fact.purchaseDate), -1) })
    }
  }
}
