package import AppStore

/// Keeps what went out, and what has to be sent again.
package protocol DeliveryStore {
  /// Makes an outlet that begins behind the last message that there is; one that is known stays as it is.
  func begin(_ outlet: WebhookKey) throws(StoreError)

  /// Remembers how far messages went out.
  func put(_ state: WebhookCursor, of outlet: WebhookKey) throws(StoreError)

  /// Forgets that the receiver wanted no more.
  func resume(_ outlet: WebhookKey) throws(StoreError)

  /// Remembers a message that did not arrive, or what became of it since.
  func put(_ delivery: Delivery, of outlet: WebhookKey) throws(StoreError)

  /// Forgets a message, since it arrived.
  func remove(_ position: Int64, of outlet: WebhookKey) throws(StoreError)

  /// Sees to it that of each subject the first message that waits, and no other, is due: at the moment that it
  /// has, or at `now` if it has none.
  func order(_ subjects: [OrderingKey], of outlet: WebhookKey, at now: Instant) throws(StoreError)

  /// Makes everything due at `now` that is due later.
  func hasten(_ outlet: WebhookKey, at now: Instant) throws(StoreError)

  /// Forgets messages that were given up: these, or all if `positions` is `nil`. Others stay.
  ///
  /// - Returns: how many there were.
  func discard(_ positions: [Int64]?, of outlet: WebhookKey) throws(StoreError) -> Int64

  /// Lets at most `limit` dead messages wait again, as if they had never been tried, the first one first.
  ///
  /// - Returns: whom they are about.
  func revive(_ outlet: WebhookKey, limit: Int) throws(StoreError) -> [OrderingKey]
}

/// Whom messages are about that have to arrive in their order.
package struct OrderingKey: Hashable, Sendable {
  package let environment: Environment?
  /// A customer, or a purchase line.
  package let name: String

  /// A subject by its environment and its name there.
  package init(environment: Environment?, name: String) {
    self.environment = environment
    self.name = name
  }
}

/// Reads what did not arrive.
package protocol DeliveryReader: AnyObject {
  /// How far messages went out; `nil` if the outlet was never begun.
  func outlet(_ outlet: WebhookKey) throws(StoreError) -> WebhookCursor?

  /// At most `limit` messages that are due by `now`, those that wait longest first.
  func deliveries(of outlet: WebhookKey, dueBy now: Instant, limit: Int) throws(StoreError) -> [Delivery]

  /// When a message of an outlet is due next; `nil` if none waits.
  func nextDue(of outlet: WebhookKey) throws(StoreError) -> Instant?

  /// At most `limit` messages about a subject that wait, in their order.
  func deliveries(
    about subject: OrderingKey, of outlet: WebhookKey, limit: Int
  ) throws(StoreError) -> [Delivery]

  /// At most `limit` messages that did not arrive, in their order, beginning behind `position`; of one state,
  /// or all.
  func deliveries(
    of outlet: WebhookKey, in state: Delivery.State?, after position: Int64, limit: Int
  ) throws(StoreError) -> [Delivery]

  /// How many messages did not arrive.
  func deliveryCounts(of outlet: WebhookKey) throws(StoreError) -> DeliveryCounts
}

extension Delivery {
  /// Whom it is about.
  package var about: OrderingKey { OrderingKey(environment: environment, name: subject) }
}
