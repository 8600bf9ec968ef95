package import AppStore

extension EntitlementChange {
  /// Returns the changes between two answers about one entitlement: none if both mean the same, mostly one.
  /// There is more than one only if several things became true at once, such as the last renewal of a
  /// subscription whose auto-renew is off.
  ///
  /// Each refund, revocation and reversal in `facts` is a change, also if the answer stays the same, as after
  /// the refund of a past period. The change of access that follows from it is the same event.
  package static func changes(
    of entitlement: String, from before: EntitlementStatus, to after: EntitlementStatus,
    by cause: ChangeCause, at now: Instant, facts: FactsChange
  ) -> [EntitlementChange] {
    let reported = facts.purchases.compactMap { purchase in
      purchase.kind.ofRefund.map { kind in
        EntitlementChange(
          entitlement: entitlement, kind: kind, effectiveAt: min(purchase.effectiveAt, now), before: before,
          after: after, subject: EventSubject(purchase.transaction))
      }
    }
    let external = facts.externalRefunds.map { refund in
      EntitlementChange(
        entitlement: entitlement, kind: refund.kind, effectiveAt: min(refund.refundedAt ?? now, now),
        before: before, after: after, subject: nil)
    }
    let kinds = kinds(before, after, cause, now, facts).filter { !facts.explains($0, before, after) }
    return reported + external
      + kinds.map { kind in
        EntitlementChange(
          entitlement: entitlement, kind: kind,
          effectiveAt: facts.effect(of: kind, before, after, cause, now),
          before: before, after: after, subject: facts.subject(of: kind, before, after, cause))
      }
  }

  /// The kinds of the changes from one answer to the next. More than one only while the customer stays
  /// entitled.
  private static func kinds(
    _ before: EntitlementStatus, _ after: EntitlementStatus, _ cause: ChangeCause, _ now: Instant,
    _ facts: FactsChange
  ) -> [Kind] {
    switch (before.isEntitled, after.isEntitled) {
    case (false, true): [beginning(before, after, cause, facts)]
    case (true, false): end(after, cause)
    case (true, true): continuation(before, after, cause, now, facts) + renewalChanges(before, after)
    case (false, false): lapse(before, after, cause)
    }
  }

  /// The kind of a change from no access to access: the cause decides first, then the source of the access,
  /// then whether the same purchase had lapsed.
  private static func beginning(
    _ before: EntitlementStatus, _ after: EntitlementStatus, _ cause: ChangeCause, _ facts: FactsChange
  ) -> Kind {
    if cause == .ownership { return .transferred }
    if cause == .claim { return .claimed }
    // Whatever the state of the purchase, the holder had no access before.
    if cause == .seat { return .started }
    if after.reason == .granted { return .granted }
    if after.state == .gracePeriod { return .enteredGracePeriod }
    if after.reason == .externalActive { return .started }
    guard before.deciding?.originalTransactionID == after.deciding?.originalTransactionID else {
      return .started
    }
    guard facts.isSamePurchase(before.deciding, after.deciding) else {
      return facts.continuing(before, after)
    }
    return before.state == .billingRetry ? .recovered : .started
  }

  /// Access that ends for a failed payment is an end like any other, followed by its reason.
  private static func end(_ after: EntitlementStatus, _ cause: ChangeCause) -> [Kind] {
    switch (cause, after.reason) {
    case (.ownership, _), (.claim, _): [.transferred]
    case (.grant, _): [.grantRevoked]
    case (_, .billingRetry): [.ended, .enteredBillingRetry]
    default: [.ended]
    }
  }

