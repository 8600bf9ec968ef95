internal import AppStore

/// The counterpart in version 1 of a notification of version 2 (App Store Server Notifications V1, notification_type,
/// "Handle use cases for notification events"; WWDC19-302).
///
/// Apple changed its table of version 1 over the years, and sends some notifications of it together with
/// `DID_CHANGE_RENEWAL_STATUS`.
struct V1Counterpart: Hashable, Sendable {
  /// The types of version 1, by Apple's names; one of them is sent. The usual one is first. Empty if version 1 has none.
  let choices: [String]
  /// Further types that may be sent with it.
  let companions: [String]

  private init(_ choices: [NotificationTypeV1], with companions: [NotificationTypeV1] = []) {
    self.choices = choices.map(\.rawValue)
    self.companions = companions.map(\.rawValue)
  }

  /// The types that members of the purchaser's family get (App Store Server Notifications V1, notification_type).
  private static let ofMembers = [
    NotificationTypeV1.didChangeRenewalPref, .didChangeRenewalStatus, .didFailToRenew, .didRecover, .didRenew,
    .interactiveRenewal, .revoke,
  ].map(\.rawValue)

  /// The counterpart of a notification about a transaction; `nil` if it is about none.
  init(of payload: ResponseBodyV2DecodedPayload, about transaction: JWSTransactionDecodedPayload?) {
    let ofPurchaser = Self(of: payload, toPurchaserOf: transaction?.type)
    let isShared = transaction?.inAppOwnershipType == .familyShared
    choices = ofPurchaser.choices.filter { !isShared || Self.ofMembers.contains($0) }
    companions = ofPurchaser.companions.filter { !isShared || Self.ofMembers.contains($0) }
  }

  /// The counterpart of a notification to the purchaser of a product of this type.
  private init(of payload: ResponseBodyV2DecodedPayload, toPurchaserOf type: ProductType?) {
    self =
      switch (payload.notificationType, payload.subtype) {
      // The same product again is reported by the changed renewal status alone.
      case (.subscribed, .resubscribe), (.offerRedeemed, .resubscribe):
        Self([.interactiveRenewal, .didChangeRenewalStatus], with: [.didChangeRenewalStatus])
      case (.subscribed, _), (.offerRedeemed, .initialBuy): Self([.initialBuy])
      // The old period was reported by CANCEL in the past, and is by the renewal status now.
      case (.didChangeRenewalPref, .upgrade), (.offerRedeemed, .upgrade):
        Self([.interactiveRenewal], with: [.cancel, .didChangeRenewalStatus])
      case (.didChangeRenewalPref, .increaseQuantity), (.didChangeRenewalPref, .decreaseQuantity): Self([])
      case (.didChangeRenewalPref, _), (.offerRedeemed, .downgrade): Self([.didChangeRenewalPref])
      case (.didChangeRenewalStatus, _): Self([.didChangeRenewalStatus])
      case (.didRenew, .billingRecovery): Self([.didRecover])
      case (.didRenew, _): Self([.didRenew])
      case (.didFailToRenew, _): Self([.didFailToRenew])
      case (.expired, .billingRetry): Self([], with: [.didChangeRenewalStatus])
      case (.priceIncrease, .accepted): Self([])
      case (.priceIncrease, _): Self([.priceIncreaseConsent])
      case (.refund, .seats): Self([])
      case (.refund, _) where type == .autoRenewableSubscription:
        Self([.cancel], with: [.didChangeRenewalStatus])
      case (.refund, _): Self([.refund])
      case (.revoke, _): Self([.revoke])
      case (.consumptionRequest, _): Self([.consumptionRequest])
      default: Self([])
      }
  }
}

extension [V1Counterpart] {
  /// The types of version 1 that only one version leads to: those of `types` that match no counterpart, and those of
  /// counterparts that are not in `types`.
  func compared(with types: [String]) -> (onlyInVersion1: [String], onlyInVersion2: [String]) {
    var rest = types
    var missing: [String] = []
    func take(_ type: String) -> Bool {
      guard let index = rest.firstIndex(of: type) else { return false }
      rest.remove(at: index)
      return true
    }
    // Those with one type first, so that the others do not take it.
    for counterpart in filter({ $0.choices.count == 1 }) + filter({ $0.choices.count > 1 }) {
      if !counterpart.choices.contains(where: take) { missing.append(counterpart.choices[0]) }
    }
    for companion in flatMap(\.companions) { _ = take(companion) }
    return (rest, missing)
  }
}

extension NotificationTypeV1 {
  /// Apple's present name: `RENEWAL` is the old one of `DID_RECOVER`.
  var currentName: String {
    if case .renewal = self { NotificationTypeV1.didRecover.rawValue } else { rawValue }
  }
}

extension ResponseBodyV2DecodedPayload {
  /// The type and subtype, such as `EXPIRED/VOLUNTARY`.
  var typeAndSubtype: String {
    let type = notificationType?.rawValue ?? ""
    return subtype.map { "\(type)/\($0.rawValue)" } ?? type
  }
}
