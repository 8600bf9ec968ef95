package import AppStore

/// The history of one customer's own purchases: milestones, and the time spans in which a product was active,
/// in trial, in grace, in billing retry or at risk.
///
/// Shared purchases and seats are left out: their customers neither pay nor churn.
package struct SubscriptionHistory: Hashable, Sendable {
  /// An event in the history of a purchase.
  package struct Milestone: Hashable, Sendable {
    package enum Kind: Hashable, Sendable, CaseIterable {
      /// A purchase by a customer who did not own the product: the first one, or one after a lapse.
      case started
      /// The first paid period after a free trial.
      case convertedFromTrial
      /// Ended by cancellation or refused price consent (`expirationIntent` 1 and 3).
      case churnedVoluntarily
      /// Ended by a failed payment (`expirationIntent` 2).
      case churnedInvoluntarily
      /// Ended for another reason: the product was not available, or Apple sent no reason.
      case churnedOtherwise
      /// A failed payment was recovered in the grace period.
      case recoveredInGracePeriod
      /// A failed payment was recovered after it.
      case recoveredAfterGracePeriod
      case refunded
    }

    package let kind: Kind
    /// When it happened; a churn is dated to the end of access, even if billing retry ended later.
    package let at: Instant
    package let productID: String
    /// The `transactionId` of the purchase or period that shows it.
    package let transactionID: String
  }

  /// A time span in one state.
  package struct Span: Hashable, Sendable {
    package enum Kind: Hashable, Sendable, CaseIterable {
      /// Access; includes trial and grace.
      case active
      case trial
      /// Apple's grace period.
      case gracePeriod
      /// No access, and Apple retries the payment.
      case billingRetry
      /// Access with auto-renew off; in a commitment only during its last two periods.
      case atRisk
    }

    package let kind: Kind
    package let productID: String
    package let start: Instant
    /// The exclusive end; `nil`: no end.
    package let end: Instant?

    /// Whether the span contains `now`.
    package func covers(_ now: Instant) -> Bool { start <= now && end.map { now < $0 } ?? true }
  }

  /// The milestones, ordered by purchase line.
  package private(set) var milestones: [Milestone] = []
  package private(set) var spans: [Span] = []

  /// Derives the history of `facts` up to `now`.
  package init(_ facts: borrowing CustomerFacts, in app: borrowing AppDefinition, at now: Instant) {
    let facts = facts.purchases(in: app)
    let intervals = AccessIntervals(facts, .ownership(facts, in: app))
    for interval in intervals.all {
      guard let index = interval.transaction, !facts.transactions[index].isShared else { continue }
      addSpans(interval, index, facts)
    }
    for index in facts.transactions.indices where !facts.transactions[index].isShared {
      let transaction = facts.transactions[index]
      if let revoked = transaction.accessRevokedAt, revoked <= now { add(.refunded, revoked, transaction) }
      guard transaction.type == .autoRenewableSubscription else {
        add(.started, transaction.purchaseDate, transaction)
        continue
      }
      // Several transactions can cover one period, which starts and ends once.
      if facts.isFirstOfPeriod(index) { addBeginning(index, facts) }
      if facts.isFirstOfPeriod(index), facts.nextInLine(after: index) == nil {
        addEnd(index, facts, intervals, now)
      }
    }
  }

  private mutating func add(_ kind: Milestone.Kind, _ at: Instant, _ transaction: TransactionFact) {
    milestones.append(
      Milestone(
        kind: kind, at: at, productID: transaction.productID, transactionID: transaction.transactionID))
  }

  private mutating func add(_ kind: Span.Kind, _ start: Instant, _ end: Instant, _ productID: String) {
    guard start < end else { return }
    spans.append(Span(kind: kind, productID: productID, start: start, end: end.bounded))
  }
}

extension SubscriptionHistory {
  private mutating func addSpans(
    _ interval: AccessInterval, _ index: Int, _ facts: borrowing CustomerFacts
  ) {
    let productID = facts.transactions[index].productID
    add(.active, interval.start, interval.end, productID)
    switch interval.kind {
    case .grace: add(.gracePeriod, interval.start, interval.end, productID)
    case .trial: add(.trial, interval.start, interval.end, productID)
    case .subscription:
      if facts.transactions[index].offerDiscountType == .freeTrial {
        add(.trial, interval.start, interval.end, productID)
      }
      // The payments of a commitment go on after a cancellation.
      guard facts.transactions[index].details.commitment?.isEnding ?? true else { break }
      for off in facts.timesWithRenewalOff(index) {
        add(.atRisk, max(interval.start, off.start), min(interval.end, off.end), productID)
      }
    case .renewalSlack, .operatorGrace, .nonRenewing, .nonConsumable, .boughtBefore, .grant, .external,
      .nonEntitling,
      .sharingDenied:
      break
    }
  }

