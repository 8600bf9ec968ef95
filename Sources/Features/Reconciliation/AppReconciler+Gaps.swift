internal import AppStore
internal import Entitlements
internal import Ledger
internal import Logging
internal import Platform
internal import Store

// Delivery gaps: which repairs are due, and their run.
extension AppReconciler {
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

  /// Begins the repairs that are due: after a downtime, a delivery gap, a day, or the interval of full polls. They are
  /// stored here and run by ``repairGaps()``.
  ///
  /// A downtime is looked for by the first tick only. Within a minute of the last write, the watermark is not stored
  /// again.
  func watchDeliveries() async throws {
    let now = clock.now()
    guard let watermark = try await watermark() else {
      isStarted = true
      return try await put(DeliveryWatermark(start: now))
    }
    if !isStarted, let last = watermark.lastDelivery {
      cadence.restore(.init(last: last, typicalInterval: watermark.typicalInterval), of: target)
    }
    if Self.isAhead(lastTick ?? watermark.examinedUntil, of: now) {
      try await ledger.discardPolls(after: now, of: target.appID, in: target.environment)
    }
    lastTick = now
    correctTimes(to: now)
    if policy.repairsGaps {
      if !isStarted, now.milliseconds(since: watermark.examinedUntil) > Self.minDowntime {
        try await begin(.downtime, from: watermark.examinedUntil, at: now)
      } else if let last = deliveryGap(at: now) {
        gapCheckedAt = now
        try await begin(.deliveryGap, from: last, at: now)
      }
      if Self.isAhead(watermark.searchedUntil, of: now) {
        // The clock was ahead, so nothing shows until when deliveries were searched.
        try await begin(.scheduled, from: oldestNotification(at: now), at: now)
      } else if now.milliseconds(since: watermark.searchedUntil) >= Self.day {
        try await begin(.scheduled, from: watermark.searchedUntil, at: now)
      }
    }
    if let period = policy.fullPollInterval,
      watermark.lastFullPollAt.map({ Self.isAhead($0, of: now) || $0.advanced(by: period) <= now }) ?? true
    {
      try await begin(.fullPoll, from: now, at: now)
    }
    isStarted = true
    if watermarkSavedAt.map({ now.milliseconds(since: $0) >= Self.minute }) ?? true {
      try await saveWatermark(at: now)
    }
  }

  /// Whether a stored time is of a clock that was ahead and is set back. The clocks of two replicas differ by less.
  private static func isAhead(_ instant: Instant, of now: Instant) -> Bool {
    instant.milliseconds(since: now) > minDowntime
  }

  /// Corrects times of a clock that was ahead and is set back: what follows them would wait until then.
  private func correctTimes(to now: Instant) {
    cadence.limit(target, to: now)
    if let checked = gapCheckedAt, now < checked { gapCheckedAt = nil }
    if let saved = watermarkSavedAt, now < saved { watermarkSavedAt = nil }
  }

  /// Returns the time of the last delivery if the pause since then has become a delivery gap.
  private func deliveryGap(at now: Instant) -> Instant? {
    guard let statistics = cadence.statistics(target), let limit = deliveryGapDeadline(statistics),
      limit <= now
    else {
      return nil
    }
    return statistics.last
  }

  /// Returns the time from which the current pause is a delivery gap: eight usual intervals after the last delivery, at
  /// least 15 minutes. After a repair within the same pause it is twice the pause, so that an app without notifications
  /// is not repaired again and again. `nil` while the usual interval is unknown.
  func deliveryGapDeadline(_ statistics: DeliveryCadence.ArrivalStatistics) -> Instant? {
    guard let typicalInterval = statistics.typicalInterval else { return nil }
    if let gapCheckedAt, gapCheckedAt > statistics.last {
      return gapCheckedAt.advanced(
        byMilliseconds: gapCheckedAt.milliseconds(since: statistics.last))
    }
    return statistics.last.advanced(
      byMilliseconds: max(Self.minDeliveryGap, Self.gapFactor * typicalInterval))
  }

