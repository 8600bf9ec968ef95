internal import AppStore

/// Version 1 notifications.
extension World {
  /// Returns the version 1 notifications of an event, in the order of Apple's table; empty if there are none, such as
  /// for a one-time purchase (Apple: notification_type, "Handle use cases for notification events").
  func version1Types(
    _ type: NotificationTypeV2, _ subtype: NotificationSubtype?, _ subject: SandboxNotification.Subject
  ) -> [NotificationTypeV1] {
    guard case .purchase(let sold, let line, _) = subject else { return [] }
    let settings = settings[sold.app]?.delivery ?? DeliverySettings()
    let types =
      line.map { version1Types(type, subtype, sold, $0, settings) } ?? oneTimeVersion1Types(type, sold)
    return types.filter { settings.rules.sends($0, to: sold.ownership) }
  }

  /// The notifications of version 1 about a one-time purchase.
  private func oneTimeVersion1Types(_ type: NotificationTypeV2, _ sold: SoldTransaction)
    -> [NotificationTypeV1]
  {
    switch type {
    case .refund: [.refund]
    case .revoke: [.revoke]
    case .consumptionRequest:
      product(sold.productID, of: sold.app)?.type == .consumable ? [.consumptionRequest] : []
    default: []
    }
  }

  /// The notifications of version 1 that Apple sends for one of version 2.
  private func version1Types(
    _ type: NotificationTypeV2, _ subtype: NotificationSubtype?, _ sold: SoldTransaction,
    _ line: SubscriptionLine, _ settings: DeliverySettings
  ) -> [NotificationTypeV1] {
    switch (type, subtype) {
    case (.subscribed, .initialBuy?): [.initialBuy]
    case (.subscribed, _):
      previous(of: sold)?.productID == sold.productID
        ? [.didChangeRenewalStatus] : [.interactiveRenewal, .didChangeRenewalStatus]
    case (.didChangeRenewalPref, .upgrade?), (.offerRedeemed, .upgrade?): upgradeTypes(to: sold, settings)
    case (.didChangeRenewalPref, .downgrade?), (.didChangeRenewalPref, nil), (.offerRedeemed, .downgrade?):
      [.didChangeRenewalPref]
    case (.didChangeRenewalStatus, _): [.didChangeRenewalStatus]
    case (.didFailToRenew, _): [.didFailToRenew]
    case (.didRenew, .billingRecovery?): [.didRecover]
    case (.didRenew, _): [.didRenew]
    case (.expired, .billingRetry?): [.didChangeRenewalStatus]
    case (.priceIncrease, .pending?): [.priceIncreaseConsent]
    // A refund of an earlier period leaves the renewal status as it is.
    case (.refund, nil): line.status == .revoked ? [.cancel, .didChangeRenewalStatus] : [.cancel]
    case (.revoke, _): [.revoke]
    default: []
    }
  }

  /// A crossgrade to the same duration is an `INTERACTIVE_RENEWAL` only (Apple developer forums, thread 729677).
  private func upgradeTypes(to sold: SoldTransaction, _ settings: DeliverySettings) -> [NotificationTypeV1] {
    let old = previous(of: sold).flatMap { product($0.productID, of: $0.app) }
    if let old, old.level == product(sold.productID, of: sold.app)?.level { return [.interactiveRenewal] }
    return [settings.announcesUpgradesByCancel ? .cancel : .didChangeRenewalStatus, .interactiveRenewal]
  }

  /// Returns the transaction of the same subscription before this one.
  private func previous(of sold: SoldTransaction) -> SoldTransaction? {
    purchases(of: sold.account, in: sold.app).last { $0.originalID == sold.originalID && $0.id < sold.id }
  }
}
