internal import AppStore
internal import AppStoreClient
internal import Store

/// Delivers messages to one webhook: in order for each ordering key, and concurrently for different ones.
///
/// A delivered message only advances the cursor. A failed one is stored as a delivery, and so are all later ones of the
/// same ordering key, until the first is delivered or becomes a dead letter. After a crash, the last page is sent again
/// with the same ids, so delivery is at least once.
actor WebhookWorker {
  /// The number of new messages that are read, sent and stored together.
  private static let pageSize = 100
  /// The number of due deliveries that one step resends.
  private static let dueLimit = 32
  /// The number of deliveries of one ordering key that one step resends.
  private static let maxBatchLength = 20
  /// Milliseconds.
  private static let maxWait: Int64 = 60_000
  /// The number of filtered messages after which the cursor is stored without a delivery.
  private static let cursorStride: Int64 = 1_000

  let settings: WebhookSettings
  private let source: any MessageSource
  let sender: MessageSender
  let store: any EntitlementStore
  let now: @Sendable () -> Instant
  /// It is lost with the worker: after a restart, a failing webhook gets at least five messages before only probes are
  /// sent.
  var breaker = WebhookCircuitBreaker()
  /// The position up to which messages were read from the log. It may be ahead of the stored cursor by filtered
  /// messages.
  var position: Int64 = 0
  /// Whether the webhook returned 410 in this run. The stored cursor has it for later ones.
  var isGone = false
  /// Whether the webhook was down and accepted a message, so that all pending deliveries are due.
  var hasRecovered = false
  /// The number of attempts since the start, by which a probe sees whether it sent something.
  var attempts = 0
  /// The time of the last ``recordMetrics()``.
  var measuredAt: Instant?
  /// The time of the last run.
  private var lastRun: Instant?

  init(
    _ settings: WebhookSettings, source: any MessageSource, exchange: any HTTPExchange,
    store: any EntitlementStore, now: @escaping @Sendable () -> Instant
  ) {
    self.settings = settings
    self.source = source
    sender = MessageSender(settings: settings, exchange: exchange, now: now)
    self.store = store
    self.now = now
  }

  /// Sends all messages that are due, until nothing is left, the circuit breaker demands a pause, or the task is
  /// cancelled. A webhook that returned 410 gets nothing until the operator resumes it.
  ///
  /// - Returns: the milliseconds until the next run, from 1 to 60,000, unless a commit causes one before.
  /// - Throws: ``StoreError``. Messages that were sent and not recorded are sent again.
  func run() async throws(StoreError) -> Int64 {
    var saved = try await cursor()
    if saved == nil {
      // It was configured while this replica became the leader, which had stored the cursors already.
      try await store.write { [settings] store throws(StoreError) in try store.begin(settings.key) }
      saved = try await cursor()
    }
    guard let saved else { return Self.maxWait }
    // Each run records it, because a process that did not see the response has to report it as well.
    DeliveryMetrics.record(settings.key, isGone: saved.goneAt != nil)
    guard saved.goneAt == nil else {
      try await recordMetrics()
      return Self.maxWait
    }
    position = max(position, saved.position)
    isGone = false
    try await retryIfClockWasSetBack()
    var isBusy = true
    while isBusy, !isGone, !Task.isCancelled, breaker.retryDelay(at: now()) == nil {
      isBusy = try await breaker.isDown ? probe() : step()
    }
    DeliveryMetrics.record(settings.key, isGone: isGone)
    if position - saved.position >= Self.cursorStride { try await save(BatchReport(), upTo: position) }
    try await recordMetrics()
    if let delay = breaker.retryDelay(at: now()) { return delay }
    let due = try await store.read { [settings] reader throws(StoreError) in
      try reader.nextDue(of: settings.key)
    }
    guard let wait = due?.milliseconds(since: now()) else { return Self.maxWait }
    if wait > settings.schedule.longestDelay {
      // A worker before this one had a clock that was ahead.
      try await retryAll()
      return 1
    }
    return min(max(wait, 1), Self.maxWait)
  }

  /// Stores the position if messages that the webhook does not select moved it, before another worker begins at the
  /// stored one: if that selects more, it must not send messages from before its configuration.
  ///
  /// A replica that no longer leads cannot, and the next leader has the configuration that it starts with.
  func finish() async {
    guard let saved = try? await cursor(), saved.goneAt == nil, position > saved.position else { return }
    isGone = false
    try? await save(BatchReport(), upTo: position)
  }

  /// Makes all deliveries due if the clock was ahead at the last run, because they would wait until it shows their times
  /// again.
  private func retryIfClockWasSetBack() async throws(StoreError) {
    let instant = now()
    if let lastRun, lastRun.milliseconds(since: instant) > Self.maxWait { try await retryAll() }
    lastRun = instant
  }

  private func retryAll() async throws(StoreError) {
    let (key, instant) = (settings.key, now())
    try await store.write { store throws(StoreError) in try store.retryNow(key, at: instant) }
  }

  private func cursor() async throws(StoreError) -> WebhookCursor? {
    try await store.read { [settings] reader throws(StoreError) in try reader.cursor(of: settings.key) }
  }

  /// Resends due deliveries, then sends new messages. A webhook that went down meanwhile gets no new messages.
  private func step() async throws(StoreError) -> Bool {
    let instant = now()
    let due = try await store.read { [settings] reader throws(StoreError) in
      try reader.deliveries(of: settings.key, dueBy: instant, limit: Self.dueLimit)
    }
    try await resend(due)
    guard !breaker.isDown, breaker.retryDelay(at: now()) == nil else { return true }
    let hasMore = try await sendNextPage(Self.pageSize)
    return hasMore || due.count == Self.dueLimit
  }

  /// Probes a webhook that is down, with the next due delivery and with a new message, because the webhook may reject only
  /// the former.
  ///
  /// - Returns: whether there may be more.
  private func probe() async throws(StoreError) -> Bool {
    let next = try await store.read { [settings] reader throws(StoreError) in
      try reader.deliveries(
        of: settings.key, dueBy: .distantFuture, limit: 1)
    }
    try await resend(next, isProbe: true)
    let before = attempts
    var hasMore = true
    while hasMore, attempts == before { hasMore = try await sendNextPage(1, isProbe: true) }
    return !breaker.isDown
  }

  /// Sends new messages from the log; those of ordering keys with a pending delivery are stored, so that they follow
  /// it. A page without a message for this webhook advances the position in memory only.
  private func sendNextPage(_ limit: Int, isProbe: Bool = false) async throws(StoreError) -> Bool {
    guard !isGone else { return false }
    let (page, blocked) = try await store.read { [source, settings, position] reader throws(StoreError) in
      let page = try source.page(after: position, limit: limit, in: reader)
      var blocked: Set<OrderingKey> = []
      for key in Set(page.messages.map(\.orderingKey)) {
        let first = try reader.pendingDeliveries(with: key, of: settings.key, limit: 1)
        if !first.isEmpty { blocked.insert(key) }
      }
      return (page, blocked)
    }
    guard !page.messages.isEmpty else {
      position = page.end
      return page.hasMore
    }
    var report = BatchReport()
    var open: [OrderedBatch] = []
    for batch in OrderedBatch.batches(page.messages) {
      if blocked.contains(batch.key) { report.recordPending(batch.items) } else { open.append(batch) }
    }
    report.add(await send(open, isProbe: isProbe))
    try await save(report, upTo: page.end)
    return page.hasMore
  }

  /// Resends deliveries, each followed by the later ones of its ordering key; a probe sends only the first.
  private func resend(_ due: [Delivery], isProbe: Bool = false) async throws(StoreError) {
    guard !due.isEmpty else { return }
    var report = BatchReport()
    var batches: [OrderedBatch] = []
    for first in due {
      let pending = try await store.read { [source, settings] reader throws(StoreError) in
        try reader.pendingDeliveries(
          with: first.orderingKey, of: settings.key, limit: isProbe ? 1 : Self.maxBatchLength
        ).map { delivery throws(StoreError) in
          (delivery, try source.message(at: delivery.position, in: reader))
        }
      }
      var batch = OrderedBatch(key: first.orderingKey)
      for (delivery, message) in pending {
        // A message that the configuration no longer selects is removed.
        if let message {
          batch.items.append(.init(message, stored: delivery))
        } else {
          report.remove(delivery)
        }
      }
      batches.append(batch)
    }
    report.add(await send(batches, isProbe: isProbe))
    try await save(report, upTo: position)
  }
}
