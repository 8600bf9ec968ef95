internal import AppStore
internal import Store

// What has no part in the order of things: sending, and writing down what came of it.
extension WebhookWorker {
  /// Sends lanes side by side, a bounded number at a time.
  func send(_ lanes: [OrderedBatch], isProbe: Bool) async -> BatchReport {
    await withTaskGroup(of: BatchReport.self) { group in
      var waiting = lanes[...]
      for lane in waiting.prefix(settings.concurrency) {
        group.addTask { await self.send(lane, isProbe: isProbe) }
      }
      waiting = waiting.dropFirst(settings.concurrency)
      var report = BatchReport()
      for await done in group {
        report.add(done)
        if let lane = waiting.popFirst() { group.addTask { await self.send(lane, isProbe: isProbe) } }
      }
      return report
    }
  }

  private func send(_ lane: OrderedBatch, isProbe: Bool) async -> BatchReport {
    var report = BatchReport()
    for (place, item) in lane.items.enumerated() {
      guard isProbe || maySend else {
        report.untouched(lane.items[place...])
        break
      }
      let start = now()
      let outcome = await sender.send(item.message)
      DeliveryMetrics.count(settings.key, outcome, milliseconds: now().milliseconds(since: start))
      guard note(outcome, of: item, in: &report) else {
        report.untouched(lane.items[(place + 1)...])
        break
      }
    }
    return report
  }

  private var maySend: Bool {
    !isGone && !Task.isCancelled && !health.isDown && health.retryDelay(at: now()) == nil
  }

  /// Writes down what came of an attempt.
  ///
  /// - Returns: whether the next message about the subject may follow.
  private func note(_ outcome: DeliveryOutcome, of item: OrderedBatch.Item, in report: inout BatchReport)
    -> Bool
  {
    attempts += 1
    switch outcome {
    case .delivered:
      if health.succeeded() { cameBack = true }
      report.arrived(item)
      return true
    case .failed(let problem, let retryAfter):
      let moment = now()
      health.failed(at: moment, retryAfter: retryAfter)
      let failed = item.delivery.failed(
        problem, at: moment, schedule: settings.schedule, retryAfter: retryAfter)
      if failed.state == .deadLetter { DeliveryMetrics.countDead(settings.key) }
      report.failed(failed)
      return failed.state == .deadLetter
    case .gone:
      isGone = true
      report.untouched([item])
      return false
    case .cancelled:
      report.untouched([item])
      return false
    }
  }

  func save(_ report: BatchReport, upTo end: Int64) async throws(StoreError) {
    let (key, moment, isHastened) = (settings.key, now(), cameBack)
    let cursor = WebhookCursor(position: end, goneAt: isGone ? moment : nil)
    try await store.write { store throws(StoreError) in
      for position in report.arrived { try store.remove(position, of: key) }
      for delivery in report.changed { try store.put(delivery, of: key) }
      try store.reschedule(Array(report.subjects), of: key, at: moment)
      if isHastened { try store.retryNow(key, at: moment) }
      try store.put(cursor, of: key)
    }
    // Only now: if it could not be written down, the same is sent again.
    position = end
    cameBack = false
  }

  /// Tells how much waits; not at every turn, since that is counted row by row.
  func measure() async throws(StoreError) {
    let moment = now()
    guard measuredAt.map({ moment.milliseconds(since: $0) >= 1_000 }) ?? true else { return }
    measuredAt = moment
    let counts = try await store.read { [settings] reader throws(StoreError) in
      try reader.deliveryCounts(of: settings.key)
    }
    DeliveryMetrics.tell(settings.key, counts, at: moment)
  }
}
