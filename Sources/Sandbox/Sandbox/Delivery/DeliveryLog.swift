package import AppStore

/// The response of a developer's server to a posted body.
package struct ReceiverResponse: Hashable, Sendable {
  /// The result as Apple's notification history names it.
  package let result: SendAttemptResult
  /// The HTTP status; `nil` without a response.
  package let status: Int?
  /// Empty without a response; the poster may cut a long one.
  package let body: [UInt8]

  /// Creates a response; without a status, the request failed.
  package init(result: SendAttemptResult, status: Int? = nil, body: [UInt8] = []) {
    self.result = result
    self.status = status
    self.body = body
  }
}

/// The latest delivery attempts with their bodies and responses, for testers. Not persisted.
struct DeliveryLog: Sendable {
  /// The request of one attempt and its response.
  struct Exchange: Sendable {
    /// Empty if nothing was sent.
    let url: String
    let sent: [UInt8]
    let response: ReceiverResponse
    /// Machine time from the request to the response.
    let milliseconds: Int64
  }

  /// An attempt of a notification, both as indices.
  private struct Key: Hashable {
    let notification: Int
    let attempt: Int
  }

  /// The number of attempts that are at least available.
  private static let limit = 500
  /// The stored part of a response's body, in bytes.
  private static let maxResponseBytes = 4_096

  private var exchanges: [Key: Exchange] = [:]
  private var order: [Key] = []

  /// Records the attempt with this index (counted from 0) of the notification with this index.
  mutating func record(_ exchange: Exchange, ofNotification notification: Int, attempt: Int) {
    let key = Key(notification: notification, attempt: attempt)
    let response = exchange.response
    exchanges[key] = Exchange(
      url: exchange.url, sent: exchange.sent,
      response: ReceiverResponse(
        result: response.result, status: response.status,
        body: Array(response.body.prefix(Self.maxResponseBytes))),
      milliseconds: exchange.milliseconds)
    order.append(key)
    if order.count > 2 * Self.limit {
      for key in order.prefix(Self.limit) { exchanges[key] = nil }
      order.removeFirst(Self.limit)
    }
  }

  /// The attempt; `nil` if it is older than the latest ones, or of an earlier process.
  subscript(notification notification: Int, attempt attempt: Int) -> Exchange? {
    exchanges[Key(notification: notification, attempt: attempt)]
  }
}
