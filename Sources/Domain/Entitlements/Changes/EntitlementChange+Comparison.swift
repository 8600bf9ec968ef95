package import AppStore

extension EntitlementChange {
  /// What happened to one entitlement whose answer was `before` and is `after` now: nothing if they mean
  /// the same, and mostly one thing. More than one only where two things became true at once, such as a
  /// renewal of a subscription that will not renew again.
  package static func changes(
    of entitlement: String, from before: EntitlementStatus, to after: EntitlementStatus,
    by cause: ChangeCause, at now: Instant
  ) -> [EntitlementChange] {
    kinds(before, after, cause).map { kind in
      EntitlementChange(
        entitlement: entitlement, kind: kind, effectiveAt: effect(of: kind, after, cause, now),
        before: before, after: after)
    }
  }

  private static func kinds(
    _ before: EntitlementStatus, _ after: EntitlementStatus, _ cause: ChangeCause
  ) -> [Kind] {
    switch (before.isEntitled, after.isEntitled) {
    case (false, true): [beginning(before, after, cause)]
    case (true, false): [end(before, after, cause)]
    case (true, true): continuation(before, after, cause) + renewalChanges(before, after)
    case (false, false): lapse(before, after)
    }
  }

  private static func beginning(
    _ before: EntitlementStatus, _ after: EntitlementStatus, _ cause: ChangeCause
  ) -> Kind {
    if cause == .ownership { return .transferred }
    if after.state == .offPlatform { return .granted }
    if after.state == .gracePeriod { return .enteredGracePeriod }
    let isSameLine = before.deciding?.originalTransactionID == after.deciding?.originalTransactionID
    let isSamePurchase = before.deciding?.transactionID == after.deciding?.transactionID
    switch before.state {
    case .refundedForAppIssue where isSamePurchase, .refundedForOtherReason where isSamePurchase:
      return .refundReversed
    case .billingRetry where isSameLine, .lapsedForBilling where isSameLine && !isSamePurchase:
      return .recovered
    default:
      // Nobody had left: the news of the renewal came later than the end of the period.
      return isSameLine && !isSamePurchase && before.reason == .expired ? .renewed : .started
    }
  }

  private static func end(
    _ before: EntitlementStatus, _ after: EntitlementStatus, _ cause: ChangeCause
  ) -> Kind {
    switch (cause, after.reason) {
    case (.ownership, _): .transferred
    case (.grant, _): .grantRevoked
    case (_, .refunded), (_, .refundedForAppIssue): .refunded
    case (_, .familySharingEnded): .revoked
    case (_, .billingRetry): .enteredBillingRetry
    default: .ended
    }
  }

  /// What happened to access that goes on; the first question that has an answer decides.
  private static func continuation(
    _ before: EntitlementStatus, _ after: EntitlementStatus, _ cause: ChangeCause
  ) -> [Kind] {
    let isSameLine = before.deciding?.originalTransactionID == after.deciding?.originalTransactionID
    let isSamePurchase = before.deciding?.transactionID == after.deciding?.transactionID
    if cause == .ownership, !isSameLine || before.until != after.until { return [.transferred] }
    if cause == .grant, before.until != after.until || before.accessLevel != after.accessLevel {
      let gives = isLater(after.until, than: before.until) || before.accessLevel < after.accessLevel
      return [gives ? .granted : .grantRevoked]
    }
    if after.state == .gracePeriod, before.state != .gracePeriod { return [.enteredGracePeriod] }
    if before.state == .gracePeriod, after.state != .gracePeriod, isSameLine { return [.recovered] }
    if after.state == .offPlatform, before.state != .offPlatform { return [.granted] }
    if before.state == .offPlatform, after.state != .offPlatform {
      return [cause == .grant ? .grantRevoked : .started]
    }
    if before.deciding?.productID != after.deciding?.productID { return [.productChanged] }
    if isLater(after.until, than: before.until) {
      // A renewal that is charged early joins the period that runs; that one's own end stays what it was.
      return isSamePurchase && before.checkAgainAt != after.checkAgainAt ? [.extended] : [.renewed]
    }
    if isLater(before.until, than: after.until) { return [.shortened] }
    if before.accessLevel != after.accessLevel { return [.accessLevelChanged] }
    // The next period of what was renewed before begins: that was told.
    if !isSamePurchase {
      return cause == .time && isSameLine && before.until == after.until ? [] : [.renewed]
    }
    return before.isSameAccess(as: after) ? [] : [.reasonChanged]
  }

