internal import AppStore
internal import AppStoreClient
internal import Logging
internal import Store

/// Delivers messages to one webhook: in order for each ordering key, and concurrently for different ones.
///
/// New messages are read from the log in pages. A delivered message only advances the cursor. A failed one is stored as a
/// delivery, and so are all later ones of the same ordering key, until the first is delivered or becomes a dead letter.
/// Slow ones are stored as well if they are all that the next page waits for. Delivery is at least once: what was sent and
/// not stored when the process ended is sent again, with the same ids.
actor WebhookWorker {
  /// Milliseconds.
  private static let maxWait: Int64 = 60_000
  /// The milliseconds between two records of the progress, at least.
  private static let minProgressInterval: Int64 = 1_000

  let settings: WebhookSettings
  let source: any MessageSource
  let sender: MessageSender
  let store: any EntitlementStore
  let now: @Sendable () -> Instant
  let logger = Logger(label: "entitled.webhooks")
  /// It is lost with the process: after a restart, a failing webhook gets at least five messages before only probes are
  /// sent, and `Retry-After` applies to the failed messages only.
  var breaker: WebhookCircuitBreaker
  /// The messages in memory.
  var queue = SendQueue()
  /// The changes since the last write.
  var report = BatchReport()
  /// The position up to which messages were read from the log.
  var position: Int64 = 0
  /// The position of the stored cursor.
  var savedPosition: Int64 = 0
  /// Whether new messages were read, and the cursor that passes them is not stored.
  var isPageOpen = false
  /// The failure of the store in this run; the worker sends nothing more after it.
  var failure: StoreError?
  /// Whether the webhook is down and gets a probe in this run.
  var isProbing = false
  /// Whether the webhook returned 410 in this run. The stored cursor has it for later ones.
  var isGone = false
  /// The time of the last ``recordProgress()``.
  private var recordedAt: Instant?
  /// The milliseconds until the next one: ten times the duration of the last, because counting reads all deliveries.
  private var progressInterval = minProgressInterval
  /// The time of the last run.
  private var lastRun: Instant?

  init(
    _ settings: WebhookSettings, source: any MessageSource, exchange: any HTTPExchange,
    store: any EntitlementStore, breaker: WebhookCircuitBreaker = WebhookCircuitBreaker(),
    now: @escaping @Sendable () -> Instant
  ) {
    self.settings = settings
    self.source = source
    self.breaker = breaker
    sender = MessageSender(settings: settings, exchange: exchange, now: now)
    self.store = store
    self.now = now
  }

  /// Sends all messages that are due, until nothing is left, the circuit breaker demands a pause, or the task is
  /// cancelled. A webhook that returned 410 gets nothing until the operator resumes it.
  ///
  /// - Returns: the milliseconds until the next run, from 1 to 60,000, unless a commit causes one before.
  /// - Throws: ``StoreError``. The next run begins with the changes that are not stored.
  func run() async throws(StoreError) -> Int64 {
    if hasUnsaved { try await save() }
    var saved = try await cursor()
    if saved == nil {
      // It was configured while this replica became the leader, which had stored the cursors already.
      try await store.write { [settings] store throws(StoreError) in try store.begin(settings.key) }
      saved = try await cursor()
    }
    guard let saved else { return Self.maxWait }
    // Each run records it, because a process that did not see the response has to report it as well.
    DeliveryMetrics.record(settings.key, isGone: saved.goneAt != nil)
    isGone = saved.goneAt != nil
    savedPosition = saved.position
    position = max(position, saved.position)
    guard !isGone else {
      _ = try await recordProgress()
      return Self.maxWait
    }
    try await retryIfClockWasSetBack()
    try await work()
    DeliveryMetrics.record(settings.key, isGone: isGone)
    let isRecorded = try await recordProgress()
    let wait = try await nextRun()
    return isRecorded ? wait : min(wait, progressInterval)
  }

  /// The milliseconds until the next run.
  private func nextRun() async throws(StoreError) -> Int64 {
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

  /// Stores what a failed write left, and the position that messages moved which the webhook does not select, before another
  /// worker begins at the stored one: if that selects more, it must not send messages from before its configuration.
  ///
  /// A replica that no longer leads cannot, and the next leader has the configuration that it starts with.
  func finish() async {
    if hasUnsaved || end > savedPosition { try? await save() }
  }

  /// Stores the position that filtered messages moved, and records the counts of deliveries and the lag, at most once a
  /// second.
  /// If the process ends before, a webhook that then selects more gets messages from before its change: those of the last
  /// second, or of a part of the log that one run passes without a message.
  ///
  /// - Returns: whether it did.
  func recordProgress() async throws(StoreError) -> Bool {
    let instant = now()
    let isDue =
      recordedAt.map { instant < $0 || instant.milliseconds(since: $0) >= progressInterval } ?? true
    guard isDue else { return false }
    recordedAt = instant
    if end > savedPosition { try await save() }
    let start = ContinuousClock.now
    let (counts, next) = try await store.read { [settings, source, end] reader throws(StoreError) in
      let next = try source.page(after: end, limit: 1, in: reader).deliveries.first
      return (try reader.deliveryCounts(of: settings.key), next?.occurredAt)
    }
    let duration = Int64((ContinuousClock.now - start) / .milliseconds(1))
    progressInterval = max(Self.minProgressInterval, duration * 10)
    let oldest = [counts.oldestPendingAt, next].compactMap(\.self).min()
    DeliveryMetrics.record(settings.key, counts, oldest: oldest, at: instant)
    return true
  }

  /// Makes all deliveries due if the clock was ahead at the last run, because they would wait until it shows their times
  /// again.
  func retryIfClockWasSetBack() async throws(StoreError) {
    let instant = now()
    if let lastRun, lastRun.milliseconds(since: instant) > Self.maxWait { try await retryAll() }
    lastRun = instant
  }

  private func retryAll() async throws(StoreError) {
    let (key, instant) = (settings.key, now())
    try await store.write { store throws(StoreError) in try store.retryNow(nil, of: key, at: instant) }
  }

  private func cursor() async throws(StoreError) -> WebhookCursor? {
    try await store.read { [settings] reader throws(StoreError) in try reader.cursor(of: settings.key) }
  }
}
