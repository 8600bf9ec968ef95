internal import AppStore
internal import Store

// The loop of a run: it reads messages, sends them concurrently, and stores the outcomes.
extension WebhookWorker {
  /// The number of new messages that are read together.
  private static let pageSize = 100
  /// The number of due deliveries that are read together.
  private static let dueLimit = 32
  /// The time after which messages in flight no longer keep the next page waiting.
  private static let maxPageDelay = Duration.seconds(1)

  /// The end of a task of the loop.
  private enum Wake { case sent, committed, delayed }

  /// Works until nothing is due and nothing is in flight.
  func work() async throws(StoreError) {
    let commits = store.commits()
    try await withTaskGroup(of: Wake.self) { group -> Result<Void, StoreError> in
      defer { group.cancelAll() }
      do throws(StoreError) {
        return .success(try await work(in: &group, commits))
      } catch {
        return .failure(error)
      }
    }.get()
  }

  private func work(in group: inout TaskGroup<Wake>, _ commits: AsyncStream<Void>) async throws(StoreError) {
    isProbing = breaker.isDown && breaker.retryDelay(at: now()) == nil
    readFailure = nil
    // The number of due deliveries in the next read of a probe; `nil` if it is read.
    var probe = isProbing ? 1 : nil
    var (isListening, isTiming) = (false, false)
    while true {
      while hasUnsaved { try await save() }
      let hasMore = await startMore(in: &group, probe: probe)
      probe = probe != nil && hasMore ? 0 : nil
      if queue.isIdle, !hasUnsaved {
        // Cancellation ends reads, and is no failure.
        if let readFailure, !Task.isCancelled { throw readFailure }
        if hasMore { continue }
        guard isProbing else { return }
        isProbing = false
      }
      guard queue.inFlightCount > 0, !hasMore, !hasUnsaved else { continue }
      if !Task.isCancelled {
        if !isListening { group.addTask { await Self.next(commits) } }
        if !isTiming { group.addTask { await Self.delay() } }
        (isListening, isTiming) = (true, true)
      }
      switch await group.next() {
      case .committed?: isListening = false
      case .delayed?:
        isTiming = false
        release()
        try await recordProgressUnlessCancelled()
      case .sent?, nil: break
      }
    }
  }

  private func recordProgressUnlessCancelled() async throws(StoreError) {
    do throws(StoreError) {
      _ = try await recordProgress()
    } catch {
      guard Task.isCancelled, error == .cancelled else { throw error }
    }
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

  /// Reads and starts messages if the webhook may get some; otherwise those that wait are stored. After a failed read the
  /// outcomes of what was sent are still stored.
  ///
  /// - Returns: whether there may be more although nothing waits now.
  private func startMore(
    in group: inout TaskGroup<Wake>, probe: Int?
  ) async -> Bool {
    guard maySend else {
      report.recordPending(queue.removeWaiting())
      return false
    }
    do throws(StoreError) {
      var hasMore = false
      if let probe {
        // The next due delivery and a new message, because the webhook may reject only the former. New ones that wait for
        // an earlier one of their ordering key are passed.
        hasMore = try await read(due: probe, new: 1) && queue.firstNew == nil
      } else if !isProbing {
        hasMore = try await readMore()
      }
      try await start(in: &group)
      return hasMore
    } catch {
      readFailure = error
      return false
    }
  }

  /// Whether the webhook is up or probed, and neither a failed read, a cancellation nor `Retry-After` forbids a message now.
  private var maySend: Bool {
    readFailure == nil && !isGone && !Task.isCancelled
      && (isProbing || !breaker.isDown && breaker.retryDelay(at: now()) == nil)
  }

  /// The position up to which all messages are delivered or stored.
  var end: Int64 { queue.firstNew.map { $0 - 1 } ?? position }

  /// Whether there are changes to store, or all new messages are delivered or stored.
  private var hasUnsaved: Bool { !report.isEmpty || isPageOpen && queue.firstNew == nil }

  /// Reads due deliveries and new messages if connections are free and nothing waits for them.
  ///
  /// - Returns: whether there may be more although nothing waits now.
  private func readMore() async throws(StoreError) -> Bool {
    guard !queue.hasWaiting, queue.inFlightCount < settings.concurrency else { return false }
    let hasMore = try await read(due: Self.dueLimit, new: Self.pageSize)
    return hasMore && !queue.hasWaiting
  }

  /// Reads due deliveries and, if no page is open, new messages into the queue. New ones of ordering keys with a pending
  /// delivery are stored, so that they follow it. All earlier changes must be stored.
  ///
  /// - Returns: whether the log may have more.
  private func read(due dueLimit: Int, new pageSize: Int) async throws(StoreError) -> Bool {
    let (inFlight, instant, isPageOpen) = (queue.positionsInFlight, now(), isPageOpen)
    let (due, page, blocked) = try await store.read {
      [source, settings, position] reader throws(StoreError) in
      let due = try reader.deliveries(
        of: settings.key, dueBy: instant, limit: dueLimit + inFlight.count)
      guard !isPageOpen else { return (due, MessagePage(end: position), Set<OrderingKey>()) }
      let page = try source.page(after: position, limit: pageSize, in: reader)
      var blocked: Set<OrderingKey> = []
      for key in Set(page.deliveries.map(\.orderingKey)) {
        let first = try reader.pendingDeliveries(with: key, of: settings.key, limit: 1)
        if !first.isEmpty { blocked.insert(key) }
      }
      return (due, page, blocked)
    }
    for delivery in due.filter({ !inFlight.contains($0.position) }).prefix(dueLimit) {
      queue.append(
        OrderedBatch(key: delivery.orderingKey, items: [.init(delivery: delivery, isStored: true)]))
    }
    guard !isPageOpen else { return false }
    position = page.end
    self.isPageOpen = !page.deliveries.isEmpty
    for lost in page.deliveries where lost.state == .deadLetter { bury(lost) }
    for batch in OrderedBatch.batches(page.deliveries.filter { $0.state == .pending }) {
      if blocked.contains(batch.key) { report.recordPending(batch.items) } else { queue.append(batch) }
    }
    return page.hasMore
  }

  /// Starts messages while connections are free. Their bodies are made now, so that they have the pseudonym of a customer
  /// who was erased meanwhile.
  private func start(in group: inout TaskGroup<Wake>) async throws(StoreError) {
    while maySend, queue.hasWaiting, queue.inFlightCount < settings.concurrency {
      let items = queue.start(settings.concurrency - queue.inFlightCount)
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
