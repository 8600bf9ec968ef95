internal import AppStore
internal import Entitlements

/// The computed members of a transaction that reports read.
///
/// It is read once for all: to ask an element of ``CustomerFacts/transactions`` for a computed member copies the transaction,
/// with about 300 bytes and a dozen reference counts.
struct ReportedTransaction {
  /// Those of the transaction before, in the same storage, if they are equal: most are.
  let dimensions: Posting.Dimensions
  /// ``TransactionFact/reportedPrice``.
  let price: Int64?
  /// ISO 4217; `nil` if Apple's document has none.
  let currency: String?
  /// Whether another customer pays for it.
  let isShared: Bool
  /// Whether it is a period of a subscription that reports count: the purchaser's own, with a start.
  let isSubscription: Bool
  /// Whether its expiry precedes its purchase.
  let isContradictory: Bool
  /// When Apple refunded or revoked it.
  let revocationDate: Instant?
  /// The end of the period before any extension.
  let firstEnd: Instant?
  /// Whether Apple refunded or revoked it, or did and reversed that.
  let isRefunded: Bool
  /// Whether an upgrade revoked it, and Apple does not state how much it returned.
  let hasUnstatedReturn: Bool
  /// The commitment that a monthly payment is part of.
  let commitment: TransactionDetails.Commitment?
  /// Whether it is a monthly payment of a commitment, also if Apple's document does not say of which one.
  let isOfCommitment: Bool
  /// Whether the customer purchased it or Apple renewed it; `nil` if Apple's document does not say.
  let reason: TransactionReason?
  /// The time for which Apple retries a failed renewal of the period, in milliseconds.
  let retryLength: Int64
  /// Apple's `previousOriginalTransactionId`.
  let predecessor: String?

  /// The transactions of a payer, in the order of ``CustomerFacts/transactions``.
  static func all(
    _ facts: borrowing CustomerFacts, _ groups: borrowing SubscriptionGroups
  ) -> [ReportedTransaction] {
    var all: [ReportedTransaction] = []
    all.reserveCapacity(facts.transactions.count)
    for index in facts.transactions.indices {
      let known = index > 0 && facts.haveSameOffer(index, index - 1) ? all[index - 1].dimensions : nil
      all.append(
        ReportedTransaction(
          facts.transactions[index], groups, known, hasUnstatedReturn: facts.hasUnstatedReturn(index)))
    }
    return all
  }

  /// - known: those of a transaction of the same product and offer.
  private init(
    _ fact: TransactionFact, _ groups: borrowing SubscriptionGroups, _ known: Posting.Dimensions?,
    hasUnstatedReturn: Bool
  ) {
    let details = fact.inDetails { Details($0) }
    let isSameStorefront = known.map { $0.storefront == details.storefront ?? "" } ?? false
    dimensions = known.flatMap { isSameStorefront ? $0 : nil } ?? Posting.Dimensions(fact, groups)
    price = fact.reportedPrice
    currency = details.currency
    isShared = fact.isShared
    isContradictory = fact.isContradictory
    isSubscription = fact.isSubscription && !isShared && !isContradictory && fact.expiresDate != nil
    revocationDate = fact.revocationDate
    firstEnd = details.firstEnd ?? fact.expiresDate
    isRefunded = details.hasReversals || fact.refundedAt != nil
    self.hasUnstatedReturn = hasUnstatedReturn
    commitment = details.commitment
    isOfCommitment = fact.isOfCommitment
    reason = details.reason
    retryLength = fact.billingRetryLength
    predecessor = details.predecessor
  }

  /// The members of a transaction's details, which are read together.
  private struct Details {
    let currency: String?
    let storefront: String?
    let firstEnd: Instant?
    let hasReversals: Bool
    let commitment: TransactionDetails.Commitment?
    let reason: TransactionReason?
    let predecessor: String?

    init(_ details: borrowing TransactionDetails) {
      currency = details.currency
      storefront = details.storefront
      firstEnd = details.firstExpiresDate
      hasReversals = !details.reversals.isEmpty
      commitment = details.commitment
      reason = details.transactionReason
      predecessor = details.previousOriginalTransactionID
    }
  }
}

extension CustomerFacts {
  /// Whether an upgrade revoked the period at `index`, and its document has no amount: the return of its rest is estimated.
  fileprivate func hasUnstatedReturn(_ index: Int) -> Bool {
    // All of a period that did not begin is returned.
    guard isRefundedForUpgrade(index), let revoked = transactions[index].revocationDate,
      transactions[index].purchaseDate <= revoked, transactions[index].revocationType != .refundFull
    else { return false }
    return transactions[index].inDetails { $0.revocationPercentage == nil }
  }

  /// Whether two transactions are of the same product and offer.
  fileprivate func haveSameOffer(_ index: Int, _ other: Int) -> Bool {
    transactions[index].productID == transactions[other].productID
      && transactions[index].subscriptionGroupID == transactions[other].subscriptionGroupID
      && transactions[index].type == transactions[other].type
      && transactions[index].offerType == transactions[other].offerType
      && transactions[index].offerDiscountType == transactions[other].offerDiscountType
  }
}
