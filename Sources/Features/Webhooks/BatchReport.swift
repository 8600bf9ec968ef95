internal import AppStore
internal import Store

/// The changes of stored deliveries since the last write. ``WebhookWorker/save()`` writes them.
struct BatchReport: Sendable {
  /// The positions of stored deliveries to remove.
  private(set) var removed: [Int64] = []
  /// The deliveries to store.
  private(set) var changed: [Delivery] = []
  /// The positions of messages that were sent or wait: the first delivery of each of their ordering keys must get a time
  /// to be due.
  private(set) var positions: Set<Int64> = []
  /// The positions of deliveries that are due at once.
  var dueNow: Set<Int64> = []
  /// Whether the webhook returned 410.
  var isGone = false

  var isEmpty: Bool { positions.isEmpty }

  /// Records a success. A message that was never stored leaves no trace but the cursor.
  mutating func recordDelivered(_ item: OrderedBatch.Item) {
    if item.isStored { remove(item.delivery) }
  }

  /// Records that a stored delivery is obsolete.
  mutating func remove(_ delivery: Delivery) {
    removed.append(delivery.position)
    positions.insert(delivery.position)
  }

  /// Records a new state of a delivery.
  mutating func store(_ delivery: Delivery) {
    changed.append(delivery)
    positions.insert(delivery.position)
  }

  /// Records items that were not sent, because an earlier message or the webhook is not ready.
  mutating func recordPending(_ items: some Sequence<OrderedBatch.Item>) {
    for item in items {
      if item.isStored { positions.insert(item.delivery.position) } else { store(item.delivery) }
    }
  }

  /// Returns the report with the changes that were made after it.
  func followed(by later: BatchReport) -> BatchReport {
    var both = self
    both.removed += later.removed
    both.changed += later.changed
    both.positions.formUnion(later.positions)
    both.dueNow.formUnion(later.dueNow)
    both.isGone = isGone || later.isGone
    return both
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
    guard let due = schedule.next(after: now, first: first) else { return next.deadLetter(outcome) }
    next.dueAt = max(due, now.advanced(byMilliseconds: retryAfter ?? 0))
    return next
  }

  /// The outcome of a message whose content is missing.
  static let notStored = "not sent: its content is no longer stored"

  /// Returns the delivery as a dead letter, with the reason.
  func deadLetter(_ outcome: String) -> Delivery {
    var dead = self
    dead.state = .deadLetter
    dead.dueAt = nil
    dead.outcome = outcome
    return dead
  }
}
