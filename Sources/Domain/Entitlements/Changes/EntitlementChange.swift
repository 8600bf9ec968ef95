package import AppStore

/// What became different about one entitlement of one customer.
package struct EntitlementChange: Hashable, Sendable {
  /// What happened, as a code that stays the same across versions.
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    case started = "STARTED"
    case renewed = "RENEWED"
    case extended = "EXTENDED"
    case shortened = "SHORTENED"
    case ended = "ENDED"
    case enteredGracePeriod = "ENTERED_GRACE_PERIOD"
    case enteredBillingRetry = "ENTERED_BILLING_RETRY"
    case recovered = "RECOVERED"
    case renewalTurnedOff = "RENEWAL_TURNED_OFF"
    case renewalTurnedOn = "RENEWAL_TURNED_ON"
    case renewalProductChanged = "RENEWAL_PRODUCT_CHANGED"
    case productChanged = "PRODUCT_CHANGED"
    case refunded = "REFUNDED"
    case refundReversed = "REFUND_REVERSED"
    case revoked = "REVOKED"
    case transferred = "TRANSFERRED"
    case claimRefused = "CLAIM_REFUSED"
    case claimedByAnother = "CLAIMED_BY_ANOTHER"
    case granted = "GRANTED"
    case grantRevoked = "GRANT_REVOKED"
    case accessLevelChanged = "ACCESS_LEVEL_CHANGED"
    case reasonChanged = "REASON_CHANGED"
    case appStoreCalled = "APP_STORE_CALLED"
    case refundRequested = "REFUND_REQUESTED"
    case refundRequestMissed = "REFUND_REQUEST_MISSED"
    case consentGiven = "CONSENT_GIVEN"
    case consentWithdrawn = "CONSENT_WITHDRAWN"
  }

  /// What it is about.
  package let entitlement: String
  /// What happened.
  package let kind: Kind
  /// When it became true; by the clock that the rules use, which may be long before it was learned.
  package let effectiveAt: Instant
  /// The answer before.
  package let before: EntitlementStatus
  /// The answer from then on.
  package let after: EntitlementStatus

  /// A change by its parts.
  package init(
    entitlement: String, kind: Kind, effectiveAt: Instant, before: EntitlementStatus,
    after: EntitlementStatus
  ) {
    self.entitlement = entitlement
    self.kind = kind
    self.effectiveAt = effectiveAt
    self.before = before
    self.after = after
  }
}

/// Why an answer may have become another one.
package enum ChangeCause: Hashable, Sendable {
  /// A document said something new.
  case evidence
  /// Nothing but the clock.
  case time
  /// A line changed hands.
  case ownership
  /// The operator gave or took back an entitlement.
  case grant
  /// The catalog or the rules are others than before.
  case catalog
}
