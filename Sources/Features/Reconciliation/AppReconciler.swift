package import AppStore
internal import AppStoreClient
internal import AppleLookup
internal import Entitlements
internal import Ledger
internal import Logging
internal import Notifications
internal import Platform
internal import Store

/// The operator's policy for the reconciliation of one app.
package struct ReconciliationPolicy: Hashable, Sendable {
  /// Whether subscriptions are polled around the end of their periods.
  package var pollsStatuses: Bool
  /// Whether delivery gaps are detected and repaired.
  package var repairsGaps: Bool
  /// The interval at which all purchases are looked up; `nil` for never.
  package var fullPollInterval: Period?

  /// Creates a policy; the defaults are those of an app without settings.
  package init(pollsStatuses: Bool = true, repairsGaps: Bool = true, fullPollInterval: Period? = nil) {
    self.pollsStatuses = pollsStatuses
    self.repairsGaps = repairsGaps
    self.fullPollInterval = fullPollInterval
  }
}

/// Reconciles one app in one environment with the App Store: detects and repairs delivery gaps, and polls subscriptions
/// around the end of their periods.
///
/// One tick does all that is due, one after the other, so a long repair delays polls. The state that must survive a
/// restart is the delivery watermark in the store; the properties here are only its recent past.
actor AppReconciler: Worker {
  /// In milliseconds.
  static let minute: Int64 = 60_000
  /// The pause after an error, in milliseconds.
  private static let retryDelay = minute

  nonisolated let target: AppEnvironment
  nonisolated var name: String { "reconciler \(target.appID) \(target.environment.rawValue)" }
  let policy: ReconciliationPolicy
  let store: any EntitlementStore
  let ledger: EvidenceLedger
  let inbox: NotificationInbox
  let lookup: PurchaseLookup
  let catalog: CurrentCatalog
  let cadence: DeliveryCadence
  let clock: ServiceClock
  let metrics: ReconciliationMetrics
  let logger = Logger(label: "entitled.reconciliation")
  private let wakeUp = Signal()

  /// Whether a tick has looked at the deliveries since ``run()`` began. The first tick compares the watermark with now
  /// to find a downtime.
  var isStarted = false
  /// The time of the last tick since ``run()`` began.
  var lastTick: Instant?
  /// The time of the last repair of a delivery gap.
  var gapCheckedAt: Instant?
  /// The time of the last write of the watermark.
  var watermarkSavedAt: Instant?
  /// The repairs that wait for single purchases, by id, since ``run()`` began.
  var retries: [Int64: RepairRetry] = [:]
  /// Of the purchases that failed since ``run()`` began.
  let positions = HistoryPositions()
  /// Whether a call failed, so that ``checkAppStore()`` looks whether the App Store is available.
  var mayBeDown = false
  private var idleWaiters: [AsyncStream<Void>.Continuation] = []

  /// Creates a reconciler that does nothing until ``run()``. The policy stays until the process ends.
  init(_ target: AppEnvironment, _ policy: ReconciliationPolicy, _ dependencies: Reconciler.Dependencies) {
    self.target = target
    self.policy = policy
    store = dependencies.store
    ledger = dependencies.ledger
    inbox = dependencies.inbox
    lookup = dependencies.lookup
    catalog = dependencies.catalog
    cadence = dependencies.cadence
    clock = dependencies.clocks[target.environment]
    metrics = ReconciliationMetrics(target)
  }

  /// Runs until the task is cancelled. An error of a tick is logged and retried after a minute. It ticks at least every
  /// 20 seconds, so that the watermark in the store stays recent.
  func run() async throws {
    // Another process may have run since the last time, and finished the repairs.
    isStarted = false
    lastTick = nil
    retries = [:]
    positions.removeAll()
    // A replica that no longer leads does not see later polls; the next leader exports the number.
    defer { if Task.isCancelled { metrics.recordBacklog(0) } }
    let loop = ScheduledLoop(clock, maxSleep: 20_000) { await self.tick() }
    try await loop.run(wokenBy: wakeUp.listen())
    // Deliveries were received until now.
    if isStarted { try? await saveWatermark(at: clock.now()) }
  }

  /// Stores a requested repair and wakes the loop that runs it.
  func begin(_ repair: Repair) async throws(StoreError) -> Repair {
    let begun = try await store.write { store throws(StoreError) in try store.begin(repair) }
    wakeUp.send()
    return begun
  }

  /// Returns a stream with an element each time a tick ends. ``Reconciler/repair(_:timeout:)`` checks its repair then.
  /// A stream whose reader ended is removed at the next tick.
  func idleSignals() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    idleWaiters.append(continuation)
    return stream
  }

  /// Runs what is due: first repairs, then polls, because a repair fetches what polls would only notice. Afterwards it
  /// wakes the callers that wait for idleness, also after an error.
  ///
  /// - Returns: the time of the next tick; `nil` if only a wake-up or the longest sleep causes one.
  private func tick() async -> Instant? {
    defer {
      idleWaiters.removeAll {
        if case .terminated = $0.yield() { true } else { false }
      }
    }
    // Without a key, Apple cannot be called. A reload of the configuration may bring it back.
    guard lookup.appEnvironments.contains(target) else { return nil }
    do {
      try await watchDeliveries()
      try await repairGaps()
      if policy.pollsStatuses, try await nextPoll().map({ $0 <= clock.now() }) ?? false {
        try await checkAppStore()
        try await polling()?.run()
      }
      return try await next()
    } catch {
      let error = ReconciliationError(error)
      guard !Task.isCancelled else { return nil }
      if case .lookup = error { mayBeDown = true }
      logger.error(
        "reconciliation failed, will retry",
        metadata: [
          "app": "\(target.appID)", "environment": "\(target.environment.rawValue)", "error": "\(error)",
        ])
      return clock.now().advanced(byMilliseconds: Self.retryDelay)
    }
  }

  /// After a failure, makes a call that is about no purchase. If it fails too, the App Store is not available, and the
  /// repairs and polls wait. Otherwise single purchases failed; the response closes the circuit that they may have opened.
  ///
  /// - Throws: the error of the call, unless a repetition gets the same one: Apple answered.
  func checkAppStore() async throws(ReconciliationError) {
    guard mayBeDown else { return }
    let now = clock.now()
    let filter = NotificationHistoryFilter(
      startDate: now.advanced(byMilliseconds: -Self.minute), endDate: now)
    do {
      let client = try lookup.client(for: target.appID, in: target.environment)
      let _: NotificationHistoryResponse = try await client.send(
        .notificationHistory(filter), priority: .repair)
    } catch AppStoreClientError.refused(let code, _) where !code.isRetryable {
    } catch {
      throw ReconciliationError(error)
    }
    mayBeDown = false
  }

  // MARK: Polls

  /// The polls of the app as the catalog defines it now; `nil` if a reload removed the app.
  private func polling() -> StatusPolling? {
    guard let app = catalog.value[target.appID] else { return nil }
    return StatusPolling(
      store: store, ledger: ledger, lookup: lookup, app: app, target: target, metrics: metrics,
      now: clock.now)
  }

  /// Returns the earliest of the next poll, the next attempt of a repair, the deadline of a delivery gap and the next poll
  /// of all purchases, as far as the policy has them.
  private func next() async throws(StoreError) -> Instant? {
    let poll = policy.pollsStatuses ? try await nextPoll() : nil
    let deliveryGap = policy.repairsGaps ? cadence.statistics(target).flatMap(deliveryGapDeadline) : nil
    var all: Instant?
    if let period = policy.fullPollInterval {
      all = try await watermark()?.lastFullPollAt?.advanced(by: period)
    }
    return ([poll, deliveryGap, all].compactMap { $0 } + retries.values.map(\.dueAt)).min()
  }

  private func nextPoll() async throws(StoreError) -> Instant? {
    try await store.read { [target] reader throws(StoreError) in
      try reader.nextPoll(of: target.appID, in: target.environment)
    }
  }

  /// Returns the stored watermark; `nil` before the first start for this app and environment.
  func watermark() async throws(StoreError) -> DeliveryWatermark? {
    try await store.read { [target] reader throws(StoreError) in
      try reader.deliveryWatermark(of: target.appID, in: target.environment)
    }
  }

  // MARK: Watermark

  /// Advances the watermark to `now` and stores it with the delivery statistics. It does not advance over a time whose
  /// history is unread. Without a stored watermark nothing happens: the first tick creates it.
  func saveWatermark(at now: Instant) async throws(StoreError) {
    guard var watermark = try await watermark() else { return }
    let statistics = cadence.statistics(target)
    watermark.advance(to: now)
    watermark.lastDelivery = statistics?.last
    watermark.typicalInterval = statistics?.typicalInterval
    try await put(watermark)
    watermarkSavedAt = now
  }

  /// Stores the watermark and exports its instant.
  func put(_ watermark: DeliveryWatermark) async throws(StoreError) {
    let target = target
    try await store.write { store throws(StoreError) in
      try store.put(watermark, of: target.appID, in: target.environment)
    }
    metrics.recordWatermark(watermark.completeUntil)
  }
}
