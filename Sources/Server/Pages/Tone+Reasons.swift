extension Tone {
  /// The tone of an answer by its stable reason.
  package init(reason: String, entitled: Bool) {
    switch reason {
    case "IN_GRACE_PERIOD", "IN_OPERATOR_GRACE_PERIOD": self = .grace
    case "BILLING_RETRY": self = .retry
    case "TRIAL_ACTIVE": self = .trial
    case "GRANTED": self = .grant
    case "REFUNDED", "REFUNDED_FOR_APP_ISSUE", "FAMILY_SHARING_ENDED", "GRANT_REVOKED", "CONSENT_RESCINDED",
      "EXTERNAL_PURCHASE_REFUNDED":
      self = .none
    default: self = entitled ? .full : .ended
    }
  }

  /// The tone of an event by its stable type.
  package init(event type: String) {
    switch type {
    case "STARTED", "RENEWED", "RECOVERED", "EXTENDED", "RENEWAL_TURNED_ON", "REFUND_REVERSED", "PURCHASED",
      "PRODUCT_CHANGED", "CONSENT_GIVEN", "CLAIMED":
      self = .full
    case "ENTERED_GRACE_PERIOD", "REFUND_REQUESTED", "CLAIM_REFUSED", "CLAIMED_BY_ANOTHER": self = .grace
    case "ENTERED_BILLING_RETRY": self = .retry
    case "REFUNDED", "REVOKED", "GRANT_REVOKED", "REFUND_REQUEST_MISSED", "CONSENT_RESCINDED": self = .none
    case "GRANTED": self = .grant
    default: self = .ended
    }
  }
}
