package import AppStore
internal import JSON

/// The filter of Get Notification History.
package struct NotificationHistoryFilter: Hashable, Sendable {
  /// At most ``Environment/notificationHistoryDays`` ago.
  package var startDate: Instant
  /// Later than ``startDate``.
  package var endDate: Instant
  /// Only notifications of this type; not together with ``transactionId``.
  package var notificationType: NotificationTypeV2?
  /// Only with ``notificationType``.
  package var notificationSubtype: NotificationSubtype?
  /// Selects one customer's notifications; excludes a type.
  package var transactionId: String?
  /// Whether to return only notifications that were not delivered yet.
  package var onlyFailures = false

  /// Selects all notifications sent between two instants.
  package init(startDate: Instant, endDate: Instant) {
    self.startDate = startDate
    self.endDate = endDate
  }

  var json: JSONObject {
    var json: JSONObject = [
      "startDate": .number(JSONNumber(startDate.millisecondsSince1970)),
      "endDate": .number(JSONNumber(endDate.millisecondsSince1970)),
    ]
    if let notificationType { json["notificationType"] = .string(notificationType.rawValue) }
    if let notificationSubtype { json["notificationSubtype"] = .string(notificationSubtype.rawValue) }
    if let transactionId { json["transactionId"] = .string(transactionId) }
    if onlyFailures { json["onlyFailures"] = .bool(true) }
    return json
  }
}

extension AppStoreRequest {
  /// Get Notification History: the notifications that Apple sent or tried to send, 20 a page.
  package static func notificationHistory(
    _ filter: NotificationHistoryFilter, paginationToken: String? = nil
  ) -> AppStoreRequest {
    var query: [QueryItem] = []
    query.add("paginationToken", paginationToken)
    return AppStoreRequest(
      .notificationHistory, .post, "inApps", "v1", "notifications", "history", query: query,
      body: .json(filter.json))
  }

  /// Request a Test Notification.
  package static var testNotification: AppStoreRequest {
    AppStoreRequest(.testNotification, .post, "inApps", "v1", "notifications", "test").notRepeatable
  }

  /// Get Test Notification Status.
  package static func testNotificationStatus(token: String) -> AppStoreRequest {
    AppStoreRequest(.testNotificationStatus, .get, "inApps", "v1", "notifications", "test", token)
  }
}
