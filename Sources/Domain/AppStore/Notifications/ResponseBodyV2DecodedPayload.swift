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
