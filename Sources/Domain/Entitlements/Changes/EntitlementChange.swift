package import AppStore

/// A change of one entitlement of one customer, or an event of one purchase.
package struct EntitlementChange: Hashable, Sendable {
  /// The kind of change. The raw values are stored in events and sent in webhooks: never change or reuse one.
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    /// Access began, also again after a lapse.
    case started = "STARTED"
    /// The next period was paid; also if access had ended because the document arrived late.
    case renewed = "RENEWED"
    /// The current period ends later than before.
    case extended = "EXTENDED"
    /// The current period ends earlier than before, and access continues until then.
    case shortened = "SHORTENED"
    /// Access ended, whatever the reason. It precedes ``enteredBillingRetry``, so a receiver needs no other kind to
    /// learn it.
    case ended = "ENDED"
    /// A payment failed, and access continues in Apple's grace period or the operator's.
    case enteredGracePeriod = "ENTERED_GRACE_PERIOD"
    /// A payment failed, and Apple retries it without access.
    case enteredBillingRetry = "ENTERED_BILLING_RETRY"
    /// A payment succeeded after it had failed, in a grace period or in billing retry.
    case recovered = "RECOVERED"
    /// Auto-renew was turned off; in a commitment, for its end.
    case renewalTurnedOff = "RENEWAL_TURNED_OFF"
    /// Auto-renew was turned on again.
    case renewalTurnedOn = "RENEWAL_TURNED_ON"
    /// Another product is planned for the next renewal, or the plan was withdrawn.
    case renewalProductChanged = "RENEWAL_PRODUCT_CHANGED"
    /// Access rests on another product.
    case productChanged = "PRODUCT_CHANGED"
    /// A transaction was refunded, which is reported even if the answer stays the same; or a purchase in another store was.
    case refunded = "REFUNDED"
    /// Apple reversed a refund.
    case refundReversed = "REFUND_REVERSED"
    /// Family sharing of a purchase ended for this customer.
    case revoked = "REVOKED"
    /// A purchase moved between customers by the operator's decision or policy.
    case transferred = "TRANSFERRED"
    /// The customer submitted a purchase that belongs to another customer; it stayed there.
    case claimRefused = "CLAIM_REFUSED"
    /// Another customer submitted a purchase of this customer; it stayed here.
    case claimedByAnother = "CLAIMED_BY_ANOTHER"
    /// The operator created a grant.
    case granted = "GRANTED"
    /// The operator revoked a grant.
    case grantRevoked = "GRANT_REVOKED"
    /// Access has another level.
    case accessLevelChanged = "ACCESS_LEVEL_CHANGED"
    /// The answer has another reason, and no other kind describes the change.
    case reasonChanged = "REASON_CHANGED"
    /// The operator changed something at Apple; the evidence has the request and Apple's response.
    case appStoreCalled = "APP_STORE_CALLED"
    /// Apple sent a consumption request, because the customer asked for a refund.
    case refundRequested = "REFUND_REQUESTED"
    /// No answer to a consumption request was sent within Apple's 12 hours.
    case refundRequestMissed = "REFUND_REQUEST_MISSED"
    /// The customer allowed sharing consumption data with Apple.
    case consentGiven = "CONSENT_GIVEN"
    /// The customer no longer allows sharing consumption data with Apple.
    case consentWithdrawn = "CONSENT_WITHDRAWN"
    /// A purchase without an owner was linked to the customer.
    case claimed = "CLAIMED"
    /// A consumable, a non-consumable or a non-renewing subscription was bought; the event has no entitlement.
    case purchased = "PURCHASED"
    /// A parent or guardian withdrew the consent that the customer uses the app (`RESCIND_CONSENT`).
    case consentRescinded = "CONSENT_RESCINDED"
    /// The customer was erased; the customer id of the event is the pseudonym.
    case customerErased = "CUSTOMER_ERASED"
    /// A state of a purchase in another store arrived after a newer one, which counts.
    case olderRevisionReceived = "OLDER_REVISION_RECEIVED"
    /// The purchase met the conditions of a saved segment.
    case segmentEntered = "SEGMENT_ENTERED"
    /// The purchase no longer meets the conditions of a saved segment.
    case segmentLeft = "SEGMENT_LEFT"
    /// The conditions of a saved segment changed, or it was deleted; the event is about no customer.
    case segmentRedefined = "SEGMENT_REDEFINED"
  }

  /// Empty if the event is about no entitlement: a purchase that grants none, a consent.
  package let entitlement: String
  /// The kind of the change; the codes are stored and part of the API.
  package let kind: Kind
  /// When the change became true, by the dates in the evidence: the purchase, the revocation or the request.
  /// It may precede the arrival of the evidence.
  package let effectiveAt: Instant
  /// The status without the new evidence, or before time changed it.
  package let before: EntitlementStatus
  /// The status with it; equal to ``before`` for events that change no answer.
  package let after: EntitlementStatus
  /// The transaction that the event is about, such as the refunded one; `nil` if it is about none. ``after``
  /// has the transaction that decides access.
  package let subject: EventSubject?

  package init(
    entitlement: String, kind: Kind, effectiveAt: Instant, before: EntitlementStatus,
    after: EntitlementStatus, subject: EventSubject? = nil
  ) {
    self.entitlement = entitlement
    self.kind = kind
    self.effectiveAt = effectiveAt
    self.before = before
    self.after = after
    self.subject = subject
  }
}

