internal import AppStore

/// How version 1 would have told what a notification of version 2 tells (WWDC19-302; App Store Server
/// Notifications, "notification_type").
enum V1Vocabulary {
  /// Apple's word for what happened in version 1. `RENEWAL` is what `DID_RECOVER` was called before.
  static func current(_ type: NotificationTypeV1) -> String {
    type == .renewal ? NotificationTypeV1.didRecover.rawValue : type.rawValue
  }

  /// The words of version 1 for a notification of version 2 about a product of this type; none if it has none.
  static func of(_ payload: ResponseBodyV2DecodedPayload, _ type: ProductType?) -> [String] {
    words(payload, type).map(\.rawValue)
  }

  private static func words(
    _ payload: ResponseBodyV2DecodedPayload, _ type: ProductType?
  ) -> [NotificationTypeV1] {
    switch (payload.notificationType, payload.subtype) {
    case (.subscribed, .resubscribe): [.interactiveRenewal]
    case (.subscribed, _): [.initialBuy]
    // An upgrade cuts the old period off and begins a new one, which version 1 tells as a pair.
    case (.didChangeRenewalPref, .upgrade): [.cancel, .interactiveRenewal]
    case (.didChangeRenewalPref, _): [.didChangeRenewalPref]
    case (.didChangeRenewalStatus, _): [.didChangeRenewalStatus]
    case (.didRenew, .billingRecovery): [.didRecover]
    case (.didRenew, _): [.didRenew]
    case (.didFailToRenew, _): [.didFailToRenew]
    case (.priceIncrease, _): [.priceIncreaseConsent]
    case (.refund, _): type == .autoRenewableSubscription ? [.cancel] : [.refund]
    case (.revoke, _): [.revoke]
    case (.consumptionRequest, _): [.consumptionRequest]
    default: []
    }
  }

  /// What happened, in the words of version 2.
  static func name(_ payload: ResponseBodyV2DecodedPayload) -> String {
    let type = payload.notificationType?.rawValue ?? ""
    return payload.subtype.map { "\(type)/\($0.rawValue)" } ?? type
  }
}
