package import AppStore

// The kind of the event that a change of facts makes of a change of access.
extension FactsChange {
  /// Returns the way in which access came back with another transaction of the same subscription: renewed, recovered,
  /// or started again after a lapse (`RESUBSCRIBE`).
  func continuing(_ before: EntitlementStatus, _ after: EntitlementStatus) -> EntitlementChange.Kind {
    guard let next = after.deciding.flatMap({ self.after.index($0) }),
      let last = self.after.predecessor(of: next)
    else { return .started }
    let (old, new) = (self.after.transactions[last], self.after.transactions[next])
    guard let paidUntil = old.revocationDate ?? old.expiresDate else { return .started }
    // The customer had not left: the evidence of the renewal arrived after the end of the period.
    if new.purchaseDate <= paidUntil { return .renewed }
    let isInRetryTime = new.purchaseDate.milliseconds(since: paidUntil) <= old.billingRetryLength
    switch new.details.transactionReason {
    case .purchase: return .started
    case .renewal:
      if before.state == .billingRetry { return .recovered }
      // A refund, or an end of sharing of a member who joined again, explains the gap.
      if let revoked = old.revocationDate, let expiry = old.expiresDate, revoked < expiry,
        !self.after.hasFailedRenewal(after: last)
      {
        return .started
      }
      if self.after.gap(after: last, before: next, slack: slack) != nil { return .renewed }
      return isInRetryTime ? .recovered : .started
    case nil, .unrecognized:
      // Older documents have no reason.
      let hadFailed = before.state == .billingRetry || before.state == .lapsedForBilling
      return hadFailed && isInRetryTime ? .recovered : .started
    }
  }

  /// Whether a refund, a reversal or an end of sharing is the whole reason of a change of access. Its own event
  /// then reports the change.
  func explains(
    _ kind: EntitlementChange.Kind, _ before: EntitlementStatus, _ after: EntitlementStatus
  ) -> Bool {
    let refunds = purchases.filter { $0.kind != .purchased }
    guard !refunds.isEmpty || !externalRefunds.isEmpty else { return false }
    switch kind {
    case .renewalTurnedOff, .renewalTurnedOn, .renewalProductChanged, .enteredGracePeriod, .recovered:
      return false
    case .ended, .enteredBillingRetry:
      let deciding = [before.deciding, after.deciding].compactMap { transaction($0) }
      return !externalRefunds.isEmpty
        || refunds.contains { refund in
          deciding.contains { $0.isSame(as: refund.purchase) || $0.isCopy(of: refund.purchase) }
        }
    case .extended: return false
    case .renewed where newPeriod(after: after.deciding) != nil: return false
    // The same state of a purchase in another store can have a later end.
    case .renewed where externalRefunds.contains { $0.kind == .refunded }: return false
    default:
      // A purchase that is new in the same write has a separate event.
      return transaction(after.deciding).map { !isNew($0) || $0.revocationDate != nil } ?? true
    }
  }

  /// The transaction that the event of a change of access is about.
  func subject(
    of kind: EntitlementChange.Kind, _ before: EntitlementStatus, _ after: EntitlementStatus,
    _ cause: ChangeCause
  ) -> EventSubject? {
    switch cause {
    case .grant, .external: return nil
    case .ownership, .claim:
      let moved = movedLines
      let isMoved = { (deciding: DecidingTransaction?) in
        moved.contains { $0.originalTransactionID == deciding?.originalTransactionID }
      }
      if !isMoved(after.deciding), !isMoved(before.deciding), let last = moved.last {
        return EventSubject(last)
      }
      return subject(isMoved(after.deciding) ? after.deciding : before.deciding ?? after.deciding)
    case .evidence, .seat, .time, .catalog:
      if kind == .renewed, let renewal = newPeriod(after: after.deciding) { return EventSubject(renewal) }
      return subject(after.deciding ?? before.deciding)
    }
  }

  /// The new period of the same line after the one that an answer rests on: Apple renews up to a day early.
  private func newPeriod(after deciding: DecidingTransaction?) -> TransactionFact? {
    guard let current = transaction(deciding) else { return nil }
    return after.range(ofLine: current.originalTransactionID).last { index in
      order(after.transactions[index].expiresDate) > order(current.expiresDate)
        && isNew(after.transactions[index]) && !after.isReplacedBeforeStart(index)
    }.map { after.transactions[$0] }
  }

