internal import AppStore
internal import Store

/// The messages of one ordering key, to be delivered in order: each waits for the one before. Batches of different keys
/// are sent concurrently.
struct OrderedBatch: Sendable {
  /// A message with its delivery.
  struct Item: Sendable {
    let message: OutgoingMessage
    /// As it is to be stored if the attempt fails.
    var delivery: Delivery
    /// Whether the delivery is stored.
    let isStored: Bool

    /// A new message from the log.
    init(_ message: OutgoingMessage) {
      self.message = message
      delivery = message.delivery
      isStored = false
    }

    /// A message whose earlier attempts failed.
    init(_ message: OutgoingMessage, stored: Delivery) {
      self.message = message
      delivery = stored
      isStored = true
    }
  }

  let key: OrderingKey
  var items: [Item] = []

  /// Groups the messages of a page by ordering key. The batches are in the order of their first messages, and each has
  /// its messages in the order of the page.
  static func batches(_ messages: [OutgoingMessage]) -> [OrderedBatch] {
    var batches: [OrderedBatch] = []
    var indices: [OrderingKey: Int] = [:]
    for message in messages {
      if let index = indices[message.orderingKey] {
        batches[index].items.append(Item(message))
      } else {
        indices[message.orderingKey] = batches.count
        batches.append(OrderedBatch(key: message.orderingKey, items: [Item(message)]))
      }
    }
    return batches
  }
}

/// The changes of stored deliveries after sending batches. ``WebhookWorker/save(_:upTo:)`` writes them.
struct BatchReport: Sendable {
  /// The positions of stored deliveries to remove.
  var removed: [Int64] = []
  /// The deliveries to store.
  var changed: [Delivery] = []
  /// The positions of messages that were sent or wait: the first delivery of each of their ordering keys must get a time
  /// to be due.
  var positions: [Int64] = []

  /// Records a success. A message that was never stored leaves no trace but the cursor.
  mutating func recordDelivered(_ item: OrderedBatch.Item) {
    if item.isStored { remove(item.delivery) }
  }

  /// Records that a stored delivery is obsolete.
  mutating func remove(_ delivery: Delivery) {
    removed.append(delivery.position)
    positions.append(delivery.position)
  }

  /// Records a new state of a delivery.
  mutating func store(_ delivery: Delivery) {
    changed.append(delivery)
    positions.append(delivery.position)
  }

  /// Records items that were not sent, because an earlier message or the webhook is not ready.
  mutating func recordPending(_ items: some Sequence<OrderedBatch.Item>) {
    for item in items {
      if item.isStored { positions.append(item.delivery.position) } else { store(item.delivery) }
    }
  }

  /// Adds the changes of another batch, which has other ordering keys.
  mutating func add(_ other: BatchReport) {
    removed += other.removed
    changed += other.changed
    positions += other.positions
  }
}

extension Delivery {
  /// Returns the delivery after an attempt that failed at `now`: due at the next time of the schedule, but not before
  /// `retryAfter` milliseconds have passed; a dead letter after the last time.
  func failed(
    _ outcome: String, at now: Instant, schedule: RetrySchedule, retryAfter: Int64?
  ) -> Delivery {
    var next = self
    // A first attempt in the future is of a clock that was ahead.
    let first = min(firstAttemptAt ?? now, now)
    next.firstAttemptAt = first
    next.attempts += 1
    next.outcome = outcome
    guard let due = schedule.next(after: now, first: first) else {
      next.state = .deadLetter
      next.dueAt = nil
      return next
    }
    next.dueAt = max(due, now.advanced(byMilliseconds: retryAfter ?? 0))
    return next
  }
}
