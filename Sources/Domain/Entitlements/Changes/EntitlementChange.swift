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

extension EntitlementChange.Kind {
  /// What happened, in a sentence without a name or a number of the customer.
  package var sentence: String {
    switch self {
    case .started: "Access began."
    case .renewed: "Access goes on: the next period was paid for."
    case .extended: "The period that is running now ends later."
    case .shortened: "Access now ends earlier."
    case .ended: "Access ended."
    case .enteredGracePeriod: "The renewal could not be charged; access goes on in the grace period."
    case .enteredBillingRetry:
      "The renewal could not be charged and the App Store goes on trying; access ended."
    case .recovered: "The payment succeeded after it had failed."
    case .renewalTurnedOff: "Renewal was turned off; access goes on to the end of what is paid."
    case .renewalTurnedOn: "Renewal was turned on."
    case .renewalProductChanged: "The subscription will renew to another product."
    case .productChanged: "Another product gives access now."
    case .refunded: "The purchase was refunded."
    case .refundReversed: "A refund was taken back; the purchase counts again."
    case .revoked: "The purchase is no longer shared with this customer."
    case .transferred: "A purchase changed hands."
    case .claimRefused: "Somebody else's purchase was handed in for this customer; it stays where it is."
    case .claimedByAnother: "This customer's purchase was handed in for somebody else; it stays where it is."
    case .granted: "The operator gave access."
    case .grantRevoked: "The operator took access back."
    case .accessLevelChanged: "Access gives more, or less, than before."
    case .reasonChanged: "The reason for the answer changed."
    case .appStoreCalled: "The operator asked the App Store to do something about this purchase."
    case .refundRequested: "The customer asks the App Store for a refund."
    case .refundRequestMissed: "The App Store's question about a refund was not answered in time."
    case .consentGiven: "The customer agreed that the App Store is told how much of a purchase was used."
    case .consentWithdrawn: "The customer no longer agrees that the App Store is told how much was used."
    }
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
