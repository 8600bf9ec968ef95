internal import AppStore
internal import Store

/// Messages about one subject, in the order in which they have to arrive: each waits for the one before.
struct OrderedBatch: Sendable {
  /// A message, and what is known of earlier attempts.
  struct Item: Sendable {
    let message: OutgoingMessage
    var delivery: Delivery
    /// It stands in the store already.
    let isStored: Bool

    /// A message that the log has just given.
    init(_ message: OutgoingMessage) {
      self.message = message
      delivery = message.delivery
      isStored = false
    }

    /// A message that did not arrive before.
    init(_ message: OutgoingMessage, stored: Delivery) {
      self.message = message
      delivery = stored
      isStored = true
    }
  }

  let subject: OrderingKey
  var items: [Item] = []

  /// Messages of a page, those about one subject together.
  static func lanes(_ messages: [OutgoingMessage]) -> [OrderedBatch] {
    var lanes: [OrderedBatch] = []
    var places: [OrderingKey: Int] = [:]
    for message in messages {
      if let place = places[message.about] {
        lanes[place].items.append(Item(message))
      } else {
        places[message.about] = lanes.count
        lanes.append(OrderedBatch(subject: message.about, items: [Item(message)]))
      }
    }
    return lanes
  }
}

/// What became of lanes, as far as it has to be remembered.
struct BatchReport: Sendable {
  /// Stand among the deliveries, and have to go.
  var arrived: [Int64] = []
  /// Did not arrive.
  var changed: [Delivery] = []
  /// Whom deliveries are about that changed.
  var subjects: Set<OrderingKey> = []

  mutating func arrived(_ item: OrderedBatch.Item) {
    if item.isStored { drop(item.delivery) }
  }

  /// Nobody wants it any more.
  mutating func drop(_ delivery: Delivery) {
    arrived.append(delivery.position)
    subjects.insert(delivery.about)
  }

  mutating func failed(_ delivery: Delivery) {
    changed.append(delivery)
    subjects.insert(delivery.about)
  }

  /// Was not tried: it waits behind another one, or for the receiver.
  mutating func untouched(_ items: some Sequence<OrderedBatch.Item>) {
    for item in items where !item.isStored { failed(item.delivery) }
    for item in items { subjects.insert(item.message.about) }
  }

  mutating func add(_ other: BatchReport) {
    arrived += other.arrived
    changed += other.changed
    subjects.formUnion(other.subjects)
  }
}

extension Delivery {
  /// The delivery after an attempt at `now` that was in vain.
  func failed(
    _ outcome: String, at now: Instant, schedule: RetrySchedule, retryAfter: Int64?
  ) -> Delivery {
    var next = self
    let first = firstAttemptAt ?? now
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
