package import AppStore

/// What became of one customer's own purchases: the milestones that an operator counts, and the times in which
/// they were in force, in trial, in grace, in billing retry or at risk.
///
/// What a family member or a seat shares is not among them: they neither pay nor leave.
package struct SubscriptionHistory: Hashable, Sendable {
  /// Something that happened once.
  package struct Milestone: Hashable, Sendable {
    /// What happened.
    package enum Kind: Hashable, Sendable, CaseIterable {
      /// A purchase by somebody who did not have it: the first, or one after a lapse.
      case started
      /// The first period that was paid for behind a free trial.
      case convertedFromTrial
      /// Left by cancelling or by not agreeing to a price (`expirationIntent` 1 and 3).
      case churnedVoluntarily
      /// Left because a payment failed for good (2).
      case churnedInvoluntarily
      /// Left for a reason that is neither: the product went away, or Apple does not say.
      case churnedOtherwise
      /// A failed payment succeeded in the grace period.
      case recoveredInGracePeriod
      /// A failed payment succeeded later.
      case recoveredAfterGracePeriod
      case refunded
    }

    /// What happened.
    package let kind: Kind
    /// When; a churn is dated back to the end of access, also where billing retry ended later.
    package let at: Instant
    /// The product it happened to.
    package let productID: String
    /// The purchase or period that shows it.
    package let transactionID: String
  }

  /// A stretch of time.
  package struct Span: Hashable, Sendable {
    /// What was the case.
    package enum Kind: Hashable, Sendable, CaseIterable {
      /// In force; trial and grace are too.
      case active
      /// In a free trial.
      case trial
      /// In Apple's grace period.
      case gracePeriod
      /// Not in force, and Apple tries to charge.
      case billingRetry
      /// In force, and the customer turned renewal off.
      case atRisk
    }

    /// What was the case.
    package let kind: Kind
    /// With which product.
    package let productID: String
    /// From when.
    package let start: Instant
    /// Up to, not including, when; `nil` if it has no end.
    package let end: Instant?

    /// Whether it was the case at `now`.
    package func covers(_ now: Instant) -> Bool { start <= now && end.map { now < $0 } ?? true }
  }

  /// What happened, by purchase line.
  package private(set) var milestones: [Milestone] = []
  /// What was the case and for how long.
  package private(set) var spans: [Span] = []

  /// What `facts` tell up to `now`.
  package init(_ facts: borrowing CustomerFacts, in app: borrowing AppDefinition, at now: Instant) {
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
      // Several transactions can stand for one period, which began once and ends once.
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
      if let renewal = facts.renewal(describing: index), facts.renewals[renewal].autoRenewStatus == .off {
        add(.atRisk, max(interval.start, facts.renewals[renewal].signedDate), interval.end, productID)
      }
    case .operatorGrace, .nonRenewing, .nonConsumable, .boughtBefore, .grant, .nonEntitling, .sharingDenied:
      break
    }
  }

  /// What the period at `index` says of how the one before it in its line ended.
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
      // Who came back had left; why is no longer known, and who cancels is who comes back.
      if before.accessRevokedAt == nil { add(.churnedVoluntarily, end, before) }
      return add(.started, transaction.purchaseDate, transaction)
    case nil: break
    }
    if before.offerDiscountType == .freeTrial, transaction.offerDiscountType != .freeTrial {
      add(.convertedFromTrial, transaction.purchaseDate, transaction)
    }
  }

  /// Why the last period of a line was the last.
  private mutating func addEnd(
    _ index: Int, _ facts: borrowing CustomerFacts, _ intervals: AccessIntervals, _ now: Instant
  ) {
    let ofPeriod = intervals.all.filter { $0.transaction == index }
    guard let last = ofPeriod.max(by: { $0.end < $1.end }), last.end <= now else { return }
    let transaction = facts.transactions[index]
    switch lapseReason(of: last, facts, at: now) {
    case .cancelled, .priceIncreaseNotAccepted: add(.churnedVoluntarily, last.end, transaction)
    case .billingLapsed:
      add(.churnedInvoluntarily, last.end, transaction)
      add(.billingRetry, last.end, facts.billingRetryEnd(index), transaction.productID)
    case .billingRetry: add(.billingRetry, last.end, facts.billingRetryEnd(index), transaction.productID)
    case .expired, .productUnavailable: add(.churnedOtherwise, last.end, transaction)
    default: break
    }
  }
}

extension CustomerFacts {
  /// Whether no transaction before the one at `index` is about the same period.
  fileprivate func isFirstOfPeriod(_ index: Int) -> Bool {
    index == 0 || transactions[index - 1].originalTransactionID != transactions[index].originalTransactionID
      || transactions[index - 1].purchaseDate != transactions[index].purchaseDate
  }

  /// The first transaction about the period before the one at `index`, of the same line.
  fileprivate func previousInLine(before index: Int) -> Int? {
    guard index > 0,
      transactions[index - 1].originalTransactionID == transactions[index].originalTransactionID
    else { return nil }
    var previous = index - 1
    while !isFirstOfPeriod(previous) { previous -= 1 }
    return previous
  }
}

extension EntitlementRules {
  /// Rules by which every product counts, those too that the catalog does not have.
  fileprivate static func ownership(
    _ facts: borrowing CustomerFacts, in app: borrowing AppDefinition
  ) -> EntitlementRules {
    var products: [String: EntitlingProduct] = [:]
    for index in facts.transactions.indices {
      let productID = facts.transactions[index].productID
      products[productID] = EntitlingProduct(
        duration: app.products[productID]?.duration, level: .full, operatorGrace: nil)
    }
    return EntitlementRules(
      entitlement: "", products: products, familySharing: .allow, boughtBefore: [], knownProducts: [])
  }
}