  /// Adds the milestones that the start of the period at `index` implies for the previous period of its line.
  private mutating func addBeginning(_ index: Int, _ facts: borrowing CustomerFacts) {
    let transaction = facts.transactions[index]
    guard let previous = facts.previousInLine(before: index) else {
      return add(.started, transaction.purchaseDate, transaction)
    }
    let before = facts.transactions[previous]
    let end = facts.paidEnd(previous, index)
    switch facts.recovery(previous, index) {
    case .inGracePeriod?:
      add(.recoveredInGracePeriod, transaction.purchaseDate, transaction)
      add(.gracePeriod, end, transaction.purchaseDate, before.productID)
    case .afterGracePeriod?:
      add(.recoveredAfterGracePeriod, transaction.purchaseDate, transaction)
      add(.billingRetry, end, transaction.purchaseDate, before.productID)
    case nil where end < transaction.purchaseDate:
      // The customer came back after a lapse. Its reason is no longer stored; it counts as voluntary, since
      // customers who come back mostly had cancelled.
      if before.accessRevokedAt == nil { add(.churnedVoluntarily, end, before) }
      return add(.started, transaction.purchaseDate, transaction)
    case nil: break
    }
    if before.offerDiscountType == .freeTrial, transaction.offerDiscountType != .freeTrial {
      add(.convertedFromTrial, transaction.purchaseDate, transaction)
    }
  }

  /// Adds the milestones of the end of a line's last period.
  private mutating func addEnd(
    _ index: Int, _ facts: borrowing CustomerFacts, _ intervals: AccessIntervals, _ now: Instant
  ) {
    let period = facts.period(at: index)
    let ofPeriod = intervals.all.filter { $0.transaction.map(period.contains) ?? false }
    guard let last = ofPeriod.max(by: { $0.end < $1.end }), last.end <= now else { return }
    let transaction = facts.transactions[index]
    let renewal = last.transaction.flatMap { facts.renewal(of: $0, at: now) }
    let retryEnd = facts.billingRetryEnd(index, facts.renewal(of: index, at: now))
    switch lapseReason(of: last, facts, renewal, at: now) {
    case .cancelled, .priceIncreaseNotAccepted: add(.churnedVoluntarily, last.end, transaction)
    case .billingLapsed:
      add(.churnedInvoluntarily, last.end, transaction)
      add(.billingRetry, last.end, retryEnd, transaction.productID)
    case .billingRetry: add(.billingRetry, last.end, retryEnd, transaction.productID)
    case .expired, .productUnavailable: add(.churnedOtherwise, last.end, transaction)
    default: break
    }
  }
}

extension CustomerFacts {
  /// Whether the transaction at `index` is the first one about its period. Added seats make a later one.
  fileprivate func isFirstOfPeriod(_ index: Int) -> Bool {
    guard beginning(ofPeriodAt: index) == index else { return false }
    guard index > 0,
      transactions[index - 1].originalTransactionID == transactions[index].originalTransactionID
    else { return true }
    return transactions[index - 1].purchaseDate != transactions[index].purchaseDate
  }

  /// The transaction that stands for the previous period of the same line.
  fileprivate func previousInLine(before index: Int) -> Int? {
    guard index > 0,
      transactions[index - 1].originalTransactionID == transactions[index].originalTransactionID
    else { return nil }
    return standing(ofPeriodAt: index - 1)
  }
}

extension EntitlementRules {
  /// Rules under which every purchased product grants access, including those missing from the catalog.
  fileprivate static func ownership(
    _ facts: borrowing CustomerFacts, in app: borrowing AppDefinition
  ) -> EntitlementRules {
    var products: [String: EntitlingProduct] = [:]
    for index in facts.transactions.indices {
      let productID = facts.transactions[index].productID
      products[productID] = EntitlingProduct(
        duration: app.products[productID]?.duration, level: .full, operatorGrace: nil)
    }
    // Reports count paid time, so a period ends when Apple says.
    return EntitlementRules(
      entitlement: "", products: products, familySharing: .allow, boughtBefore: [], knownProducts: [],
      renewal: .exact)
  }
}