  private func subject(_ deciding: DecidingTransaction?) -> EventSubject? {
    transaction(deciding).map(EventSubject.init) ?? deciding.map(EventSubject.init)
  }

  /// When a change of access became true: at the purchase, the end or the signature that states it, never after
  /// it was recorded.
  func effect(
    of kind: EntitlementChange.Kind, _ before: EntitlementStatus, _ after: EntitlementStatus,
    _ cause: ChangeCause, _ now: Instant
  ) -> Instant {
    guard cause == .evidence else { return now }
    let transaction = transaction(after.deciding)
    let stated: Instant? =
      switch kind {
      case .started, .renewed, .recovered, .productChanged:
        transaction.flatMap { isNew($0) ? $0.purchaseDate : nil }
      case .enteredGracePeriod: transaction?.expiresDate
      case .ended, .enteredBillingRetry, .reasonChanged: after.isEntitled ? nil : after.until
      case .extended, .shortened: isMoved(after.deciding) ? transaction?.signedDate : nil
      case .renewalTurnedOff, .renewalTurnedOn, .renewalProductChanged:
        self.after.renewals.filter { $0.originalTransactionID == after.deciding?.originalTransactionID }
          .map(\.signedDate).max()
      default: nil
      }
    return min(stated ?? now, now)
  }
}

extension PurchaseChange.Kind {
  /// The kind of event; `nil` for a purchase, whose access has a separate event.
  var ofRefund: EntitlementChange.Kind? {
    switch self {
    case .purchased: nil
    case .refunded: .refunded
    case .refundReversed: .refundReversed
    case .revoked: .revoked
    }
  }
}

// Events of purchases, whether or not they grant an entitlement.
extension EntitlementChange {
  /// Returns the purchases of products other than auto-renewable subscriptions, one event each, with `nothing`
  /// as both answers.
  package static func purchases(in facts: FactsChange, at now: Instant) -> [EntitlementChange] {
    facts.purchases.filter { $0.kind == .purchased }.map { purchase in
      withoutEntitlement(.purchased, EventSubject(purchase.transaction), at: min(purchase.effectiveAt, now))
    }
  }

  /// Returns the refunds and reversals of purchases that grant no entitlement.
  package static func refunds(
    in facts: FactsChange, of app: AppDefinition, at now: Instant
  ) -> [EntitlementChange] {
    facts.purchases.compactMap { purchase in
      guard let kind = purchase.kind.ofRefund, !app.grantsAnything(purchase.purchase.productID) else {
        return nil
      }
      return withoutEntitlement(kind, EventSubject(purchase.transaction), at: min(purchase.effectiveAt, now))
    }
  }

  /// Returns an event for each gained line that `found` has no event of: a consumable, or a purchase that
  /// decides nothing.
  package static func claims(
    in facts: FactsChange, of app: AppDefinition, at now: Instant, besides found: [EntitlementChange],
    answer: (String) -> EntitlementStatus
  ) -> [EntitlementChange] {
    let named = Set(found.filter { $0.kind == .claimed }.compactMap(\.subject?.originalTransactionID))
    return facts.gainedLines.filter { !named.contains($0.originalTransactionID) }.map { transaction in
      let subject = EventSubject(transaction)
      guard let entitlement = app.products[transaction.productID]?.entitlements.first else {
        return withoutEntitlement(.claimed, subject, at: now)
      }
      let status = answer(entitlement)
      return EntitlementChange(
        entitlement: entitlement, kind: .claimed, effectiveAt: now, before: status, after: status,
        subject: subject)
    }
  }

  /// An event about no entitlement.
  package static func withoutEntitlement(
    _ kind: Kind, _ subject: EventSubject?, at effectiveAt: Instant
  ) -> EntitlementChange {
    let nothing = EntitlementStatus(.unknownEntitlement)
    return EntitlementChange(
      entitlement: "", kind: kind, effectiveAt: effectiveAt, before: nothing, after: nothing, subject: subject
    )
  }
}

extension AppDefinition {
  /// Whether the product grants an entitlement.
  fileprivate func grantsAnything(_ productID: String) -> Bool {
    products[productID]?.accessLevels.isEmpty == false
  }
}