  /// Returns the change of access that continues; the first rule that applies decides.
  private static func continuation(
    _ before: EntitlementStatus, _ after: EntitlementStatus, _ cause: ChangeCause, _ now: Instant,
    _ facts: FactsChange
  ) -> [Kind] {
    let isSameLine = before.deciding?.originalTransactionID == after.deciding?.originalTransactionID
    if cause == .ownership, !isSameLine || before.until != after.until { return [.transferred] }
    if cause == .claim, !isSameLine || before.until != after.until { return [.claimed] }
    if cause == .grant, before.until != after.until || before.accessLevel != after.accessLevel {
      let gives = isLater(after.until, than: before.until) || before.accessLevel < after.accessLevel
      return [gives ? .granted : .grantRevoked]
    }
    if after.state == .gracePeriod, before.state != .gracePeriod { return [.enteredGracePeriod] }
    if before.state == .gracePeriod, after.state != .gracePeriod, isSameLine { return [.recovered] }
    // A grant takes the place of a purchase, or a purchase that of a grant.
    let isFromOrToGrant = (before.reason == .granted) != (after.reason == .granted)
    if isFromOrToGrant, cause == .grant { return [after.reason == .granted ? .granted : .grantRevoked] }
    if before.reason == .granted, isFromOrToGrant, cause == .external || facts.isNew(after.deciding) {
      return [.started]
    }
    // One that was known before goes on, and was reported when it was made.
    if isFromOrToGrant {
      return [before.accessLevel == after.accessLevel ? .reasonChanged : .accessLevelChanged]
    }
    if before.source != after.source || before.productID != after.productID { return [.productChanged] }
    let (endBefore, endAfter) = (before.expectedEnd(at: now), after.expectedEnd(at: now))
    // Non-renewing subscriptions add up, and each has its own line.
    let addsUp = before.reason == .nonRenewingActive && after.reason == before.reason
    // Another purchase goes on, such as one that a family member shares. No next period was paid now: the purchase was known
    // before, or it is a first one.
    let isOther =
      !isSameLine && !(addsUp ? facts.isNew(after.deciding) : facts.isNewPeriod(after.deciding))
    let isLonger = isLater(endAfter, than: endBefore)
    // A grant or an app install may outlast the next period, too.
    let isPaidLonger =
      before.isRenewalOnly && after.isRenewalOnly && isLater(after.paidUntil, than: before.paidUntil)
    if isLonger || isPaidLonger, !isOther {
      // An early renewal joins the current period, whose own end stays the same. A longer grace period, a catalog with
      // longer access, or another purchase that outlasts this one, pays for no period.
      let isSame = facts.isSamePurchase(before.deciding, after.deciding)
      let isExtended =
        after.state == .gracePeriod || facts.isMoved(after.deciding)
        || !addsUp && cause != .external && facts.addsNoNextPeriod
      let kind: Kind = cause == .catalog || isSame && isExtended ? .extended : .renewed
      if isLonger || kind == .renewed { return [kind] }
    }
    if isLater(endBefore, than: endAfter) { return [.shortened] }
    if before.accessLevel != after.accessLevel { return [.accessLevelChanged] }
    if isOther {
      // Of those that add up, the next one was reported when it was bought.
      return addsUp ? [] : [.reasonChanged]
    }
    if !facts.isSamePurchase(before.deciding, after.deciding) {
      guard isSameLine, endBefore == endAfter else { return [.renewed] }
      // The next period, whose renewal was reported before, starts; or the period before it became known.
      return cause == .time || facts.isLater(before.deciding, than: after.deciding) ? [] : [.renewed]
    }
    return before.isSameAccess(as: after) ? [] : [.reasonChanged]
  }

  /// The changes of what happens at the end of the period. None if another purchase decides now.
  private static func renewalChanges(_ before: EntitlementStatus, _ after: EntitlementStatus) -> [Kind] {
    guard before.deciding?.originalTransactionID == after.deciding?.originalTransactionID else { return [] }
    // Without other information from Apple, a subscription renews to the same product.
    switch (before.willRenew ?? true, after.willRenew ?? true) {
    case (true, false): return [.renewalTurnedOff]
    case (false, true): return [.renewalTurnedOn]
    case (false, false): return []
    case (true, true):
      // The planned change took effect; the change of the product has a separate event.
      let isDone = after.nextProduct == nil && after.deciding?.productID == before.nextProduct
      return before.nextProduct == after.nextProduct || isDone ? [] : [.renewalProductChanged]
    }
  }

  /// The change of the reason while there is no access before and after.
  private static func lapse(
    _ before: EntitlementStatus, _ after: EntitlementStatus, _ cause: ChangeCause
  ) -> [Kind] {
    guard before.reason != after.reason else { return [] }
    // A customer without a purchase who gets a purchase that grants nothing sees no change.
    guard before.state != .noPurchase || after.state != .noPurchase else { return [] }
    if cause == .claim { return [.claimed] }
    if cause == .ownership { return [.transferred] }
    return after.reason == .billingRetry ? [.enteredBillingRetry] : [.reasonChanged]
  }

  /// Whether access that ends at `end` (`nil`: never) ends later than `other`.
  private static func isLater(_ end: Instant?, than other: Instant?) -> Bool {
    guard let other else { return false }
    return end.map { $0 > other } ?? true
  }
}

extension EntitlementStatus {
  /// The end of access as it is expected at `now`: without the time for which a renewal may be late, which depends on
  /// auto-renew, and on the clock if that time is all that is left; `nil` for no end.
  fileprivate func expectedEnd(at now: Instant) -> Instant? { endWithoutDelay.map { max($0, now) } ?? until }

  /// Whether the deciding period is paid, and only its renewal is open.
  fileprivate var isRenewalOnly: Bool {
    [.subscriptionActive, .subscriptionNotRenewing, .awaitingRenewal].contains(reason)
  }

  /// Whether both answers grant the same access for the same reason.
  fileprivate func isSameAccess(as other: EntitlementStatus) -> Bool {
    // Auto-renew changes have separate event kinds.
    isRenewalOnly && other.isRenewalOnly || reason == other.reason
  }

  /// The product of the next period if it differs from the current product.
  fileprivate var nextProduct: String? {
    outlook?.productID == deciding?.productID ? nil : outlook?.productID
  }
}
