package import AppStore
internal import JSON

/// The body that Apple posts, as far as it takes to tell which version it is.
package enum NotificationBody: Sendable {
  /// Version 2: the signed payload, not verified yet.
  case signed(String)
  /// Version 1: nobody signed it.
  case unsigned(ResponseBodyV1)
  /// Neither; `reason` is a code such as `MALFORMED_JSON`.
  case unreadable(reason: String, problem: String)

  /// The most bytes that a body may have: ten times what the largest of Apple's have.
  package static let limit = 1 << 20

  /// Reads a body (App Store Server Notifications, responseBodyV2 and responseBodyV1).
  package init(_ body: [UInt8]) {
    guard body.count <= Self.limit else {
      self = .unreadable(reason: "TOO_LARGE", problem: "the body has more than \(Self.limit) bytes")
      return
    }
    let value: JSONValue
    do {
      value = try JSONValue(parsing: body)
    } catch {
      self = .unreadable(reason: "MALFORMED_JSON", problem: "the body is no JSON: \(error)")
      return
    }
    guard case .object(let object) = value else {
      self = .unreadable(reason: "NOT_A_NOTIFICATION", problem: "the body is no JSON object")
      return
    }
    self = Self.read(object)
  }

  private static func read(_ object: JSONObject) -> NotificationBody {
    if let member = object["signedPayload"] {
      guard case .string(let payload) = member else {
        return .unreadable(reason: "MALFORMED_FIELD", problem: "signedPayload is no text")
      }
      return .signed(payload)
    }
    guard object["notification_type"] != nil else {
      return .unreadable(
        reason: "NOT_A_NOTIFICATION", problem: "the body has neither signedPayload nor notification_type")
    }
    do {
      return .unsigned(try ResponseBodyV1(json: object))
    } catch {
      return .unreadable(reason: "MALFORMED_FIELD", problem: error.description)
    }
  }
}
