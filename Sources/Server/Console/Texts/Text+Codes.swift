internal import AppStore
internal import Pages
internal import Wire

// The texts of codes in tables. The CSV has the codes themselves.
extension Text {
  static func name(of state: EntitlementState) -> String {
    switch state {
    case .activeAutoRenewOn: "active (renews)"
    case .activeAutoRenewOff: "active (renewal is off)"
    case .nonRenewing: "active (does not renew)"
    case .lifetime: "owned"
    case .offPlatform: "granted, or bought in another store"
    case .gracePeriod: "in the grace period"
    case .missing: "never bought"
    case .billingRetry: "in billing retry"
    case .expiredBilling: "ended (not paid)"
    case .expiredPriceIncrease: "ended (price increase not accepted)"
    case .productUnavailable: "ended (product not available)"
    case .cancelled: "ended (cancelled)"
    case .upgraded: "upgraded"
    case .refundedAppIssue: "refunded (issue with the app)"
    case .refundedOther: "refunded"
    case .familySharingEnded: "sharing ended"
    case .nonRenewingExpired: "ended (its time is over)"
    case .unspecified: none
    case .unrecognized: Format.value(state, "ENTITLEMENT_STATE_")
    }
  }

  static func name(of mode: PaymentMode) -> String {
    switch mode {
    case .standard: "standard price"
    case .freeTrial: "free trial"
    case .introductoryOffer: "paid introductory offer"
    case .subscriptionOffer: "promotional offer, offer code or win-back offer"
    case .unspecified: none
    case .unrecognized: Format.value(mode, "PAYMENT_MODE_")
    }
  }

  static func name(of type: Wire.InAppOwnershipType) -> String {
    switch type {
    case .purchased: "bought by the customer"
    case .familyShared: "shared by the family"
    case .assigned: "assigned seat"
    case .unspecified: none
    case .unrecognized: Format.value(type, "IN_APP_OWNERSHIP_TYPE_")
    }
  }

  /// The customer's reason for a refund, as Apple sends it.
  static func refundReason(_ code: String) -> String {
    switch ConsumptionRequestReason(rawValue: code) {
    case .unintendedPurchase: "did not mean to buy it"
    case .fulfillmentIssue: "did not get it, or it did not work"
    case .unsatisfiedWithPurchase: "does not like it"
    case .legal: "legal reason"
    case .other: "other reason"
    case .unrecognized: Format.words(code)
    }
  }

  /// The event for which an open refund request waits, or the reason why one was not answered; `nil` for a code without a text.
  static func cause(ofRequest code: String) -> String? {
    switch code {
    case "MANUAL": "answered by people only"
    case "NO_CUSTOMER": "no customer owns the purchase"
    case "NO_CONSENT": "no consent of the customer"
    case "NO_IN_APP_PURCHASE_KEY": "no In-App Purchase key"
    case "APP_STORE_UNAVAILABLE": "Apple does not answer now"
    case "DEADLINE_PASSED": "no answer in time"
    case "NOT_THE_PURCHASER": "not bought by the customer"
    case "UNKNOWN_APP": "the app is not configured"
    default: nil
    }
  }

  /// The reason why a notification was rejected, as a phrase; a code without a text is split into words. The list of
  /// rejected notifications has the codes and the details.
  static func cause(ofRejection code: String) -> String {
    switch code {
    case "WRONG_BUNDLE": "for another bundle id"
    case "WRONG_APP": "for another Apple ID of an app"
    case "WRONG_ENVIRONMENT": "from an environment that is not configured"
    case "XCODE_NOT_ALLOWED": "from Xcode, which is not configured"
    case "NO_SHARED_SECRET": "no shared secret is configured"
    case "WRONG_SHARED_SECRET": "with another shared secret"
    case "BAD_SIGNATURE", "UNTRUSTED_ROOT", "MISSING_MARKER_OID": "not signed by Apple"
    case "CHAIN_EXPIRED_AT_SIGNING": "signed with an expired certificate"
    case "NOT_A_JWS": "not a signed document"
    case "MALFORMED_JSON": "not JSON"
    default: Format.words(code)
    }
  }

  /// How much was refunded; empty for the end of sharing (``RevocationType/familyRevoke``).
  static func refund(_ type: String) -> String {
    switch RevocationType(rawValue: type) {
    case .refundFull: "in full"
    case .refundProrated: "in part"
    case .assignmentRevoke: "seat taken back"
    case .familyRevoke: ""
    case .unrecognized: Format.words(type)
    }
  }
}
