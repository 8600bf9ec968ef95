internal import AppStore
internal import Store

// The loop of a run: it reads messages, sends them concurrently, and stores the outcomes.
extension WebhookWorker {
  /// The number of new messages that are read together.
  private static let pageSize = 100
  /// The number of due deliveries that are read together.
  private static let dueLimit = 32
  /// The time after which messages in flight no longer keep the next page waiting, and the progress is recorded.
  private static let maxPageDelay = Duration.seconds(1)

  /// The end of a task of the loop.
  private enum Wake { case sent, committed, delayed }

  /// Works until nothing is due and nothing is in flight. After the store failed, nothing more is sent, and the outcomes of
  /// the messages in flight are stored together with those that were not.
  func work() async throws(StoreError) {
    (failure, isProbing) = (nil, breaker.isDown && breaker.retryDelay(at: now()) == nil)
    do throws(StoreError) {
      if isProbing { try await readProbe() }
    } catch {
      failure = error
    }
    await withTaskGroup(of: Wake.self) { group in
      await work(in: &group)
      group.cancelAll()
    }
    guard let failure else { return }
    if hasUnsaved { try await save() }
    // Cancellation ends reads, and is no failure.
    if !Task.isCancelled { throw failure }
  }

  private func work(in group: inout TaskGroup<Wake>) async {
    let commits = store.commits()
    // The tasks in the group that do not send.
    var waits: Set<Wake> = []
    var wake: Wake?
    while true {
      var hasMore = false
      do throws(StoreError) {
        if failure == nil { try await storeProgress(isDelayed: wake == .delayed) }
        hasMore = try await startMore(in: &group)
      } catch {
        failure = error
      }
      wake = nil
      if hasMore || failure == nil && hasUnsaved { continue }
      if queue.isIdle { return }
      guard queue.inFlightCount > 0 else { continue }
      if !Task.isCancelled {
        if waits.insert(.committed).inserted { group.addTask { await Self.next(commits) } }
        if waits.insert(.delayed).inserted { group.addTask { await Self.delay() } }
      }
      wake = await group.next()
      if let wake { waits.remove(wake) }
    }
  }

  /// Stores the outcomes; each second also the messages that the next page waits for, and the progress of the others.
  private func storeProgress(isDelayed: Bool) async throws(StoreError) {
    if isDelayed {
      release()
      try await retryIfClockWasSetBack()
      _ = try await recordProgress()
    }
    while hasUnsaved { try await save() }
  }

  private static func next(_ commits: AsyncStream<Void>) async -> Wake {
    var iterator = commits.makeAsyncIterator()
    _ = await iterator.next()
    return .committed
  }

  private static func delay() async -> Wake {
    try? await Task.sleep(for: maxPageDelay)
    return .delayed
  }

  /// Reads and starts messages if the webhook may get some. Otherwise those that wait are stored as soon as nothing is in
  /// flight: a success of another message may end the pause.
  ///
  /// - Returns: whether there may be more although nothing waits now.
  private func startMore(in group: inout TaskGroup<Wake>) async throws(StoreError) -> Bool {
    // A probe ends with the first success.
    isProbing = isProbing && breaker.isDown
    guard maySend else {
      if queue.inFlightCount == 0 { report.recordPending(queue.removeWaiting()) }
      return false
    }
    let hasMore = breaker.isDown ? false : try await readMore()
    try await start(in: &group)
    return hasMore
  }

  /// Whether the webhook is up or probed, and neither a failure of the store, a cancellation nor `Retry-After` forbids a
  /// message now.
  private var maySend: Bool {
    guard failure == nil, !isGone, !Task.isCancelled else { return false }
    return breaker.isDown ? isProbing : breaker.retryDelay(at: now()) == nil
  }

  /// The position up to which all messages are delivered or stored.
  var end: Int64 { queue.firstNew.map { $0 - 1 } ?? position }

  /// Whether there are changes to store, or all new messages are delivered or stored.
  var hasUnsaved: Bool { !report.isEmpty || isPageOpen && queue.firstNew == nil }

  /// Reads due deliveries and new messages if connections are free and nothing waits for them.
  ///
  /// - Returns: whether there may be more although nothing waits now.
  private func readMore() async throws(StoreError) -> Bool {
    guard !queue.hasWaiting, queue.inFlightCount < settings.concurrency else { return false }
    let hasMore = try await read(due: Self.dueLimit)
    return hasMore && !queue.hasWaiting
  }

