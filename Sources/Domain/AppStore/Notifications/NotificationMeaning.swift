extension ResponseBodyV2DecodedPayload {
  /// What the notification means, in a sentence (App Store Server Notifications, notificationType and
  /// subtype). A pair that is not known is named in Apple's words.
  package var meaning: String {
    guard let notificationType else { return "The notification names no type." }
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
    case .oneTimeCharge: "Something was bought that is no auto-renewable subscription."
    case .rescindConsent: "A parent withdrew the consent for the app."
    case .externalPurchaseToken:
      switch subtype {
      case .created: "A token for purchases outside of the App Store was made."
      case .activeTokenReminder:
        "A token for purchases outside of the App Store is still to be reported about."
      case .unreported: "A token for purchases outside of the App Store was never reported about."
      default: "A token for purchases outside of the App Store needs attention."
      }
    case .metadataUpdate: "The description of an Advanced Commerce subscription changed."
    case .migration, .migrate: "A subscription moved to Advanced Commerce."
    case .priceChange: "The price of an Advanced Commerce subscription changed."
    case .unclaimSeats: "Seats of a group subscription were released."
    case .test: "Apple sent the test notification that was asked for."
    case .unrecognized(let type):
      "This version does not know the type \(type)\(subtype.map { " with \($0.rawValue)" } ?? "")."
    }
  }

  private func purchaseMeaning(_ subtype: NotificationSubtype?) -> String {
    switch (self, subtype) {
    case (.subscribed, .resubscribe): "The customer came back, to the same or another product of the group."
    case (.subscribed, _): "The customer subscribed for the first time."
    case (.didRenew, .billingRecovery): "A payment that had failed was recovered; the subscription goes on."
    case (.didRenew, _): "The subscription renewed."
    case (.offerRedeemed, .upgrade): "The customer upgraded with an offer, at once."
    case (.offerRedeemed, .downgrade): "The customer took an offer to downgrade at the next renewal."
    case (.offerRedeemed, .initialBuy): "The customer subscribed for the first time, with an offer."
    case (.offerRedeemed, .resubscribe): "The customer came back with an offer."
    case (.offerRedeemed, _): "The customer took an offer on the subscription that runs."
    case (_, .upgrade): "The customer upgraded, at once."
    case (_, .downgrade): "The customer changes to another product at the next renewal."
    case (_, .increaseQuantity): "The customer bought more seats."
    case (_, .decreaseQuantity): "The customer has fewer seats from the next renewal on."
    default: "The customer took a change of product back."
    }
  }

  private func renewalMeaning(_ subtype: NotificationSubtype?) -> String {
    switch (self, subtype) {
    case (.didChangeRenewalStatus, .autoRenewEnabled): "The customer turned renewal on."
    case (.didChangeRenewalStatus, .autoRenewDisabled):
      "Renewal was turned off, by the customer or after a request for a refund."
    case (.didChangeRenewalStatus, _): "Renewal was turned on or off."
    case (.didFailToRenew, .gracePeriod): "The renewal could not be charged; the grace period runs."
    case (.didFailToRenew, _): "The renewal could not be charged, and there is no grace period."
    case (.gracePeriodExpired, _): "The grace period is over; the App Store goes on trying to charge."
    case (.expired, .voluntary): "The subscription ended: the customer had turned renewal off."
    case (.expired, .billingRetry): "The subscription ended: the payment could not be recovered."
    case (.expired, .priceIncrease): "The subscription ended: the customer did not agree to a price increase."
    case (.expired, .productNotForSale): "The subscription ended: the product is not for sale any more."
    case (.expired, _): "The subscription ended for a reason that the App Store does not name."
    case (.priceIncrease, .pending): "The customer was asked to agree to a price increase."
    case (.priceIncrease, _): "The customer agreed to a price increase, or did not need to."
    case (.renewalExtended, _): "The renewal date was moved."
    case (_, .failure): "Moving the renewal date failed for one subscription."
    default: "Moving the renewal dates of many subscriptions is done."
    }
  }

  private func refundMeaning(_ subtype: NotificationSubtype?) -> String {
    switch (self, subtype) {
    case (.refund, .seats): "Seats of a purchase were refunded."
    case (.refund, _): "The purchase was refunded."
    case (.refundReversed, _): "A refund was taken back; the customer has paid after all."
    case (.refundDeclined, _): "The App Store declined a refund."
    case (.revoke, _): "The purchase is no longer shared with this family member."
    default: "The customer asks for a refund; the App Store wants to know how much was used, within 12 hours."
    }
  }
}

extension ResponseBodyV1 {
  /// What the notification means, in a sentence (App Store Server Notifications V1, notification_type).
  package var meaning: String {
    switch notificationType {
    case .initialBuy: "The customer subscribed for the first time."
    case .interactiveRenewal: "The customer came back or upgraded."
    case .cancel: "The subscription was refunded or replaced by an upgrade."
    case .didChangeRenewalPref: "The customer changes to another product at the next renewal."
    case .didChangeRenewalStatus: "Renewal was turned on or off."
    case .didFailToRenew: "The renewal could not be charged."
    case .didRecover, .renewal: "A payment that had failed was recovered; the subscription goes on."
    case .didRenew: "The subscription renewed."
    case .priceIncreaseConsent: "The customer was asked to agree to a price increase."
    case .refund: "The purchase was refunded."
    case .revoke: "The purchase is no longer shared with this family member."
    case .consumptionRequest: "The customer asks for a refund; the App Store wants to know how much was used."
    case .unrecognized(let type): "This version does not know the type \(type)."
    case nil: "The notification names no type."
    }
  }
}
