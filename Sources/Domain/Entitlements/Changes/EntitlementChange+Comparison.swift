package import AppStore

extension EntitlementChange {
  /// Returns the changes between two answers about one entitlement: none if both mean the same, mostly one.
  /// There is more than one only if two things became true at once, such as the last renewal of a
  /// subscription whose auto-renew is off.
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
      // The customer had not left: the evidence of the renewal arrived after the end of the period.
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

  /// Returns the change of access that continues; the first rule that applies decides.
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
      // An early renewal joins the current period, whose own end stays the same.
      return isSamePurchase && before.checkAgainAt != after.checkAgainAt ? [.extended] : [.renewed]
    }
    if isLater(before.until, than: after.until) { return [.shortened] }
    if before.accessLevel != after.accessLevel { return [.accessLevelChanged] }
    // The next period, whose renewal was reported before, starts.
    if !isSamePurchase {
      return cause == .time && isSameLine && before.until == after.until ? [] : [.renewed]
    }
    return before.isSameAccess(as: after) ? [] : [.reasonChanged]
  }

  private static func renewalChanges(_ before: EntitlementStatus, _ after: EntitlementStatus) -> [Kind] {
    guard before.deciding?.originalTransactionID == after.deciding?.originalTransactionID else { return [] }
    // Without other information from Apple, a subscription renews to the same product.
    switch (before.willRenew ?? true, after.willRenew ?? true) {
    case (true, false): return [.renewalTurnedOff]
    case (false, true): return [.renewalTurnedOn]
    case (false, false): return []
    case (true, true): return before.nextProduct == after.nextProduct ? [] : [.renewalProductChanged]
    }
  }

  private static func lapse(_ before: EntitlementStatus, _ after: EntitlementStatus) -> [Kind] {
    guard before.reason != after.reason else { return [] }
    // A customer without a purchase who gets a purchase that grants nothing sees no change.
    guard before.state != .noPurchase || after.state != .noPurchase else { return [] }
    switch after.reason {
    case .refunded, .refundedForAppIssue: return [.refunded]
    case .familySharingEnded: return [.revoked]
    case .billingRetry: return [.enteredBillingRetry]
    default: return [.reasonChanged]
    }
  }

  /// Whether access that ends at `end` (`nil`: never) ends later than `other`.
  private static func isLater(_ end: Instant?, than other: Instant?) -> Bool {
    guard let other else { return false }
    return end.map { $0 > other } ?? true
  }

  /// An end can precede the arrival of its evidence; every other change takes effect when it is known.
  private static func effect(
    of kind: Kind, _ after: EntitlementStatus, _ cause: ChangeCause, _ now: Instant
  ) -> Instant {
    guard cause == .evidence, !after.isEntitled, let end = after.until else { return now }
    return min(end, now)
  }
}

extension EntitlementStatus {
  /// Whether both answers grant the same access for the same reason.
  fileprivate func isSameAccess(as other: EntitlementStatus) -> Bool {
    let reasons = [reason, other.reason]
    // Auto-renew changes have event kinds of their own.
    let isRenewalOnly = reasons.allSatisfy { $0 == .subscriptionActive || $0 == .subscriptionNotRenewing }
    return isRenewalOnly || reason == other.reason
  }

  /// The product of the next period if it differs from the current product.
  fileprivate var nextProduct: String? {
    outlook?.productID == deciding?.productID ? nil : outlook?.productID
  }
}

extension EntitlementChange {
  /// Returns the refunds, revocations and their reversals among purchases that grant `entitlement`. They are
  /// reported on the timeline even if the answer stays the same, as after the refund of a past period.
  ///
  /// A purchase that was already revoked when it first arrived causes no change.
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
