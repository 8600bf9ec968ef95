internal import AppStore

// The members of actions, for forms and help texts.
extension Action {
  /// The members that may be absent.
  package var optionalMembers: Set<String> {
    switch self {
    case .purchases: Set(members).subtracting(["app", "productId"])
    case .restore: ["newDevice"]
    case .gracePeriod: ["renewalType"]
    case .commitmentRules, .sharingRules, .delivery, .periods, .renewalTiming, .futureDocuments:
      Set(members).subtracting(["app"])
    case .price: ["billingPlanType", "needsConsent", "notice", "storefront"]
    case .withdraw: ["withdrawn"]
    case .offers: ["periods", "price", "billingPlanType"]
    case .extend: ["requestIdentifier"]
    case .massExtend: ["storefronts"]
    case .extensionTime: ["by"]
    case .requestConsumption: ["reason"]
    case .refund: ["percent", "reason"]
    case .volumePricing: ["bands"]
    case .claimSeat: ["appTransactionId"]
    case .unclaimSeat: ["account", "seatClaimId"]
    case .shareable: ["enabled"]
    case .download: ["originalVersion", "preorderDate"]
    case .notificationURL: ["url", "version"]
    case .sharedSecret: ["password"]
    case .externalPurchaseToken: ["tokenType", "expires"]
    case .advancedCommerce: ["price", "seats"]
    case .retentionImage: ["imageSize", "deleted"]
    case .retentionMessage: ["content"]
    case .retentionDefault: ["id"]
    case .realtimeURL: ["url"]
    case .deviceBits: ["bit0", "bit1"]
    case .askToBuy, .autoRenew, .priceConsent, .billing, .storefront, .clearHistory, .joinFamily,
      .leaveFamily,
      .share, .stopSharing, .seats, .assignSeat, .reviewRetention, .refundSeats, .declineRefund,
      .reverseRefund,
      .rescindConsent, .finish, .reportConsumption, .setAppAccountToken, .testNotification,
      .resendNotification, .keys, .revokeKey, .serverTokens, .invitations, .associateSeat, .releaseSeat,
      .externalPurchaseReport:
      []
    }
  }

  /// The values of a member that has only some; `nil` for others.
  package func choices(of member: String) -> [String]? {
    switch (self, member) {
    case (_, "billingPlanType"): BillingPlan.allCases.map(\.rawValue)
    case (.requestConsumption, "reason"): ConsumptionRequestReason.known.map(\.rawValue)
    case (.refund, "reason"): ["OTHER", "APP_ISSUE"]
    case (.gracePeriod, "renewalType"): GracePeriod.Scope.allCases.map(\.rawValue)
    case (.gracePeriod, "days"): GracePeriod.lengths.map { String($0) }
    case (.delivery, "rules"): EnvironmentRules.allCases.map(\.rawValue)
    case (.offers, "type"): Offer.types.keys.sorted()
    case (.offers, "mode"): [OfferDiscountType.freeTrial, .payAsYouGo, .payUpFront].map(\.rawValue)
    case (.invitations, "management"): InvitationManagement.known.map(\.rawValue)
    case (.storefront, "storefront"), (.price, "storefront"): Storefront.known.map(\.code)
    case (.notificationURL, "version"): ["2", "1"]
    case (.reportConsumption, "version"): ["v2", "v1"]
    case (.externalPurchaseToken, "tokenType"): ExternalToken.Kind.allCases.map(\.rawValue)
    case (.commitmentRules, "expiredSubtype"): CommitmentRules.ExpiredSubtype.allCases.map(\.rawValue)
    case (.commitmentRules, "lastPeriodAutoRenewStatus"): ["0", "1"]
    case (.sharingRules, "addedSeats"): SharingRules.AddedSeats.allCases.map(\.rawValue)
    case (.sharingRules, "seatRevocation"): SharingRules.SeatRevocation.allCases.map(\.rawValue)
    case (.sharingRules, "revokedByUpgrade"): SharingRules.RevokedByUpgrade.allCases.map(\.rawValue)
    case (.advancedCommerce, "request"): World.CommerceRequest.allCases.map(\.rawValue)
    default: nil
    }
  }
}
