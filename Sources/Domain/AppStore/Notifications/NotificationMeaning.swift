extension ResponseBodyV2DecodedPayload {
  /// An English sentence for the type and subtype (App Store Server Notifications, notificationType and
  /// subtype). An unknown pair is named with Apple's codes.
  package var meaning: String {
    guard let notificationType else { return "The notification names no type." }
    if case .unrecognized(let word)? = subtype {
      return "The type \(notificationType.rawValue) with \(word) is unknown to this version."
    }
    return notificationType.meaning(subtype)
  }
}

extension NotificationTypeV2 {
  func meaning(_ subtype: NotificationSubtype?) -> String {
    switch self {
    case .subscribed, .didRenew, .offerRedeemed, .didChangeRenewalPref: purchaseMeaning(subtype)
    case .didChangeRenewalStatus, .didFailToRenew, .gracePeriodExpired, .expired, .priceIncrease,
      .renewalExtended, .renewalExtension:
      renewalMeaning(subtype)
    case .refund, .refundReversed, .refundDeclined, .revoke, .consumptionRequest:
      refundMeaning(subtype)
    case .oneTimeCharge: "The customer made a one-time purchase."
    case .rescindConsent: "A parent or guardian withdrew consent for the app."
    case .externalPurchaseToken:
      switch subtype {
      case .created: "A token for external purchases was created."
      case .activeTokenReminder:
        "A token for external purchases is active and needs a report."
      case .unreported: "A token for external purchases was not reported."
      default: "A token for external purchases needs attention."
      }
    case .metadataUpdate: "The metadata of an Advanced Commerce subscription changed."
    case .migration, .migrate: "A subscription was migrated to Advanced Commerce."
    case .priceChange: "The price of an Advanced Commerce subscription changed."
    case .unclaimSeats: "Seats of a group subscription were released."
    case .test: "Apple sent the requested test notification."
    case .unrecognized(let type):
      "The type \(type)\(subtype.map { " with \($0.rawValue)" } ?? "") is unknown to this version."
    }
  }

  private func purchaseMeaning(_ subtype: NotificationSubtype?) -> String {
    switch (self, subtype) {
    case (.subscribed, .resubscribe): "The customer resubscribed to the same or another product of the group."
    case (.subscribed, _): "The customer subscribed for the first time."
    case (.didRenew, .billingRecovery): "A failed payment was recovered and the subscription renewed."
    case (.didRenew, _): "The subscription renewed."
    case (.offerRedeemed, .upgrade): "The customer redeemed an offer to upgrade; it is effective immediately."
    case (.offerRedeemed, .downgrade): "The customer redeemed an offer to downgrade at the next renewal."
    case (.offerRedeemed, .initialBuy): "The customer subscribed for the first time with an offer."
    case (.offerRedeemed, .resubscribe): "The customer resubscribed with an offer."
    case (.offerRedeemed, _): "The customer redeemed an offer for the active subscription."
    case (_, .upgrade): "The customer upgraded; it is effective immediately."
    case (_, .downgrade): "The subscription will change to another product at the next renewal."
    case (_, .increaseQuantity): "The customer added seats."
    case (_, .decreaseQuantity): "The number of seats will decrease at the next renewal."
    default: "The customer cancelled a pending change of product."
    }
  }

  private func renewalMeaning(_ subtype: NotificationSubtype?) -> String {
    switch (self, subtype) {
    case (.didChangeRenewalStatus, .autoRenewEnabled): "The customer turned auto-renew on."
    case (.didChangeRenewalStatus, .autoRenewDisabled):
      "Auto-renew was turned off by the customer or after a refund request."
    case (.didChangeRenewalStatus, _): "Auto-renew was turned on or off."
    case (.didFailToRenew, .gracePeriod): "The renewal payment failed; the grace period is active."
    case (.didFailToRenew, _): "The renewal payment failed and there is no grace period."
    case (.gracePeriodExpired, _): "The grace period ended; the App Store continues to retry the payment."
    case (.expired, .voluntary): "The subscription ended because the customer had turned auto-renew off."
    case (.expired, .billingRetry): "The subscription ended because the payment was not recovered."
    case (.expired, .priceIncrease):
      "The subscription ended because the customer did not accept a price increase."
    case (.expired, .productNotForSale): "The subscription ended because the product is no longer for sale."
    case (.expired, _): "The subscription ended; Apple sent no reason."
    case (.priceIncrease, .pending): "The customer was asked to accept a price increase."
    case (.priceIncrease, _): "The customer accepted a price increase, or no consent was required."
    case (.renewalExtended, _): "The renewal date was extended."
    case (_, .failure): "Extending the renewal date failed for one subscription."
    default: "The mass extension of renewal dates is complete."
    }
  }

  private func refundMeaning(_ subtype: NotificationSubtype?) -> String {
    switch (self, subtype) {
    case (.refund, .seats): "Some seats of a purchase were refunded."
    case (.refund, _): "The purchase was refunded."
    case (.refundReversed, _): "A refund was reversed; the purchase is valid again."
    case (.refundDeclined, _): "The App Store declined a refund."
    case (.revoke, _): "The purchase is no longer shared with this customer."
    default:
      "The customer requested a refund; the App Store requests consumption information within 12 hours."
    }
  }
}

extension ResponseBodyV1 {
  /// An English sentence for the type (App Store Server Notifications V1, notification_type).
  package var meaning: String {
    switch notificationType {
    case .initialBuy: "The customer subscribed for the first time."
    case .interactiveRenewal: "The customer resubscribed or upgraded."
    case .cancel: "The subscription was refunded or replaced by an upgrade."
    case .didChangeRenewalPref: "The subscription will change to another product at the next renewal."
    case .didChangeRenewalStatus: "Auto-renew was turned on or off."
    case .didFailToRenew: "The renewal payment failed."
    case .didRecover, .renewal: "A failed payment was recovered and the subscription renewed."
    case .didRenew: "The subscription renewed."
    case .priceIncreaseConsent: "The customer was asked to accept a price increase."
    case .refund: "The purchase was refunded."
    case .revoke: "The purchase is no longer shared with this customer."
    case .consumptionRequest:
      "The customer requested a refund; the App Store requests consumption information."
    case .unrecognized(let type): "The type \(type) is unknown to this version."
    case nil: "The notification names no type."
    }
  }
}
