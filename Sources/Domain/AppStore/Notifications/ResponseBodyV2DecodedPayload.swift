package import JSON

/// A version 2 server notification (Apple's responseBodyV2DecodedPayload, App Store Server Notifications up
/// to 2.23).
///
/// It has one of ``data``, ``summary``, ``externalPurchaseToken``, ``appData`` and ``unclaimInfo``, depending
/// on its type; an unknown type can have another member, which is in ``json``.
package struct ResponseBodyV2DecodedPayload: DecodedPayload {
  package let json: JSONObject

  /// The event for which Apple sent the notification.
  package let notificationType: NotificationTypeV2?
  /// The circumstance of the event; `nil` for types without one.
  package let subtype: NotificationSubtype?
  /// Equal in every delivery of the notification.
  package let notificationUUID: String?
  /// `2.0`.
  package let version: String?
  /// When Apple signed the payload.
  package let signedDate: Instant?
  /// For notifications about one purchase.
  package let data: NotificationData?
  /// For the result of a mass extension of renewal dates.
  package let summary: NotificationSummary?
  /// For external purchases.
  package let externalPurchaseToken: ExternalPurchaseToken?
  /// For notifications about the app itself, such as `RESCIND_CONSENT`.
  package let appData: NotificationAppData?
  /// For seats that Apple released.
  package let unclaimInfo: UnclaimInfo?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    notificationType = try json.code("notificationType")
    subtype = try json.code("subtype")
    notificationUUID = try json.string("notificationUUID")
    version = try json.string("version")
    signedDate = try json.instant("signedDate")
    data = try json.part("data")
    summary = try json.part("summary")
    externalPurchaseToken = try json.part("externalPurchaseToken")
    appData = try json.part("appData")
    unclaimInfo = try json.part("unclaimInfo")
  }

  /// Whether it has one of the parts that this version knows.
  package var hasKnownPart: Bool {
    data != nil || summary != nil || externalPurchaseToken != nil || appData != nil || unclaimInfo != nil
  }

  /// The part of a notification that has none of the known ones: the first that names its environment, as most of Apple's
  /// parts do.
  package var unknownPart: (name: String, json: JSONObject)? {
    guard notificationType != nil, !hasKnownPart else { return nil }
    for (name, value) in json {
      if case .object(let part) = value, part["environment"] != nil { return (name, part) }
    }
    return nil
  }

  /// The signed transaction inside, a JWS, to be verified separately; that of an unknown part, too.
  package var signedTransactionInfo: String? {
    data?.signedTransactionInfo ?? unknownDocument("signedTransactionInfo")
  }

  /// The signed renewal info inside, a JWS, to be verified separately; that of an unknown part, too.
  package var signedRenewalInfo: String? {
    data?.signedRenewalInfo ?? unknownDocument("signedRenewalInfo")
  }

  /// The signed app transaction inside, a JWS, to be verified separately; that of an unknown part, too.
  package var signedAppTransactionInfo: String? {
    appData?.signedAppTransactionInfo ?? unknownDocument("signedAppTransactionInfo")
  }

  private func unknownDocument(_ name: String) -> String? { unknownPart?.json[name]?.stringValue }
}

/// The purchase of a notification (Apple's `data`).
package struct NotificationData: DecodedPayload {
  package let json: JSONObject

  /// The app's App Store id; absent in Apple's sandbox.
  package let appAppleId: Int64?
  package let bundleId: String?
  /// The build of the app that made the purchase.
  package let bundleVersion: String?
  /// `nil` also for an environment unknown to this version.
  package let environment: Environment?
  /// A JWS, to be verified separately.
  package let signedTransactionInfo: String?
  /// A JWS, to be verified separately.
  package let signedRenewalInfo: String?
  /// The subscription status when the notification was signed.
  package let status: SubscriptionStatus?
  /// Set for `CONSUMPTION_REQUEST`.
  package let consumptionRequestReason: ConsumptionRequestReason?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    appAppleId = try json.integer("appAppleId")
    bundleId = try json.string("bundleId")
    bundleVersion = try json.string("bundleVersion")
    environment = try json.environment("environment")
    signedTransactionInfo = try json.string("signedTransactionInfo")
    signedRenewalInfo = try json.string("signedRenewalInfo")
    status = try json.code("status")
    consumptionRequestReason = try json.code("consumptionRequestReason")
  }
}

/// The result of a mass extension of renewal dates (Apple's `summary`).
package struct NotificationSummary: DecodedPayload {
  package let json: JSONObject

  /// The UUID of the extension request.
  package let requestIdentifier: String?
  /// `nil` also for an environment unknown to this version.
  package let environment: Environment?
  /// The app's App Store id; absent in Apple's sandbox.
  package let appAppleId: Int64?
  package let bundleId: String?
  package let productId: String?
  /// ISO 3166-1 alpha-3; absent if the request named none.
  package let storefrontCountryCodes: [String]?
  /// The final number of subscriptions whose renewal date was extended.
  package let succeededCount: Int64?
  /// The final number of subscriptions whose renewal date could not be extended.
  package let failedCount: Int64?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    requestIdentifier = try json.string("requestIdentifier")
    environment = try json.environment("environment")
    appAppleId = try json.integer("appAppleId")
    bundleId = try json.string("bundleId")
    productId = try json.string("productId")
    storefrontCountryCodes = try json.strings("storefrontCountryCodes")
    succeededCount = try json.integer("succeededCount")
    failedCount = try json.integer("failedCount")
  }
}

/// The app of a notification (Apple's `appData`).
package struct NotificationAppData: DecodedPayload {
  package let json: JSONObject

  /// The app's App Store id; absent in Apple's sandbox.
  package let appAppleId: Int64?
  package let bundleId: String?
  /// `nil` also for an environment unknown to this version.
  package let environment: Environment?
  /// A JWS, to be verified separately.
  package let signedAppTransactionInfo: String?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    appAppleId = try json.integer("appAppleId")
    bundleId = try json.string("bundleId")
    environment = try json.environment("environment")
    signedAppTransactionInfo = try json.string("signedAppTransactionInfo")
  }
}

/// The seats of a group subscription that Apple released (Apple's `unclaimInfo`, 2.23).
package struct UnclaimInfo: DecodedPayload {
  package let json: JSONObject

  /// The app's App Store id; absent in Apple's sandbox.
  package let appAppleId: Int64?
  package let bundleId: String?
  /// `nil` also for an environment unknown to this version.
  package let environment: Environment?
  /// The `seatClaimId`s of Claim Seat; their members lose access.
  package let unclaimSeatIds: [String]?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    appAppleId = try json.integer("appAppleId")
    bundleId = try json.string("bundleId")
    environment = try json.environment("environment")
    unclaimSeatIds = try json.strings("unclaimSeatIds")
  }
}