extension EntitlementChange.Kind {
  /// An English sentence that describes the change, without data of the customer.
  package var sentence: String {
    switch self {
    case .started: "Access started."
    case .renewed: "The next period was paid; access continues."
    case .extended: "The current period now ends later."
    case .shortened: "Access now ends earlier."
    case .ended: "Access ended."
    case .enteredGracePeriod: "The renewal payment failed; access continues during the grace period."
    case .enteredBillingRetry:
      "The renewal payment failed and the App Store is retrying it; there is no access meanwhile."
    case .recovered: "The failed payment was recovered."
    case .renewalTurnedOff: "Auto-renew was turned off; access continues until the end of the paid period."
    case .renewalTurnedOn: "Auto-renew was turned on."
    case .renewalProductChanged: "The subscription will renew to a different product."
    case .productChanged: "A different product grants access now."
    case .refunded: "The purchase was refunded."
    case .refundReversed: "The refund was reversed; the purchase is valid again."
    case .revoked: "The purchase is no longer shared with this customer."
    case .transferred: "A purchase was transferred between customers."
    case .claimRefused:
      "A purchase of another customer was submitted for this customer; it was not transferred."
    case .claimedByAnother:
      "A purchase of this customer was submitted for another customer; it was not transferred."
    case .granted: "The operator granted access."
    case .grantRevoked: "The operator revoked the grant."
    case .accessLevelChanged: "The access level changed."
    case .reasonChanged: "The reason for the answer changed."
    case .appStoreCalled: "The operator called the App Store about this purchase."
    case .refundRequested: "The customer requested a refund from the App Store."
    case .refundRequestMissed: "The App Store's consumption request was not answered in time."
    case .consentGiven: "The customer consented to sharing consumption data with the App Store."
    case .consentWithdrawn: "The customer withdrew the consent to share consumption data with the App Store."
    case .claimed: "A purchase without an owner was linked to this customer."
    case .purchased: "The customer bought the product."
    case .consentRescinded: "A parent or guardian withdrew the consent that the customer uses the app."
    case .customerErased: "The customer was erased; a pseudonym replaces the customer id."
    case .olderRevisionReceived:
      "An older revision of a purchase in another store arrived late; the newer one counts."
    case .segmentEntered: "The purchase entered a saved segment."
    case .segmentLeft: "The purchase left a saved segment."
    case .segmentRedefined:
      "The conditions of a saved segment changed, or it was deleted; list its customers again."
    }
  }
}

/// The cause of a reevaluation.
package enum ChangeCause: Hashable, Sendable {
  /// New evidence from Apple.
  case evidence
  /// Time passed.
  case time
  /// A purchase was unlinked or transferred.
  case ownership
  /// A purchase without an owner was linked.
  case claim
  /// A seat was claimed, given to a customer or released here.
  case seat
  /// The operator created or revoked a grant.
  case grant
  /// The operator's service reported a purchase in another store.
  case external
  /// The catalog or the rules changed.
  case catalog
}
