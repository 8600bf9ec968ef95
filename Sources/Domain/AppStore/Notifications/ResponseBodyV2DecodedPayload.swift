package import JSON

/// A server notification, version 2 (App Store Server Notifications up to 2.23).
///
/// Of ``data``, ``summary``, ``externalPurchaseToken``, ``appData`` and ``unclaimInfo`` it has the one that
/// its type calls for; a type that is not known yet may have another, which is in ``json``.
package struct ResponseBodyV2DecodedPayload: DecodedPayload {
  package let json: JSONObject

  package let notificationType: NotificationTypeV2?
  package let subtype: NotificationSubtype?
  /// The same in every delivery of this notification.
  package let notificationUUID: String?
  /// `2.0`.
  package let version: String?
  /// When Apple signed this payload.
  package let signedDate: Instant?
  /// About one purchase.
  package let data: NotificationData?
  /// About a mass extension of renewal dates.
  package let summary: NotificationSummary?
  /// About purchases outside the App Store.
  package let externalPurchaseToken: ExternalPurchaseToken?
  /// About the app itself.
  package let appData: NotificationAppData?
  /// About seats that Apple released.
  package let unclaimInfo: UnclaimInfo?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    notificationType = try reader.code("notificationType")
    subtype = try reader.code("subtype")
    notificationUUID = try reader.string("notificationUUID")
    version = try reader.string("version")
    signedDate = try reader.instant("signedDate")
    data = try reader.part("data")
    summary = try reader.part("summary")
    externalPurchaseToken = try reader.part("externalPurchaseToken")
    appData = try reader.part("appData")
    unclaimInfo = try reader.part("unclaimInfo")
  }
}

/// The purchase that a notification is about (Apple's `data`).
package struct NotificationData: DecodedPayload {
  package let json: JSONObject

  /// The app's number in the App Store; absent in the sandbox.
  package let appAppleId: Int64?
  package let bundleId: String?
  /// The build that made the purchase.
  package let bundleVersion: String?
  /// `nil` too for an environment that this version does not know.
  package let environment: Environment?
  /// A JWS of its own, to be verified by itself.
  package let signedTransactionInfo: String?
  /// A JWS of its own, to be verified by itself.
  package let signedRenewalInfo: String?
  /// How the subscription stood when the notification was signed.
  package let status: SubscriptionStatus?
  /// With `CONSUMPTION_REQUEST`.
  package let consumptionRequestReason: ConsumptionRequestReason?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    appAppleId = try reader.integer("appAppleId")
    bundleId = try reader.string("bundleId")
    bundleVersion = try reader.string("bundleVersion")
    environment = try reader.environment("environment")
    signedTransactionInfo = try reader.string("signedTransactionInfo")
    signedRenewalInfo = try reader.string("signedRenewalInfo")
    status = try reader.code("status")
    consumptionRequestReason = try reader.code("consumptionRequestReason")
  }
}

/// How a mass extension of renewal dates ended (Apple's `summary`).
package struct NotificationSummary: DecodedPayload {
  package let json: JSONObject

  /// The UUID of the request that this answers.
  package let requestIdentifier: String?
  /// `nil` too for an environment that this version does not know.
  package let environment: Environment?
  /// The app's number in the App Store; absent in the sandbox.
  package let appAppleId: Int64?
  package let bundleId: String?
  package let productId: String?
  /// ISO 3166-1 alpha-3; absent if the request named none.
  package let storefrontCountryCodes: [String]?
  package let succeededCount: Int64?
  package let failedCount: Int64?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    requestIdentifier = try reader.string("requestIdentifier")
    environment = try reader.environment("environment")
    appAppleId = try reader.integer("appAppleId")
    bundleId = try reader.string("bundleId")
    productId = try reader.string("productId")
    storefrontCountryCodes = try reader.strings("storefrontCountryCodes")
    succeededCount = try reader.integer("succeededCount")
    failedCount = try reader.integer("failedCount")
  }
}

/// The app that a notification is about (Apple's `appData`).
package struct NotificationAppData: DecodedPayload {
  package let json: JSONObject

  /// The app's number in the App Store; absent in the sandbox.
  package let appAppleId: Int64?
  package let bundleId: String?
  /// `nil` too for an environment that this version does not know.
  package let environment: Environment?
  /// A JWS of its own, to be verified by itself.
  package let signedAppTransactionInfo: String?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    appAppleId = try reader.integer("appAppleId")
    bundleId = try reader.string("bundleId")
    environment = try reader.environment("environment")
    signedAppTransactionInfo = try reader.string("signedAppTransactionInfo")
  }
}

/// The seats of a group subscription that Apple released (Apple's `unclaimInfo`, 2.23).
package struct UnclaimInfo: DecodedPayload {
  package let json: JSONObject

  /// The app's number in the App Store; absent in the sandbox.
  package let appAppleId: Int64?
  package let bundleId: String?
  /// `nil` too for an environment that this version does not know.
  package let environment: Environment?
  /// The seat claims, as Claim Seat named them: whoever had these seats loses access.
  package let unclaimSeatIds: [String]?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    appAppleId = try reader.integer("appAppleId")
    bundleId = try reader.string("bundleId")
    environment = try reader.environment("environment")
    unclaimSeatIds = try reader.strings("unclaimSeatIds")
  }
}