  /// Reads the next due delivery and one new message, because the webhook may reject only the former.
  private func readProbe() async throws(StoreError) {
    var hasMore = try await read(due: 1, isProbe: true)
    while hasMore, queue.firstNew == nil {
      if hasUnsaved { try await save() }
      hasMore = try await read(due: 0, isProbe: true)
    }
  }

  /// Reads due deliveries and, if no page is open, new messages into the queue; one of these at most for a probe. New ones of
  /// ordering keys with a pending delivery are stored, so that they follow it. All earlier changes must be stored.
  ///
  /// - Returns: whether the log may have more.
  private func read(due dueLimit: Int, isProbe: Bool = false) async throws(StoreError) -> Bool {
    // What is in memory now may be sent and not stored when the read ends.
    let (held, instant, isPageOpen) = (queue, now(), isPageOpen)
    let (due, page, blocked) = try await store.read {
      [source, settings, position] reader throws(StoreError) in
      let due = try reader.deliveries(
        of: settings.key, dueBy: instant, limit: dueLimit + 2 * held.count)
      guard !isPageOpen else { return (due, MessagePage(end: position), Set<OrderingKey>()) }
      let page = try source.page(after: position, limit: Self.pageSize, in: reader)
      var blocked: Set<OrderingKey> = []
      for key in Set(page.deliveries.map(\.orderingKey)) {
        let first = try reader.pendingDeliveries(with: key, of: settings.key, limit: 1)
        if !first.isEmpty { blocked.insert(key) }
      }
      return (due, page, blocked)
    }
    for delivery in due.filter({ !held.holds($0) }).prefix(dueLimit) {
      queue.append(
        OrderedBatch(key: delivery.orderingKey, items: [.init(delivery: delivery, isStored: true)]))
    }
    guard !isPageOpen else { return false }
    let isFree = { (message: Delivery) in
      message.state == .pending && !blocked.contains(message.orderingKey)
    }
    take(isProbe ? page.prefix(throughFirst: isFree) : page, blocked)
    return page.hasMore
  }

  /// Adds the messages of a page to the queue, or to the report.
  private func take(_ page: MessagePage, _ blocked: Set<OrderingKey>) {
    position = page.end
    isPageOpen = !page.deliveries.isEmpty
    for lost in page.deliveries where lost.state == .deadLetter { bury(lost) }
    for batch in OrderedBatch.batches(page.deliveries.filter { $0.state == .pending }) {
      if blocked.contains(batch.key) { report.recordPending(batch.items) } else { queue.append(batch) }
    }
  }

  /// Starts messages while connections are free. Their bodies are made now, so that they have the pseudonym of a customer
  /// who was erased meanwhile.
  private func start(in group: inout TaskGroup<Wake>) async throws(StoreError) {
    while maySend, queue.hasWaiting, queue.inFlightCount < settings.concurrency {
      let items = queue.start(settings.concurrency)
      let messages: [OutgoingMessage?]
      do throws(StoreError) {
        messages = try await store.read { [source] reader throws(StoreError) in
          try items.map { item throws(StoreError) in
            try source.message(at: item.delivery.position, in: reader)
          }
        }
      } catch {
        for item in items { finish(item.delivery.position, .cancelled) }
        throw error
      }
      for (item, message) in zip(items, messages) {
        let position = item.delivery.position
        guard let message else {
          dropMessage(at: position)
          continue
        }
        guard maySend else {
          finish(position, .cancelled)
          continue
        }
        group.addTask {
          await self.send(message)
          return .sent
        }
      }
    }
  }

  private func send(_ message: OutgoingMessage) async {
    let start = now()
    let outcome = await sender.send(message)
    DeliveryMetrics.count(settings.key, outcome, milliseconds: now().milliseconds(since: start))
    finish(message.position, outcome)
  }

  /// Stores the messages in flight and those after them as pending if connections are free: then they are all that the
  /// next page waits for.
  private func release() {
    guard !queue.hasWaiting, queue.inFlightCount < settings.concurrency else { return }
    report.recordPending(queue.release())
  }
}
