internal import AppStore
internal import Store

/// The messages of one ordering key, to be delivered in order: each waits for the one before. Batches of different keys
/// are sent concurrently.
struct OrderedBatch: Sendable {
  /// A message without its body, which is made just before it is sent.
  struct Item: Hashable, Sendable {
    /// As it is to be stored if the attempt fails.
    let delivery: Delivery
    /// Whether the delivery is stored. Otherwise the cursor must not pass it.
    var isStored: Bool
  }

  let key: OrderingKey
  var items: [Item] = []

  /// Whether its first message is stored.
  var isStored: Bool { items.first?.isStored ?? false }

  /// Groups the new messages of a page by ordering key. The batches are in the order of their first messages, and each
  /// has its messages in the order of the page.
  static func batches(_ deliveries: [Delivery]) -> [OrderedBatch] {
    var batches: [OrderedBatch] = []
    var indices: [OrderingKey: Int] = [:]
    for delivery in deliveries {
      let item = Item(delivery: delivery, isStored: false)
      if let index = indices[delivery.orderingKey] {
        batches[index].items.append(item)
      } else {
        indices[delivery.orderingKey] = batches.count
        batches.append(OrderedBatch(key: delivery.orderingKey, items: [item]))
      }
    }
    return batches
  }
}

/// The batches of a worker: those that wait for a connection, and those with a message in flight.
struct SendQueue: Sendable {
  private var waiting: [OrderedBatch] = []
  /// By the position of the message in flight, which is the first of its batch.
  private var inFlight: [Int64: OrderedBatch] = [:]
  /// Whether the last batch that started has a stored delivery.
  private var startedStored = false

  var isIdle: Bool { waiting.isEmpty && inFlight.isEmpty }
  var hasWaiting: Bool { !waiting.isEmpty }
  var inFlightCount: Int { inFlight.count }
  /// The number of messages in memory.
  var count: Int { batches.reduce(0) { $0 + $1.items.count } }

  /// The position of the first message that is not stored.
  var firstNew: Int64? {
    batches.flatMap(\.items).filter { !$0.isStored }.map(\.delivery.position).min()
  }

  private var batches: [OrderedBatch] { waiting + inFlight.values }

  /// Whether the message of a delivery, or another one of its ordering key, is in memory. An erasure changes the key that is
  /// stored.
  func holds(_ delivery: Delivery) -> Bool {
    batches.contains { batch in
      batch.key == delivery.orderingKey
        || batch.items.contains { $0.delivery.position == delivery.position }
    }
  }

  /// Adds a batch to the end of the queue, unless it is empty.
  mutating func append(_ batch: OrderedBatch) {
    if !batch.items.isEmpty { waiting.append(batch) }
  }

  /// Starts the next batches while less than `concurrency` are in flight, and returns the first message of each, which is
  /// now in flight.
  mutating func start(_ concurrency: Int) -> [OrderedBatch.Item] {
    var started: [OrderedBatch.Item] = []
    while inFlight.count < concurrency, let index = nextIndex(concurrency) {
      let batch = waiting.remove(at: index)
      guard let item = batch.items.first else { continue }
      assert(inFlight[item.delivery.position] == nil, "a message is in flight once")
      inFlight[item.delivery.position] = batch
      startedStored = batch.isStored
      started.append(item)
    }
    return started
  }

  /// The index of the next batch. Stored deliveries and new messages take turns, and the former get at most half of the
  /// connections while new ones wait: most of them failed before, and would seem to show that the webhook is down.
  private func nextIndex(_ concurrency: Int) -> Int? {
    let storedCount = inFlight.values.count { $0.isStored }
    let isNewNext = startedStored || storedCount * 2 >= concurrency
    return waiting.firstIndex { $0.isStored != isNewNext } ?? waiting.indices.first
  }

  /// Removes the message in flight at `position`.
  ///
  /// - Returns: the message, and the batch of those after it.
  mutating func finish(_ position: Int64) -> (item: OrderedBatch.Item, rest: OrderedBatch)? {
    guard var batch = inFlight.removeValue(forKey: position), let item = batch.items.first else { return nil }
    batch.items.removeFirst()
    return (item, batch)
  }

  /// Removes all messages that wait for a connection, and returns them.
  mutating func removeWaiting() -> [OrderedBatch.Item] {
    defer { waiting = [] }
    return waiting.flatMap(\.items)
  }

  /// Leaves only the messages in flight, which count as stored from now on, and returns all that were not stored before.
  mutating func release() -> [OrderedBatch.Item] {
    let items = removeWaiting() + inFlight.values.flatMap(\.items)
    inFlight = inFlight.mapValues { batch in
      OrderedBatch(
        key: batch.key,
        items: batch.items.prefix(1).map { OrderedBatch.Item(delivery: $0.delivery, isStored: true) })
    }
    return items.filter { !$0.isStored }
  }
}
