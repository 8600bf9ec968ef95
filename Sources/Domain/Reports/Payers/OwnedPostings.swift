internal import AppStore
internal import Entitlements

/// The non-consumables that a payer owns, and the non-renewing subscriptions that run.
struct OwnedPostings {
  private(set) var postings: [Posting] = []

  init(_ facts: borrowing CustomerFacts, _ history: borrowing PayerHistory, _ app: borrowing AppDefinition) {
    var nonRenewing: [Int] = []
    for index in facts.transactions.indices where !history.transactions[index].isShared {
      // Matches the case because == compares raw values, which are strings.
      if case .nonRenewingSubscription = facts.transactions[index].type { nonRenewing.append(index) }
      guard case .nonConsumable = facts.transactions[index].type else { continue }
      let fact = facts.transactions[index]
      let owned = Self.posting(.nonConsumableOwned, fact, history, at: fact.purchaseDate)
      postings.append(owned)
      addReversals(fact, owned, until: .openEnd)
      guard let revoked = fact.revocationDate else { continue }
      postings.append(owned.with { ($0.effectiveAt, $0.count) = (max(revoked, fact.purchaseDate), -1) })
    }
    addRunning(nonRenewing, facts, history, app)
  }

  /// Adds non-renewing subscriptions in the duration that the catalog states. A purchase that is made while another one
  /// of the product runs begins at its end, as in the evaluation of access.
  private mutating func addRunning(
    _ indices: [Int], _ facts: borrowing CustomerFacts, _ history: borrowing PayerHistory,
    _ app: borrowing AppDefinition
  ) {
    var ends: [String: Instant] = [:]
    let transactions = facts.transactions
    let inOrder = indices.sorted {
      (transactions[$0].purchaseDate, transactions[$0].transactionID)
        < (transactions[$1].purchaseDate, transactions[$1].transactionID)
    }
    for index in inOrder {
      let fact = facts.transactions[index]
      guard let duration = app.products[fact.productID]?.duration else { continue }
      let start = max(fact.purchaseDate, ends[fact.productID] ?? fact.purchaseDate)
      let end = fact.nonRenewingEnd(from: start, duration: duration)
      ends[fact.productID] = end
      guard start < end else { continue }
      let running = Self.posting(.seasonRunning, fact, history, at: start)
      postings.append(running)
      addReversals(fact, running, until: end)
      postings.append(running.with { ($0.effectiveAt, $0.count) = (end, -1) })
    }
  }

  /// Takes the times between refunds and their reversals out of a stock that ends at `end`.
  private mutating func addReversals(_ fact: TransactionFact, _ owned: Posting, until end: Instant) {
    for past in fact.reversedRefunds {
      let from = max(past.refund.date, owned.effectiveAt)
      let until = min(past.reversedAt, end)
      guard from < until else { continue }
      postings.append(owned.with { ($0.effectiveAt, $0.count) = (from, -1) })
      postings.append(owned.with { $0.effectiveAt = until })
    }
  }

  private static func posting(
    _ kind: Posting.Kind, _ fact: TransactionFact, _ history: borrowing PayerHistory, at instant: Instant
  ) -> Posting {
    Posting(
      kind, at: instant, line: fact.originalTransactionID, transactionID: fact.transactionID,
      Posting.Dimensions(fact, history.groups)
    ).with { $0.count = 1 }
  }
}
