package import AppStore
internal import AppStoreClient
internal import AppleLookup
internal import Entitlements
package import Ledger
internal import Logging
package import Notifications
internal import Platform
internal import Store

/// What the operator wants of asking Apple for what did not arrive, for one app.
package struct ReconciliationPolicy: Hashable, Sendable {
  /// Apple is asked around the end of periods of which nobody told.
  package var pollsStatuses: Bool
  /// Gaps in what Apple delivers are found and filled.
  package var repairsGaps: Bool
  /// How often Apple is asked about every purchase, whatever was told; `nil`: never.
  package var fullPollInterval: Period?

  /// A policy by its dependencies; if nothing else is said, all is done that notifications leave open.
  package init(pollsStatuses: Bool = true, repairsGaps: Bool = true, fullPollInterval: Period? = nil) {
    self.pollsStatuses = pollsStatuses
    self.repairsGaps = repairsGaps
    self.fullPollInterval = fullPollInterval
  }
}

/// Sees to it, for one app in one environment, that what Apple knows and did not deliver becomes known: finds
/// gaps and fills them, and asks around the end of periods.
actor AppReconciler: Worker {
  private static let minute: Int64 = 60_000
  private static let hour = 60 * minute
  private static let day = 24 * hour

  /// A shorter downtime is left to Apple, which repeats what it could not deliver.
  private static let minDowntime = 5 * minute
  /// A shorter deliveryGap is none, however lively the app usually is.
  private static let minDeliveryGap = 15 * minute
  /// How many times the typicalInterval distance makes a deliveryGap.
  private static let gapFactor: Int64 = 8
  /// Looking back a little further: Apple signs before it delivers, and clocks differ.
  private static let overlap = hour
  /// Apple's history begins 180 days ago.
  private static let reach = 179 * day
  /// For how long reports are kept.
  private static let memory = 90 * day
  /// How long to wait when Apple cannot be asked.
  private static let pause = minute

  nonisolated let place: AppEnvironment
  nonisolated var name: String { "reconciler \(place.appID) \(place.environment.rawValue)" }
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
  private let (news, alarm) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

  private var isStarted = false
  /// When a deliveryGap was looked into last.
  private var gapCheckedAt: Instant?
  /// When what is remembered of deliveries was written last.
  private var markedAt: Instant?
  private var waiting: [AsyncStream<Void>.Continuation] = []

  init(_ place: AppEnvironment, _ policy: ReconciliationPolicy, _ dependencies: Reconciler.Dependencies) {
    self.place = place
    self.policy = policy
    store = dependencies.store
    ledger = dependencies.ledger
    inbox = dependencies.inbox
    lookup = dependencies.lookup
    catalog = dependencies.catalog
    cadence = dependencies.cadence
    clock = dependencies.clock
    metrics = ReconciliationMetrics(place)
  }

  /// Goes on until the task is cancelled. `report` is told what went wrong; it is tried again later.
  func run() async throws {
    let loop = ScheduledLoop(clock, maxSleep: 20_000) { await self.tick() }
    try await loop.run(wokenBy: news)
    // Until here the service was there to be told.
    if isStarted { try? await mark(at: clock.now()) }
  }

  /// Begins a repair that somebody asked for, and wakes whoever carries it out.
  func begin(_ repair: Repair) async throws(StoreError) -> Repair {
    let begun = try await store.write { store throws(StoreError) in try store.begin(repair) }
    alarm.yield()
    return begun
  }

  /// Tells each time that whoever carries out repairs comes to rest.
  func idleSignals() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    waiting.append(continuation)
    return stream
  }

  /// Does what is due; answers when to look again.
  private func tick() async -> Instant? {
    defer {
      waiting.removeAll {
        if case .terminated = $0.yield() { true } else { false }
      }
    }
    do {
      try await watchDeliveries()
      try await repairGaps()
      if policy.pollsStatuses, try await nextPoll().map({ $0 <= clock.now() }) ?? false {
        try await polling()?.run()
      }
      return try await next()
    } catch {
      let error = LookupError(error)
      guard !Task.isCancelled else { return nil }
      logger.error(
        "reconciliation failed, will retry",
        metadata: [
          "app": "\(place.appID)", "environment": "\(place.environment.rawValue)", "error": "\(error)",
        ])
      return clock.now().advanced(byMilliseconds: Self.pause)
    }
  }

  // MARK: Gaps

  private func watchDeliveries() async throws {
    let now = clock.now()
    guard let mark = try await deliveryMark() else {
      isStarted = true
      return try await put(DeliveryWatermark(start: now))
    }
    if !isStarted, let last = mark.lastDelivery {
      cadence.remember(.init(last: last, typicalInterval: mark.typicalInterval), of: place)
    }
    if policy.repairsGaps {
      if !isStarted, now.milliseconds(since: mark.completeUntil) > Self.minDowntime {
        try await begin(.downtime, from: mark.completeUntil, at: now)
      } else if let last = deliveryGap(at: now) {
        gapCheckedAt = now
        try await begin(.deliveryGap, from: last, at: now)
      }
      if now.milliseconds(since: mark.sweptUntil) >= Self.day {
        try await begin(.scheduled, from: mark.sweptUntil, at: now)
      }
    }
    if let period = policy.fullPollInterval,
      mark.askedAboutAllAt.map({ $0.advanced(by: period) <= now }) ?? true
    {
      try await begin(.fullPoll, from: now, at: now)
    }
    isStarted = true
    if markedAt.map({ now.milliseconds(since: $0) >= Self.minute }) ?? true { try await self.mark(at: now) }
  }

  /// When the last notification was delivered, if it is silent since then for longer than is typicalInterval.
  private func deliveryGap(at now: Instant) -> Instant? {
    guard let statistics = cadence.statistics(place), let limit = deliveryGapDeadline(statistics),
      limit <= now
    else {
      return nil
    }
    return statistics.last
  }

  /// When it will have been silent for too long; after a look that brought nothing, for twice as long.
  private func deliveryGapDeadline(_ statistics: DeliveryCadence.ArrivalStatistics) -> Instant? {
    guard let typicalInterval = statistics.typicalInterval else { return nil }
    if let gapCheckedAt, gapCheckedAt > statistics.last {
      return gapCheckedAt.advanced(
        byMilliseconds: gapCheckedAt.milliseconds(since: statistics.last))
    }
    return statistics.last.advanced(
      byMilliseconds: max(Self.minDeliveryGap, Self.gapFactor * typicalInterval))
  }

  /// `now` is the moment at which it was found to be due: a sandbox's clock may have been turned since.
  private func begin(_ reason: Repair.Reason, from: Instant, at now: Instant) async throws {
    let start = max(
      from.advanced(byMilliseconds: -Self.overlap), now.advanced(byMilliseconds: -Self.reach))
    let repair = Repair(
      appID: place.appID, environment: place.environment, reason: reason, from: start, to: now,
      onlyFailures: reason == .scheduled, startedAt: now)
    let place = place
    try await store.write { store throws(StoreError) in
      try store.forgetRepairs(finishedBefore: now.advanced(byMilliseconds: -Self.memory))
      _ = try store.begin(repair)
      guard var mark = try store.deliveryMark(of: place.appID, in: place.environment) else { return }
      // Where notifications are not looked for, nothing is accounted for.
      if reason != .fullPoll { mark.completeUntil = max(mark.completeUntil, now) }
      if reason == .scheduled { mark.sweptUntil = now }
      if reason == .fullPoll { mark.askedAboutAllAt = now }
      try store.put(mark, of: place.appID, in: place.environment)
    }
  }

  private func repairGaps() async throws {
    while let open = try await openRepair() {
      guard let app = catalog.value[place.appID] else { return }
      let repair = GapRepair(
        store: store, ledger: ledger, inbox: inbox, lookup: lookup, app: app,
        includesPolls: policy.pollsStatuses, now: clock.now)
      do throws(LookupError) {
        let finished = try await repair.run(open)
        let drifted = try? await store.read { reader throws(StoreError) in
          try reader.driftedCustomers(of: finished)
        }
        metrics.finished(finished, drifted: drifted ?? 0)
      } catch {
        try await note(error, in: open)
        throw error
      }
    }
  }

  /// Remembers why a repair stands still.
  private func note(_ problem: LookupError, in repair: Repair) async throws {
    guard !Task.isCancelled else { return }
    try await store.write { store throws(StoreError) in
      guard var known = try store.repair(repair.id) else { return }
      known.error = problem.description
      try store.put(known)
    }
  }

  // MARK: Polls

  private func polling() -> StatusPolling? {
    guard let app = catalog.value[place.appID] else { return nil }
    return StatusPolling(
      store: store, ledger: ledger, lookup: lookup, app: app, place: place, metrics: metrics,
      now: clock.now)
  }

  /// When something is due next.
  private func next() async throws(StoreError) -> Instant? {
    let poll = policy.pollsStatuses ? try await nextPoll() : nil
    let deliveryGap = policy.repairsGaps ? cadence.statistics(place).flatMap(deliveryGapDeadline) : nil
    var all: Instant?
    if let period = policy.fullPollInterval {
      all = try await deliveryMark()?.askedAboutAllAt?.advanced(by: period)
    }
    return [poll, deliveryGap, all].compactMap { $0 }.min()
  }

  private func openRepair() async throws(StoreError) -> Repair? {
    try await store.read { [place] reader throws(StoreError) in
      try reader.openRepair(of: place.appID, in: place.environment)
    }
  }

  private func nextPoll() async throws(StoreError) -> Instant? {
    try await store.read { [place] reader throws(StoreError) in
      try reader.nextPoll(of: place.appID, in: place.environment)
    }
  }

  private func deliveryMark() async throws(StoreError) -> DeliveryWatermark? {
    try await store.read { [place] reader throws(StoreError) in
      try reader.deliveryMark(of: place.appID, in: place.environment)
    }
  }

  // MARK: What is remembered

  /// Writes down that deliveries are accounted for until `now`.
  private func mark(at now: Instant) async throws(StoreError) {
    guard var mark = try await deliveryMark() else { return }
    let statistics = cadence.statistics(place)
    mark.completeUntil = max(mark.completeUntil, now)
    mark.lastDelivery = statistics?.last
    mark.typicalInterval = statistics?.typicalInterval
    try await put(mark)
    markedAt = now
  }

  private func put(_ mark: DeliveryWatermark) async throws(StoreError) {
    let place = place
    try await store.write { store throws(StoreError) in
      try store.put(mark, of: place.appID, in: place.environment)
    }
    metrics.complete(until: mark.completeUntil)
  }
}