  /// Stores a repair of the deliveries since `from`, and that they are not complete until its history was read. In the
  /// same write it purges repairs that ended more than 90 days ago.
  ///
  /// The repair begins earlier than `from` by an overlap, and not before the oldest notification that Apple still has:
  /// 180 days in Production, 30 in the sandbox. `now` is the time at which the repair was found due: a sandbox's clock
  /// may have been advanced since.
  private func begin(_ reason: Repair.Reason, from: Instant, at now: Instant) async throws {
    let oldest = oldestNotification(at: now)
    let overlap = reason == .scheduled ? Self.searchOverlap : Self.overlap
    try await store.write { [target] store throws(StoreError) in
      try store.purgeRepairs(finishedBefore: now.advanced(byMilliseconds: -Self.repairRetention))
      guard var watermark = try store.deliveryWatermark(of: target.appID, in: target.environment) else {
        return
      }
      var start = from.advanced(byMilliseconds: -overlap)
      // A history that an earlier repair did not get is read together with the new time.
      let missed = reason == .fullPoll ? nil : watermark.unread.flatMap { $0.upperBound < now ? $0 : nil }
      if let missed { start = min(start, missed.lowerBound) }
      start = max(start, oldest)
      try store.beginOrExtend(
        Repair(
          appID: target.appID, environment: target.environment, reason: reason, from: start, to: now,
          onlyFailures: reason == .scheduled && missed == nil, startedAt: now))
      // A poll of all purchases reads no history.
      if reason != .fullPoll, start < now {
        watermark.unread = max(oldest, min(start, watermark.unread?.lowerBound ?? start))..<now
      }
      if reason == .scheduled { watermark.searchedUntil = now }
      if reason == .fullPoll { watermark.lastFullPollAt = now }
      try store.put(watermark, of: target.appID, in: target.environment)
    }
  }

  /// The time of the oldest notification that Apple still has: a day less than its history, because the call comes later.
  private func oldestNotification(at now: Instant) -> Instant {
    now.advanced(byMilliseconds: -(target.environment.notificationHistoryDays - 1) * Self.day)
  }

  /// Runs the unfinished repairs, oldest first, each with the app's current definition. An error that concerns more than
  /// one purchase ends the tick; it is stored with the repair, which the next tick continues. A repair of which only
  /// failed purchases remain is retried later, and does not delay the others.
  func repairGaps() async throws {
    var last: Int64 = 0
    while let open = try await openRepair(after: last) {
      last = open.id
      guard retries[open.id]?.isDue(at: clock.now()) ?? true else { continue }
      guard let app = catalog.value[target.appID] else { return }
      let repair = GapRepair(
        store: store, ledger: ledger, inbox: inbox, lookup: lookup, positions: positions, app: app,
        includesPolls: policy.pollsStatuses, isLastAttempt: retries[open.id]?.isLast ?? false, now: clock.now)
      do throws(ReconciliationError) {
        try await checkAppStore()
        let finished = try await repair.run(open)
        guard finished.finishedAt != nil else {
          retry(finished)
          continue
        }
        retries[open.id] = nil
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

  /// Postpones a repair of which only failed purchases remain.
  private func retry(_ repair: Repair) {
    retries[repair.id, default: RepairRetry()].fail(at: clock.now())
    mayBeDown = true
    logger.warning(
      "a repair waits for single purchases, will retry",
      metadata: [
        "app": "\(target.appID)", "environment": "\(target.environment.rawValue)", "repair": "\(repair.id)",
        "error": "\(repair.error)",
      ])
  }

  /// Stores the error that interrupted a repair in all unfinished repairs of the app, because those after it wait for
  /// it. A cancellation is no error.
  private func record(_ error: ReconciliationError) async throws {
    guard !Task.isCancelled else { return }
    try await store.write { [target] store throws(StoreError) in
      try store.recordError(
        error.description, inUnfinishedRepairsOf: target.appID, in: target.environment)
    }
  }

  /// Returns the oldest unfinished repair after the one with the id `last`.
  private func openRepair(after last: Int64) async throws(StoreError) -> Repair? {
    try await store.read { [target] reader throws(StoreError) in
      try reader.openRepair(of: target.appID, in: target.environment, after: last)
    }
  }
}

extension StoreTransaction {
  /// Begins a repair. If an error delays an earlier one of its kind, that one gets the longer time span instead.
  fileprivate func beginOrExtend(_ repair: Repair) throws(StoreError) {
    guard let delayed = try delayedRepair(for: repair.reason, of: repair.appID, in: repair.environment) else {
      _ = try begin(repair)
      return
    }
    var extended = repair
    extended.id = delayed.id
    extended.startedAt = delayed.startedAt
    extended.error = delayed.error
    try put(extended)
  }
}
