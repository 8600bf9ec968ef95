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

  var isIdle: Bool { waiting.isEmpty && inFlight.isEmpty }
  var hasWaiting: Bool { !waiting.isEmpty }
  var inFlightCount: Int { inFlight.count }
  var positionsInFlight: Set<Int64> { Set(inFlight.keys) }

  /// The position of the first message that is not stored.
  var firstNew: Int64? {
    (waiting + inFlight.values).flatMap(\.items).filter { !$0.isStored }.map(\.delivery.position).min()
  }

  /// Adds a batch to the end of the queue, unless it is empty.
  mutating func append(_ batch: OrderedBatch) {
    if !batch.items.isEmpty { waiting.append(batch) }
  }

  /// Starts the next batches, at most `count`, and returns the first message of each, which is now in flight.
  mutating func start(_ count: Int) -> [OrderedBatch.Item] {
    let next = waiting.prefix(count)
    waiting.removeFirst(next.count)
    return next.compactMap { batch in
      guard let item = batch.items.first else { return nil }
      inFlight[item.delivery.position] = batch
      return item
    }
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
