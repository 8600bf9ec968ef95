package import AppStore
internal import Bytes

/// Stores webhook cursors and undelivered messages.
package protocol DeliveryStore {
  /// Creates a cursor after the newest message, unless the webhook has one.
  func begin(_ webhook: WebhookKey) throws(StoreError)

  /// Replaces the position of a webhook.
  func advance(_ webhook: WebhookKey, to position: Int64) throws(StoreError)

  /// Stops a webhook that answered with status 410 at `now`.
  func stop(_ webhook: WebhookKey, at now: Instant) throws(StoreError)

  /// Resumes a webhook that was stopped by status 410.
  func resume(_ webhook: WebhookKey) throws(StoreError)

  /// Inserts or replaces an undelivered message.
  func put(_ delivery: Delivery, of webhook: WebhookKey) throws(StoreError)

  /// Removes a delivered message.
  func remove(_ position: Int64, of webhook: WebhookKey) throws(StoreError)

  /// Returns the ordering keys of the messages at these positions that are stored. They differ from those of an earlier
  /// read if the customer was erased since.
  func orderingKeys(at positions: [Int64], of webhook: WebhookKey) throws(StoreError) -> Set<OrderingKey>

  /// Makes only the first pending message of each ordering key due: at its own time, or at `now` if it has
  /// none.
  func reschedule(_ keys: [OrderingKey], of webhook: WebhookKey, at now: Instant) throws(StoreError)

  /// Makes messages due at `now` that are due later: those at `positions`, or all if it is `nil`.
  func retryNow(_ positions: [Int64]?, of webhook: WebhookKey, at now: Instant) throws(StoreError)

  /// Removes dead letters: those at `positions`, or all if it is `nil`. Pending messages stay.
  ///
  /// - Returns: the number of removed messages.
  func discard(_ positions: [Int64]?, of webhook: WebhookKey) throws(StoreError) -> Int64
}

/// The customer or purchase whose messages are delivered in order.
package struct OrderingKey: Hashable, Sendable {
  /// `nil`: the message is of no environment.
  package let environment: Environment?
  /// A customer id or an original transaction id.
  package let name: String

  /// Creates a key from its parts.
  package init(environment: Environment?, name: String) {
    self.environment = environment
    self.name = name
  }

  package static func == (left: OrderingKey, right: OrderingKey) -> Bool {
    left.environment == right.environment && left.name.hasSameBytes(as: right.name)
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(environment)
    hasher.combine(OpaqueID(name))
  }
}

/// Reads webhook cursors and undelivered messages.
package protocol DeliveryReader: AnyObject {
  /// Returns the cursor of a webhook; `nil` if it has none yet.
  func cursor(of webhook: WebhookKey) throws(StoreError) -> WebhookCursor?

  /// Returns the position of the last message from before the webhook, at which its cursor began; 0 if it has none.
  func lastPosition(before webhook: WebhookKey) throws(StoreError) -> Int64

  /// Returns at most `limit` messages that are due by `now`, the longest overdue first.
  func deliveries(of webhook: WebhookKey, dueBy now: Instant, limit: Int) throws(StoreError) -> [Delivery]

  /// Returns the due time of the next message; `nil` if none is pending.
  func nextDue(of webhook: WebhookKey) throws(StoreError) -> Instant?

  /// Returns at most `limit` pending messages of an ordering key, in order.
  func pendingDeliveries(
    with key: OrderingKey, of webhook: WebhookKey, limit: Int
  ) throws(StoreError) -> [Delivery]

  /// Returns at most `limit` undelivered messages after `position`, in order; of one state, or of all.
  func deliveries(
    of webhook: WebhookKey, in state: Delivery.State?, after position: Int64, limit: Int
  ) throws(StoreError) -> [Delivery]

  /// Returns the number of undelivered messages by state.
  func deliveryCounts(of webhook: WebhookKey) throws(StoreError) -> DeliveryCounts
}

extension Delivery {
  /// Its ordering key.
  package var orderingKey: OrderingKey { OrderingKey(environment: environment, name: subject) }
}
