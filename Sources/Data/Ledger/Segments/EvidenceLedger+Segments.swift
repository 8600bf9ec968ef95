internal import AppStore
package import Entitlements
package import Store

extension DueWorker {
  /// A worker that keeps the states of purchases and the members of saved segments up to date when time alone changes
  /// them.
  package static func segments(
    _ ledger: EvidenceLedger, store: any EntitlementStore, clock: ServiceClock
  ) -> DueWorker {
    DueWorker(
      name: clock.name(ofWorker: "segments"), store: store, clock: clock, pace: .relaxed,
      nextDue: { reader throws(StoreError) in try reader.nextSegmentDue(in: clock.domain) },
      process: { () async throws(LedgerError) in
        while try await ledger.advanceSegmentBatch(by: clock) == .fullBatch {}
      })
  }
}

// Saved segments, and what time changes in them.
extension EvidenceLedger {
  /// Purchases of one write.
  private static let pageSize = 100
  /// The maximum number of saved segments of an app environment.
  package static let maxSegments = 100

  /// Records for a batch of customers who enters and leaves saved segments by now, and the states of their purchases as
  /// of now.
  func advanceSegmentBatch(
    by clock: ServiceClock
  ) async throws(LedgerError) -> SegmentAdvance.Outcome {
    let catalog = catalog.value
    return try await write { store throws(StoreError) in
      try SegmentAdvance(store: store, catalog: catalog, domain: clock.domain, now: clock.now()).runBatch()
    }
  }

  /// Saves the segments of the configuration, deletes those that it no longer has, and selects products by the catalog
  /// again. A segment with other conditions begins again, with one event that says so.
  func adoptSegments(of app: AppDefinition) async throws(LedgerError) {
    let clocks = clocks
    try await write { store throws(StoreError) in
      for environment in app.environments {
        let place = AppEnvironment(appID: app.id, environment: environment)
        let now = clocks.now(in: environment)
        let stored = try store.segments(of: place)
        for segment in stored where segment.isConfigured && app.segments[segment.name] == nil {
          try store.remove(segment, at: now)
        }
        for (name, filter) in app.segments.sorted(by: { $0.key < $1.key })
        where !stored.contains(where: { $0.name == name }) {
          try store.put(
            SavedSegment(
              name: name, of: place, SegmentConditions(filter, in: app), isConfigured: true, createdAt: now,
              evaluatedAt: now))
        }
        for segment in stored where !segment.isConfigured || app.segments[segment.name] != nil {
          try store.redefine(segment, in: app, at: now)
        }
      }
    }
  }

  /// Evaluates the states of all purchases of an app again, under a new catalog.
  func rebuildPurchaseStates(of app: AppDefinition) async throws(LedgerError) {
    let clocks = clocks
    var last: LineKey?
    while true {
      let page = try await write { [last] store throws(StoreError) in
        let page = try store.purchasesWithState(of: app.id, after: last, limit: Self.pageSize)
        for line in page {
          let now = clocks.now(in: line.environment)
          _ = try PurchaseStateUpdate(line, in: app, store: store, at: now)
            .run(store.facts(of: line), owners: store.owners(of: line))
        }
        return page
      }
      last = page.last
      guard page.count == Self.pageSize else { return }
    }
  }

  /// Saves a segment, unless there is one with the same name and filter. Its members now are no events. Segments are no
  /// evidence.
  ///
  /// - Throws: ``LedgerError/segmentExists(_:)``; ``LedgerError/tooManySegments``; those of all commands.
  package func createSegment(
    _ name: String, _ filter: SegmentFilter, _ scope: CommandScope
  ) async throws(LedgerError) -> CommandResult {
    let app = try app(scope.appID)
    return try await run(scope) { handler throws(LedgerError) in
      try handler.createSegment(name, filter, in: app)
    }
  }

  /// Deletes a saved segment.
  ///
  /// - Throws: ``LedgerError/unknownSegment(_:)``; ``LedgerError/configuredSegment(_:)``; those of all commands.
  package func deleteSegment(_ name: String, _ scope: CommandScope) async throws(LedgerError) -> CommandResult
  {
    try await run(scope) { handler throws(LedgerError) in try handler.deleteSegment(name) }
  }
}

extension CommandHandler {
  private var place: AppEnvironment { AppEnvironment(appID: appID, environment: environment) }

  /// Saves a segment; a second call with the same filter returns the stored one.
  ///
  /// - Throws: ``LedgerError/segmentExists(_:)`` for another filter; ``LedgerError/tooManySegments``.
  fileprivate func createSegment(
    _ name: String, _ filter: SegmentFilter, in app: AppDefinition
  ) throws(LedgerError) -> CommandResult {
    let stored = try inStore { () throws(StoreError) in try store.segments(of: place) }
    var result = CommandResult()
    result.segment = stored.first { $0.name == name }
    if let known = result.segment {
      guard known.conditions.filter == filter else { throw .segmentExists(name) }
      return result
    }
    guard stored.count < EvidenceLedger.maxSegments else { throw .tooManySegments }
    let segment = SavedSegment(
      name: name, of: place, SegmentConditions(filter, in: app), isConfigured: false, createdAt: now,
      evaluatedAt: now)
    try inStore { () throws(StoreError) in try store.put(segment) }
    result.segment = segment
    return result
  }

  fileprivate func deleteSegment(_ name: String) throws(LedgerError) -> CommandResult {
    let stored = try inStore { () throws(StoreError) in try store.segments(of: place) }
    guard let segment = stored.first(where: { $0.name == name }) else { throw .unknownSegment(name) }
    guard !segment.isConfigured else { throw .configuredSegment(name) }
    try inStore { () throws(StoreError) in try store.remove(segment, at: now) }
    return CommandResult()
  }
}

extension StoreTransaction {
  /// Replaces the conditions of a segment by those of the configuration, or by its own under the present catalog.
  fileprivate func redefine(
    _ segment: SavedSegment, in app: AppDefinition, at now: Instant
  ) throws(StoreError) {
    var new = segment
    let configured = app.segments[segment.name]
    new.conditions = SegmentConditions(configured ?? segment.conditions.filter, in: app)
    new.isConfigured = configured != nil
    guard new != segment else { return }
    if new.conditions != segment.conditions {
      new.evaluatedAt = now
      try recordRedefinition(of: segment, at: now)
    }
    try put(new)
  }

  /// Deletes a segment. Another one of its name would begin with members that no event announces, so the events of this one
  /// end with that of a redefinition.
  fileprivate func remove(_ segment: SavedSegment, at now: Instant) throws(StoreError) {
    try recordRedefinition(of: segment, at: now)
    try delete(segment)
  }

  private func recordRedefinition(of segment: SavedSegment, at now: Instant) throws(StoreError) {
    let place = segment.appEnvironment
    _ = try append(
      NewEvent(
        customer: CustomerKey(appID: place.appID, environment: place.environment, customerID: ""),
        change: .withoutEntitlement(.segmentRedefined, .ofSegment(segment.name), at: now),
        recordedAt: now, evidenceID: nil, actor: ""))
  }
}
