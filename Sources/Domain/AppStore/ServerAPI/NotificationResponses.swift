package import JSON

/// The response to Request a Test Notification.
package struct SendTestNotificationResponse: DecodedPayload {
  package let json: JSONObject

  /// The token to query the delivery status with.
  package let testNotificationToken: String?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    testNotificationToken = try json.string("testNotificationToken")
  }
}

/// The delivery status of a test notification (Get Test Notification Status), with the members of a history's item.
package typealias CheckTestNotificationResponse = NotificationHistoryResponseItem

/// A page of the notifications that Apple sent or tried to send (Get Notification History).
package struct NotificationHistoryResponse: DecodedPayload {
  package let json: JSONObject

  /// The token of the next page.
  package let paginationToken: String?
  /// Whether there is a next page.
  package let hasMore: Bool?
  /// At most 20.
  package let notificationHistory: [NotificationHistoryResponseItem]?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    paginationToken = try json.string("paginationToken")
    hasMore = try json.bool("hasMore")
    notificationHistory = try json.parts("notificationHistory")
  }
}

/// A notification with its delivery attempts.
package struct NotificationHistoryResponseItem: DecodedPayload {
  package let json: JSONObject

  /// The notification: a JWS, not yet verified.
  package let signedPayload: String?
  /// Apple's delivery attempts.
  package let sendAttempts: [SendAttemptItem]?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    signedPayload = try json.string("signedPayload")
    sendAttempts = try json.parts("sendAttempts")
  }
}

/// One attempt to deliver a notification.
package struct SendAttemptItem: DecodedPayload {
  package let json: JSONObject

  /// When Apple sent it.
  package let attemptDate: Instant?
  package let sendAttemptResult: SendAttemptResult?

  package init(json: JSONObject) throws(PayloadError) {
    self.json = json
    attemptDate = try json.instant("attemptDate")
    sendAttemptResult = try json.code("sendAttemptResult")
  }
}

/// The result of a delivery attempt (Apple's `sendAttemptResult`). Production repeats an attempt that failed; Apple's
/// sandbox sends once.
package enum SendAttemptResult: OpenCode {
  case success, timedOut, tlsIssue, circularRedirect, noResponse, socketIssue, unsupportedCharset
  case invalidResponse, prematureClose, unsuccessfulHTTPResponseCode, other
  case unrecognized(String)

  package static let known: [SendAttemptResult] = [
    .success, .timedOut, .tlsIssue, .circularRedirect, .noResponse, .socketIssue, .unsupportedCharset,
    .invalidResponse, .prematureClose, .unsuccessfulHTTPResponseCode, .other,
  ]

  package var rawValue: String {
    switch self {
    case .success: "SUCCESS"
    case .timedOut: "TIMED_OUT"
    case .tlsIssue: "TLS_ISSUE"
    case .circularRedirect: "CIRCULAR_REDIRECT"
    case .noResponse: "NO_RESPONSE"
    case .socketIssue: "SOCKET_ISSUE"
    case .unsupportedCharset: "UNSUPPORTED_CHARSET"
    case .invalidResponse: "INVALID_RESPONSE"
    case .prematureClose: "PREMATURE_CLOSE"
    case .unsuccessfulHTTPResponseCode: "UNSUCCESSFUL_HTTP_RESPONSE_CODE"
    case .other: "OTHER"
    case .unrecognized(let rawValue): rawValue
    }
  }
}