  private static func renewalChanges(_ before: EntitlementStatus, _ after: EntitlementStatus) -> [Kind] {
    guard before.deciding?.originalTransactionID == after.deciding?.originalTransactionID else { return [] }
    // Apple renews, and to the same product, unless it says otherwise.
    switch (before.willRenew ?? true, after.willRenew ?? true) {
    case (true, false): return [.renewalTurnedOff]
    case (false, true): return [.renewalTurnedOn]
    case (false, false): return []
    case (true, true): return before.nextProduct == after.nextProduct ? [] : [.renewalProductChanged]
    }
  }

  private static func lapse(_ before: EntitlementStatus, _ after: EntitlementStatus) -> [Kind] {
    guard before.reason != after.reason else { return [] }
    // That nothing was known and is known to give nothing now is no change of anything.
    guard before.state != .noPurchase || after.state != .noPurchase else { return [] }
    switch after.reason {
    case .refunded, .refundedForAppIssue: return [.refunded]
    case .familySharingEnded: return [.revoked]
    case .billingRetry: return [.enteredBillingRetry]
    default: return [.reasonChanged]
    }
  }

  /// Whether access that ends at `end` (`nil`: never) ends later than at `other`.
  private static func isLater(_ end: Instant?, than other: Instant?) -> Bool {
    guard let other else { return false }
    return end.map { $0 > other } ?? true
  }

  /// What ended may have ended before anybody heard of it; all else is true from when it is known.
  private static func effect(
    of kind: Kind, _ after: EntitlementStatus, _ cause: ChangeCause, _ now: Instant
  ) -> Instant {
    guard cause == .evidence, !after.isEntitled, let end = after.until else { return now }
    return min(end, now)
  }
}

extension EntitlementStatus {
  /// Whether both let the customer do the same for the same reason.
  fileprivate func isSameAccess(as other: EntitlementStatus) -> Bool {
    let reasons = [reason, other.reason]
    // Renewal turned on or off has a kind of its own.
    let isRenewalOnly = reasons.allSatisfy { $0 == .subscriptionActive || $0 == .subscriptionNotRenewing }
    return isRenewalOnly || reason == other.reason
  }

  /// What it will renew to, if to another product than the one that gives access now.
  fileprivate var nextProduct: String? {
    outlook?.productID == deciding?.productID ? nil : outlook?.productID
  }
}

extension EntitlementChange {
  /// What was taken back, or counts again, of the purchases that give `entitlement`: for the timeline, where
  /// the answer stays what it was, such as with the refund of a period that is over.
  ///
  /// A purchase that was taken back when it was first heard of is no change.
  package static func revocations(
    of entitlement: String, from before: borrowing CustomerFacts, to after: borrowing CustomerFacts,
    in app: borrowing AppDefinition, answer: EntitlementStatus, at now: Instant
  ) -> [EntitlementChange] {
    guard let rules = app.rules(of: entitlement) else { return [] }
    var changes: [EntitlementChange] = []
    for new in after.transactions where rules.products[new.productID] != nil {
      let known = before.transactions.first {
        $0.transactionID == new.transactionID && $0.originalTransactionID == new.originalTransactionID
      }
      guard let known else { continue }
      let kind: Kind
      switch (known.revocationDate, new.revocationDate) {
      case (nil, .some): kind = new.isShared ? .revoked : .refunded
      case (.some, nil): kind = .refundReversed
      case (nil, nil), (.some, .some): continue
      }
      changes.append(
        EntitlementChange(
          entitlement: entitlement, kind: kind, effectiveAt: min(new.revocationDate ?? now, now),
          before: answer, after: answer))
    }
    return changes
  }
}
