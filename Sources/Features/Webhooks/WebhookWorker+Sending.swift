internal import AppStore
internal import Store

// Sends batches and stores the outcomes.
extension WebhookWorker {
  /// Sends batches concurrently, up to the configured number, and returns the changes to store. Nothing is stored here,
  /// so that a page needs one write.
  func send(_ batches: [OrderedBatch], isProbe: Bool) async -> BatchReport {
    await withTaskGroup(of: BatchReport.self) { group in
      var waiting = batches[...]
      for batch in waiting.prefix(settings.concurrency) {
        group.addTask { await self.send(batch, isProbe: isProbe) }
      }
      waiting = waiting.dropFirst(settings.concurrency)
      var report = BatchReport()
      for await done in group {
        report.add(done)
        if let batch = waiting.popFirst() { group.addTask { await self.send(batch, isProbe: isProbe) } }
      }
      return report
    }
  }

  /// Sends the messages of one ordering key in order, and stops at the first that was not delivered: those after it
  /// wait. A dead letter stops nothing, because it is not sent again. A probe is sent although the webhook is down.
  private func send(_ batch: OrderedBatch, isProbe: Bool) async -> BatchReport {
    var report = BatchReport()
    for (index, item) in batch.items.enumerated() {
      guard isProbe || maySend else {
        report.recordPending(batch.items[index...])
        break
      }
      let start = now()
      let outcome = await sender.send(item.message)
      DeliveryMetrics.count(settings.key, outcome, milliseconds: now().milliseconds(since: start))
      guard record(outcome, of: item, in: &report) else {
        report.recordPending(batch.items[(index + 1)...])
        break
      }
    }
    return report
  }

  /// Whether the webhook is up, and neither a cancellation nor `Retry-After` forbids a message now.
  private var maySend: Bool {
    !isGone && !Task.isCancelled && !breaker.isDown && breaker.retryDelay(at: now()) == nil
  }

  /// Records the outcome of an attempt in `report`, in the circuit breaker and in the metrics.
  private func record(_ outcome: DeliveryOutcome, of item: OrderedBatch.Item, in report: inout BatchReport)
    -> Bool
  {
    attempts += 1
    switch outcome {
    case .delivered:
      if breaker.succeeded() { hasRecovered = true }
      report.recordDelivered(item)
      return true
    case .failed(let problem, let retryAfter):
      let instant = now()
      breaker.failed(at: instant, retryAfter: retryAfter)
      let failed = item.delivery.failed(
        problem, at: instant, schedule: settings.schedule, retryAfter: retryAfter)
      if failed.state == .deadLetter { DeliveryMetrics.countDeadLetter(settings.key) }
      report.store(failed)
      return failed.state == .deadLetter
    case .gone:
      isGone = true
      report.recordPending([item])
      return false
    case .cancelled:
      report.recordPending([item])
      return false
    }
  }

  /// Stores the results of a page in one write: the cursor, and a row for each message that was not delivered. If the
  /// webhook has recovered, all its pending deliveries become due.
  func save(_ report: BatchReport, upTo end: Int64) async throws(StoreError) {
    let (key, instant, hasRecovered) = (settings.key, now(), hasRecovered)
    let cursor = WebhookCursor(position: end, goneAt: isGone ? instant : nil)
    try await store.write { store throws(StoreError) in
      for delivery in report.changed { try store.put(delivery, of: key) }
      // As they are stored: a customer that was erased meanwhile has another one than the message.
      let keys = try store.orderingKeys(at: report.positions, of: key)
      for position in report.removed { try store.remove(position, of: key) }
      try store.reschedule(Array(keys), of: key, at: instant)
      if hasRecovered { try store.retryNow(key, at: instant) }
      try store.put(cursor, of: key)
    }
    // If the write failed, the same messages are sent again.
    position = end
    self.hasRecovered = false
  }

  /// Records the counts of deliveries, at most once a second because counting reads all rows.
  func recordMetrics() async throws(StoreError) {
    let instant = now()
    guard measuredAt.map({ instant < $0 || instant.milliseconds(since: $0) >= 1_000 }) ?? true else { return }
    measuredAt = instant
    let counts = try await store.read { [settings] reader throws(StoreError) in
      try reader.deliveryCounts(of: settings.key)
    }
    DeliveryMetrics.record(settings.key, counts, at: instant)
  }
}
