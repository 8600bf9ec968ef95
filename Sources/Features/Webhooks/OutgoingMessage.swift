package import AppStore
internal import Store

/// A message to a webhook.
package struct OutgoingMessage: Hashable, Sendable {
  /// The sequence of the event, or the evidence id of the notification.
  package let position: Int64
  /// `nil` for a notification that names none.
  package let environment: Environment?
  /// The ordering key within the environment: a customer or a purchase line.
  package let subject: String
  /// The type of the event or notification.
  package let type: String
  /// When the event was recorded, or when the notification arrived.
  package let occurredAt: Instant
  /// The message id, the same for each attempt; empty for forwarded notifications.
  package let id: String
  /// The bytes that are signed and sent.
  package let body: [UInt8]

  /// The delivery of the message before its first attempt. It has no time to be due until the store reschedules its
  /// ordering key.
  var delivery: Delivery {
    Delivery(
      position: position, environment: environment, subject: subject, type: type, occurredAt: occurredAt,
      dueAt: nil)
  }
}

/// A log of messages, in the order of their positions. It reads a snapshot of the store and has no state, so that the
/// worker may read any page again.
protocol MessageSource: Sendable {
  /// Returns at most `limit` messages after `position`, without their bodies.
  func page(
    after position: Int64, limit: Int, in reader: any StoreSnapshot
  ) throws(StoreError) -> MessagePage

  /// Returns the message at a position; `nil` if there is none for this webhook.
  func message(at position: Int64, in reader: any StoreSnapshot) throws(StoreError) -> OutgoingMessage?

  /// Whether the webhook selects the message of a delivery.
  func selects(_ delivery: Delivery) -> Bool
}

/// A part of the log. It may have no message although the log has more, if the webhook selects few of them.
struct MessagePage: Sendable {
  /// The messages as deliveries before the first attempt, in the order of their positions. One whose content was purged is
  /// a dead letter.
  var deliveries: [Delivery] = []
  /// The position up to which the log was read, filtered messages included.
  var end: Int64
  /// Whether there may be more messages after `end`.
  var hasMore = false

  /// Returns the page up to the first message for which `isLast` is true; all of it if there is none.
  func prefix(throughFirst isLast: (Delivery) -> Bool) -> MessagePage {
    guard let last = deliveries.firstIndex(where: isLast) else { return self }
    return MessagePage(deliveries: Array(deliveries[...last]), end: deliveries[last].position, hasMore: true)
  }
}
