internal import AppStore
internal import Logging
internal import Store

// The outcomes of attempts, and their write.
extension WebhookWorker {
  /// Records the outcome of an attempt in the report and in the circuit breaker. After a failure, the later messages of the
  /// ordering key wait. A dead letter stops nothing, because it is not sent again.
  func finish(_ position: Int64, _ outcome: DeliveryOutcome) {
    guard let (item, rest) = queue.finish(position) else { return }
    switch outcome {
    case .delivered:
      breaker.succeeded()
      report.recordDelivered(item)
      queue.append(rest)
    case .refused(let problem, let retryAfter):
      breaker.refused(at: now())
      fail(item, problem, retryAfter, rest)
    case .failed(let problem, let retryAfter):
      report.dueNow.formUnion(
        breaker.failed(
          position, isFirst: item.delivery.attempts == 0, at: now(), retryAfter: retryAfter))
      fail(item, problem, retryAfter, rest)
    case .gone, .cancelled:
      // Only the first one is stored: the operator may resume the webhook while others are in flight.
      if outcome == .gone, !isGone { (isGone, report.isGone) = (true, true) }
      report.recordPending([item] + rest.items)
    }
  }

  private func fail(_ item: OrderedBatch.Item, _ problem: String, _ retryAfter: Int64?, _ rest: OrderedBatch)
  {
    let failed = item.delivery.failed(
      problem, at: now(), schedule: settings.schedule, retryAfter: retryAfter)
    report.store(failed)
    guard failed.state == .deadLetter else { return report.recordPending(rest.items) }
    DeliveryMetrics.countDeadLetter(settings.key)
    queue.append(rest)
  }

  /// Handles a message that cannot be made: the configuration no longer selects it, or its content was purged.
  func dropMessage(at position: Int64) {
    guard let (item, rest) = queue.finish(position) else { return }
    if source.selects(item.delivery) {
      bury(item.delivery.deadLetter(Delivery.notStored))
    } else if item.isStored {
      report.remove(item.delivery)
    }
    queue.append(rest)
  }

  /// Stores a dead letter without a body, so that the operator sees the loss.
  func bury(_ dead: Delivery) {
    DeliveryMetrics.countDeadLetter(settings.key)
    logger.error(
      "webhook message lost",
      metadata: [
        "app": "\(settings.key.appID)", "webhook": "\(settings.key.name)", "number": "\(dead.position)",
        "type": "\(dead.type)", "error": "\(dead.outcome)",
      ])
    report.store(dead)
  }

  /// Stores the report in one write: the cursor, and a row for each message that was not delivered. If it fails, the
  /// changes stay in the report, so that no message that was accepted is sent again.
  func save() async throws(StoreError) {
    let (key, instant, saved, end) = (settings.key, now(), report, end)
    let isPageComplete = queue.firstNew == nil
    report = BatchReport()
    do throws(StoreError) {
      try await store.write { store throws(StoreError) in
        for delivery in saved.changed { try store.put(delivery, of: key) }
        // As they are stored: a customer that was erased meanwhile has another one than the message.
        let keys = try store.orderingKeys(at: Array(saved.positions), of: key)
        for position in saved.removed { try store.remove(position, of: key) }
        try store.reschedule(Array(keys), of: key, at: instant)
        if !saved.dueNow.isEmpty { try store.retryNow(saved.dueNow.sorted(), of: key, at: instant) }
        try store.advance(key, to: end)
        if saved.isGone { try store.stop(key, at: instant) }
      }
    } catch {
      report = saved.followed(by: report)
      throw error
    }
    savedPosition = end
    if isPageComplete { isPageOpen = false }
  }
}
