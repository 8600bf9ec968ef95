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

  package init(pollsStatuses: Bool = true, repairsGaps: Bool = true, fullPollInterval: Period? = nil) {
    self.pollsStatuses = pollsStatuses
    self.repairsGaps = repairsGaps
    self.fullPollInterval = fullPollInterval
  }
}

/// Reconciles one app in one environment with the App Store: detects and repairs delivery gaps, and polls subscriptions
/// around the end of their periods.
actor AppReconciler: Worker {
  private static let minute: Int64 = 60_000
  private static let hour = 60 * minute
  private static let day = 24 * hour

  /// Shorter downtimes need no repair, because Apple retries deliveries.
  private static let minDowntime = 5 * minute
  /// Shorter pauses are no delivery gap, however short the usual interval is.
  private static let minDeliveryGap = 15 * minute
  /// The number of usual intervals after which a pause is a delivery gap.
  private static let gapFactor: Int64 = 8
  /// Repairs begin earlier by this, because Apple signs before it delivers, by 67 minutes in a reported case, and clocks
  /// differ.
  private static let overlap = 2 * hour
  /// The daily search for failed deliveries begins earlier by this. It reads only a few notifications, and the attempts of
  /// one that was signed before the previous search may have failed after it.
  private static let searchOverlap = day
  private static let repairRetention = 90 * day
  /// The pause after an error.
  private static let retryDelay = minute

  nonisolated let target: AppEnvironment
  nonisolated var name: String { "reconciler \(target.appID) \(target.environment.rawValue)" }
  private let policy: ReconciliationPolicy
  private let store: any EntitlementStore
  private let ledger: EvidenceLedger
  private let inbox: NotificationInbox
  private let lookup: PurchaseLookup
  private let catalog: CurrentCatalog
  private let cadence: DeliveryCadence
  private let clock: ServiceClock
  private let metrics: ReconciliationMetrics
  private let logger = Logger(label: "entitled.reconciliation")
  private let wakeUp = Signal()

  private var isStarted = false
  /// The time of the last repair of a delivery gap.
  private var gapCheckedAt: Instant?
  /// The time of the last write of the watermark.
  private var watermarkSavedAt: Instant?
  private var idleWaiters: [AsyncStream<Void>.Continuation] = []

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

  /// Runs until the task is cancelled, retrying after errors.
  func run() async throws {
    // Another process may have run since the last time.
    isStarted = false
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

  /// Returns a stream with an element each time the loop becomes idle.
  func idleSignals() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    idleWaiters.append(continuation)
    return stream
  }

  /// Runs what is due. Returns the time of the next tick; `nil` if only a wake-up causes one.
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
        try await polling()?.run()
      }
      return try await next()
    } catch {
      let error = ReconciliationError(error)
      guard !Task.isCancelled else { return nil }
      logger.error(
        "reconciliation failed, will retry",
        metadata: [
          "app": "\(target.appID)", "environment": "\(target.environment.rawValue)", "error": "\(error)",
        ])
      return clock.now().advanced(byMilliseconds: Self.retryDelay)
    }
  }

  // MARK: Gaps

  private func watchDeliveries() async throws {
    let now = clock.now()
    guard let watermark = try await watermark() else {
      isStarted = true
      return try await put(DeliveryWatermark(start: now))
    }
    if !isStarted, let last = watermark.lastDelivery {
      cadence.restore(.init(last: last, typicalInterval: watermark.typicalInterval), of: target)
    }
    if policy.repairsGaps {
      if !isStarted, now.milliseconds(since: watermark.examinedUntil) > Self.minDowntime {
        try await begin(.downtime, from: watermark.examinedUntil, at: now)
      } else if let last = deliveryGap(at: now) {
        gapCheckedAt = now
        try await begin(.deliveryGap, from: last, at: now)
      }
      if now.milliseconds(since: watermark.searchedUntil) >= Self.day {
        try await begin(.scheduled, from: watermark.searchedUntil, at: now)
      }
    }
    if let period = policy.fullPollInterval,
      watermark.lastFullPollAt.map({ $0.advanced(by: period) <= now }) ?? true
    {
      try await begin(.fullPoll, from: now, at: now)
    }
    isStarted = true
    if watermarkSavedAt.map({ now.milliseconds(since: $0) >= Self.minute }) ?? true {
      try await saveWatermark(at: now)
    }
  }

  /// Returns the time of the last delivery if a delivery gap has begun then.
  private func deliveryGap(at now: Instant) -> Instant? {
    guard let statistics = cadence.statistics(target), let limit = deliveryGapDeadline(statistics),
      limit <= now
    else {
      return nil
    }
    return statistics.last
  }

  /// Returns the time from which the current pause is a delivery gap; it doubles after each repair without effect.
  private func deliveryGapDeadline(_ statistics: DeliveryCadence.ArrivalStatistics) -> Instant? {
    guard let typicalInterval = statistics.typicalInterval else { return nil }
    if let gapCheckedAt, gapCheckedAt > statistics.last {
      return gapCheckedAt.advanced(
        byMilliseconds: gapCheckedAt.milliseconds(since: statistics.last))
    }
    return statistics.last.advanced(
      byMilliseconds: max(Self.minDeliveryGap, Self.gapFactor * typicalInterval))
  }

  /// `now` is the time at which the repair was found due: a sandbox's clock may have been advanced since.
  private func begin(_ reason: Repair.Reason, from: Instant, at now: Instant) async throws {
    // A day less than the history has, because the call comes later.
    let maxHistory = (target.environment.notificationHistoryDays - 1) * Self.day
    let target = target
    try await store.write { store throws(StoreError) in
      try store.purgeRepairs(finishedBefore: now.advanced(byMilliseconds: -Self.repairRetention))
      guard var watermark = try store.deliveryWatermark(of: target.appID, in: target.environment) else {
        return
      }
      let oldest = now.advanced(byMilliseconds: -maxHistory)
      var start = from.advanced(
        byMilliseconds: -(reason == .scheduled ? Self.searchOverlap : Self.overlap))
      // A history that an earlier repair did not get is read together with the new time.
      let missed = reason == .fullPoll ? nil : watermark.unread.flatMap { $0.upperBound < now ? $0 : nil }
      if let missed { start = min(start, missed.lowerBound) }
      start = max(start, oldest)
      var repair = Repair(
        appID: target.appID, environment: target.environment, reason: reason, from: start, to: now,
        onlyFailures: reason == .scheduled && missed == nil, startedAt: now)
      if let delayed = try store.delayedRepair(for: reason, of: target.appID, in: target.environment) {
        // The next of its kind, while an error delays it, only has a longer time span.
        repair.id = delayed.id
        repair.startedAt = delayed.startedAt
        repair.error = delayed.error
        try store.put(repair)
      } else {
        _ = try store.begin(repair)
      }
      // A poll of all purchases reads no history.
      if reason != .fullPoll, start < now {
        watermark.unread = max(oldest, min(start, watermark.unread?.lowerBound ?? start))..<now
      }
      if reason == .scheduled { watermark.searchedUntil = now }
      if reason == .fullPoll { watermark.lastFullPollAt = now }
      try store.put(watermark, of: target.appID, in: target.environment)
    }
  }

  private func repairGaps() async throws {
    while let open = try await openRepair() {
      guard let app = catalog.value[target.appID] else { return }
      let repair = GapRepair(
        store: store, ledger: ledger, inbox: inbox, lookup: lookup, app: app,
        includesPolls: policy.pollsStatuses, now: clock.now)
      do throws(ReconciliationError) {
        let finished = try await repair.run(open)
        let drifted = try? await store.read { reader throws(StoreError) in
          try reader.driftedCustomers(of: finished)
        }
        metrics.countRepair(finished, drifted: drifted ?? 0)
      } catch {
        try await record(error)
        throw error
      }
      try await saveWatermark(at: clock.now())
    }
  }

  /// Stores the error that interrupted a repair and delays those after it.
  private func record(_ error: ReconciliationError) async throws {
    guard !Task.isCancelled else { return }
    try await store.write { [target] store throws(StoreError) in
      try store.recordError(
        error.description, inUnfinishedRepairsOf: target.appID, in: target.environment)
    }
  }

  // MARK: Polls

  private func polling() -> StatusPolling? {
    guard let app = catalog.value[target.appID] else { return nil }
    return StatusPolling(
      store: store, ledger: ledger, lookup: lookup, app: app, target: target, metrics: metrics,
      now: clock.now)
  }

  private func next() async throws(StoreError) -> Instant? {
    let poll = policy.pollsStatuses ? try await nextPoll() : nil
    let deliveryGap = policy.repairsGaps ? cadence.statistics(target).flatMap(deliveryGapDeadline) : nil
    var all: Instant?
    if let period = policy.fullPollInterval {
      all = try await watermark()?.lastFullPollAt?.advanced(by: period)
    }
    return [poll, deliveryGap, all].compactMap { $0 }.min()
  }

  private func openRepair() async throws(StoreError) -> Repair? {
    try await store.read { [target] reader throws(StoreError) in
      try reader.openRepair(of: target.appID, in: target.environment)
    }
  }

  private func nextPoll() async throws(StoreError) -> Instant? {
    try await store.read { [target] reader throws(StoreError) in
      try reader.nextPoll(of: target.appID, in: target.environment)
    }
  }

  private func watermark() async throws(StoreError) -> DeliveryWatermark? {
    try await store.read { [target] reader throws(StoreError) in
      try reader.deliveryWatermark(of: target.appID, in: target.environment)
    }
  }

  // MARK: Watermark

  /// Stores that deliveries are complete until `now`, unless a history must be read first, with the statistics.
  private func saveWatermark(at now: Instant) async throws(StoreError) {
    guard var watermark = try await watermark() else { return }
    let statistics = cadence.statistics(target)
    watermark.advance(to: now)
    watermark.lastDelivery = statistics?.last
    watermark.typicalInterval = statistics?.typicalInterval
    try await put(watermark)
    watermarkSavedAt = now
  }

  private func put(_ watermark: DeliveryWatermark) async throws(StoreError) {
    let target = target
    try await store.write { store throws(StoreError) in
      try store.put(watermark, of: target.appID, in: target.environment)
    }
    metrics.recordWatermark(watermark.completeUntil)
  }
}
