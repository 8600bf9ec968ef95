// The codes of transactions. Facts store a code by its position in `known`: append only.

/// The type of an in-app purchase (Apple's `type`).
package enum ProductType: OpenCode {
  /// It renews until it is cancelled, and is the only type with renewal info.
  case autoRenewableSubscription
  /// It is bought once and has no end.
  case nonConsumable
  /// It can be bought any number of times and grants no entitlement.
  case consumable
  /// It can be bought any number of times; Apple states no end, so the catalog has its duration.
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

/// The way in which a customer got a purchase (Apple's `inAppOwnershipType`).
package enum InAppOwnershipType: OpenCode {
  /// The customer's own purchase.
  case purchased
  /// Shared by the family member who purchased it.
  case familyShared
  /// An assigned seat of an organisation's or a group's purchase (API 1.22).
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

/// The origin of a transaction (Apple's `transactionReason`).
package enum TransactionReason: OpenCode {
  /// The customer made the purchase.
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

/// The reason of several transactions for one period (Apple's `additionalTransactionReason`, API 1.23). They
/// do not replace each other.
package enum AdditionalTransactionReason: OpenCode {
  /// The purchaser added seats during the period.
  case seatAddition
  case unrecognized(String)

  package static let known: [AdditionalTransactionReason] = [.seatAddition]

  package var rawValue: String {
    switch self {
    case .seatAddition: "SEAT_ADDITION"
    case .unrecognized(let rawValue): rawValue
    }
  }
}

/// The kind of offer of a purchase or period (Apple's `offerType`).
package enum OfferType: OpenCode {
  /// Apple's offer to customers who never subscribed to the group.
  case introductory
  /// An offer to present and past subscribers, which the operator's signature permits.
  case promotional
  /// An offer that the customer redeemed with a code.
  case offerCode
  /// An offer to past subscribers, which Apple shows by the rules in App Store Connect.
  case winBack
  /// Shown by Apple when the customer cancels (WWDC26-309).
  case retention
  case unrecognized(Int64)

  package static let known: [OfferType] = [
    .introductory, .promotional, .offerCode, .winBack, .retention,
  ]

  package var rawValue: Int64 {
    switch self {
    case .introductory: 1
    case .promotional: 2
    case .offerCode: 3
    case .winBack: 4
    case .retention: 5
    case .unrecognized(let rawValue): rawValue
    }
  }
}

/// The payment mode of an offer (Apple's `offerDiscountType`).
package enum OfferDiscountType: OpenCode {
  /// The period costs nothing.
  case freeTrial
  /// Each period of the offer has the reduced price.
  case payAsYouGo
  /// One payment covers all periods of the offer.
  case payUpFront
  /// One payment for a purchase that is no subscription.
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

/// Apple's reason to refund or revoke a transaction (Apple's `revocationReason`).
package enum RevocationReason: OpenCode {
  /// Any other reason, such as an accidental purchase.
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

/// The kind of a revocation (Apple's `revocationType`).
package enum RevocationType: OpenCode {
  /// The whole price was refunded.
  case refundFull
  /// The part of the price in `revocationPercentage` was refunded.
  case refundProrated
  /// Family Sharing ended for this customer.
  case familyRevoke
  /// A seat was taken back (StoreKit: Transaction.RevocationType.assignmentRevocation). Apple publishes no raw value;
  /// this one is analogous to that of `familyRevocation`.
  case assignmentRevoke
  case unrecognized(String)

  package static let known: [RevocationType] = [
    .refundFull, .refundProrated, .familyRevoke, .assignmentRevoke,
  ]

  package var rawValue: String {
    switch self {
    case .refundFull: "REFUND_FULL"
    case .refundProrated: "REFUND_PRORATED"
    case .familyRevoke: "FAMILY_REVOKE"
    case .assignmentRevoke: "ASSIGNMENT_REVOKE"
    case .unrecognized(let rawValue): rawValue
    }
  }
}

/// The billing plan of a subscription with a commitment (Apple's `billingPlanType`, API 1.21).
package enum BillingPlanType: OpenCode {
  /// One payment covers the commitment.
  case billedUpfront
  /// The commitment is paid in monthly payments.
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

/// Whether Apple or the developer invites the members of a group (Apple's `invitationManagement`, API 1.23).
package enum InvitationManagement: OpenCode {
  /// Apple invites; each member has an `ASSIGNED` transaction.
  case apple
  /// The developer invites; members have no transactions and the server stores their seats.
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

/// The platform on which an app was first purchased (Apple's `originalPlatform`).
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
