/// What kind of product an in-app purchase is (Apple's `type`).
package enum ProductType: OpenCode {
  case autoRenewableSubscription
  case nonConsumable
  case consumable
  case nonRenewingSubscription
  case unrecognized(String)

  package static let known: [ProductType] = [
    .autoRenewableSubscription, .nonConsumable, .consumable, .nonRenewingSubscription,
  ]

  package var rawValue: String {
    switch self {
    case .autoRenewableSubscription: "Auto-Renewable Subscription"
    case .nonConsumable: "Non-Consumable"
    case .consumable: "Consumable"
    case .nonRenewingSubscription: "Non-Renewing Subscription"
    case .unrecognized(let rawValue): rawValue
    }
  }
}

/// How a customer came to a purchase (Apple's `inAppOwnershipType`).
package enum InAppOwnershipType: OpenCode {
  /// Bought by this customer.
  case purchased
  /// Shared by the family member who bought it.
  case familyShared
  /// A seat of an organisation's or a group's purchase.
  case assigned
  case unrecognized(String)

  package static let known: [InAppOwnershipType] = [.purchased, .familyShared, .assigned]

  package var rawValue: String {
    switch self {
    case .purchased: "PURCHASED"
    case .familyShared: "FAMILY_SHARED"
    case .assigned: "ASSIGNED"
    case .unrecognized(let rawValue): rawValue
    }
  }
}

/// Why there is a transaction (Apple's `transactionReason`).
package enum TransactionReason: OpenCode {
  /// The customer bought it.
  case purchase
  /// Apple renewed the subscription.
  case renewal
  case unrecognized(String)

  package static let known: [TransactionReason] = [.purchase, .renewal]

  package var rawValue: String {
    switch self {
    case .purchase: "PURCHASE"
    case .renewal: "RENEWAL"
    case .unrecognized(let rawValue): rawValue
    }
  }
}

/// The kind of offer a subscription period was bought with (Apple's `offerType`).
package enum OfferType: OpenCode {
  case introductory
  case promotional
  case offerCode
  case winBack
  case unrecognized(Int64)

  package static let known: [OfferType] = [.introductory, .promotional, .offerCode, .winBack]

  package var rawValue: Int64 {
    switch self {
    case .introductory: 1
    case .promotional: 2
    case .offerCode: 3
    case .winBack: 4
    case .unrecognized(let rawValue): rawValue
    }
  }
}

/// How an offer is paid for (Apple's `offerDiscountType`).
package enum OfferDiscountType: OpenCode {
  case freeTrial
  case payAsYouGo
  case payUpFront
  case oneTime
  case unrecognized(String)

  package static let known: [OfferDiscountType] = [.freeTrial, .payAsYouGo, .payUpFront, .oneTime]

  package var rawValue: String {
    switch self {
    case .freeTrial: "FREE_TRIAL"
    case .payAsYouGo: "PAY_AS_YOU_GO"
    case .payUpFront: "PAY_UP_FRONT"
    case .oneTime: "ONE_TIME"
    case .unrecognized(let rawValue): rawValue
    }
  }
}

/// Why Apple refunded a transaction or took it back (Apple's `revocationReason`).
package enum RevocationReason: OpenCode {
  case other
  /// An actual or perceived issue with the app.
  case appIssue
  case unrecognized(Int64)

  package static let known: [RevocationReason] = [.other, .appIssue]

  package var rawValue: Int64 {
    switch self {
    case .other: 0
    case .appIssue: 1
    case .unrecognized(let rawValue): rawValue
    }
  }
}

/// What kind of revocation took a transaction back (Apple's `revocationType`).
package enum RevocationType: OpenCode {
  case refundFull
  case refundProrated
  /// Family Sharing ended for this customer.
  case familyRevoke
  case unrecognized(String)

  package static let known: [RevocationType] = [.refundFull, .refundProrated, .familyRevoke]

  package var rawValue: String {
    switch self {
    case .refundFull: "REFUND_FULL"
    case .refundProrated: "REFUND_PRORATED"
    case .familyRevoke: "FAMILY_REVOKE"
    case .unrecognized(let rawValue): rawValue
    }
  }
}

/// How a subscription with a commitment is billed (Apple's `billingPlanType`).
package enum BillingPlanType: OpenCode {
  case billedUpfront
  case monthly
  case unrecognized(String)

  package static let known: [BillingPlanType] = [.billedUpfront, .monthly]

  package var rawValue: String {
    switch self {
    case .billedUpfront: "BILLED_UPFRONT"
    case .monthly: "MONTHLY"
    case .unrecognized(let rawValue): rawValue
    }
  }
}

/// Who invites the members of a group to their seats (Apple's `invitationManagement`).
package enum InvitationManagement: OpenCode {
  /// Apple: each member has an `ASSIGNED` transaction of their own.
  case apple
  /// The developer: members have no transaction, the server keeps the record.
  case developer
  case unrecognized(String)

  package static let known: [InvitationManagement] = [.apple, .developer]

  package var rawValue: String {
    switch self {
    case .apple: "APPLE"
    case .developer: "DEVELOPER"
    case .unrecognized(let rawValue): rawValue
    }
  }
}

/// The platform on which an app was first bought (Apple's `originalPlatform`).
package enum PurchasePlatform: OpenCode {
  case iOS
  case macOS
  case tvOS
  case visionOS
  case unrecognized(String)

  package static let known: [PurchasePlatform] = [.iOS, .macOS, .tvOS, .visionOS]

  package var rawValue: String {
    switch self {
    case .iOS: "iOS"
    case .macOS: "macOS"
    case .tvOS: "tvOS"
    case .visionOS: "visionOS"
    case .unrecognized(let rawValue): rawValue
    }
  }
}
