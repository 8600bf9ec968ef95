internal import AppStore
internal import JSON
internal import SignedData
internal import Store

/// The purchase that an unverified notification names. Only for lookups: it must not change stored facts.
package struct NotificationSubject {
  /// Apple's `notificationUUID`.
  package let uuid: String
  /// The number of the purchase line; `nil` if it is about none.
  package let lineID: String?

  /// `nil` if the payload cannot be read.
  package init?(signedPayload: String) {
    guard let payload = Self.payload(signedPayload),
      let notification = try? ResponseBodyV2DecodedPayload(json: payload.payload),
      let uuid = notification.notificationUUID
    else { return nil }
    self.uuid = uuid
    let documents = [notification.signedTransactionInfo, notification.signedRenewalInfo]
    lineID =
      documents.lazy.compactMap { $0.flatMap(Self.payload)?.payload }.compactMap {
        $0["originalTransactionId"]?.stringValue
      }.first
  }

  private static func payload(_ text: String) -> UnverifiedJWS? { try? UnverifiedJWS(text) }
}
