internal import AppStore
internal import AppStoreClient
internal import AppleLookup
internal import Entitlements
internal import Ledger
internal import Notifications
internal import RPC
internal import Reconciliation
internal import Store
internal import Wire

// Repairs: backfills on request and the reports of all repairs.
extension NotificationServiceHandler {
  /// Ingests the notifications that Apple sent, or tried to send, in a time range; without a start, all that Apple's
  /// history still has. If the caller's timeout is short, the response has the progress, and the repair continues
  /// without the call.
  func backfillNotifications(
    _ request: BackfillNotificationsRequest, _ call: CallContext
  ) async throws(Status) -> BackfillNotificationsResponse {
    let (app, environment) = try context.scope(of: request)
    let now = context.now(in: environment)
    let to = try request.endTime.map { time throws(Status) in try Instant(time, "end_time") } ?? now
    // A day less than the history has, because the call to Apple comes later.
    let days = environment.notificationHistoryDays - 1
    let from =
      try request.startTime.map { time throws(Status) in try Instant(time, "start_time") }
      ?? now.advanced(byMilliseconds: -days * Instant.millisecondsPerDay)
    guard from < to else {
      guard request.startTime == nil else {
        throw .invalidField("start_time", "start_time is not before end_time")
      }
      throw .invalidField(
        "end_time", "end_time is before the last \(days) days, of which Apple has the notifications")
    }
    let repair = Store.Repair(
      appID: app.id, environment: environment, reason: .manual,
      from: from, to: to, onlyFailures: request.onlyFailures, startedAt: now)
    do throws(ReconciliationError) {
      // Stops early, so that the caller receives the progress instead of a timeout.
      let (latest, drifted) = try await context.intake.reconciler.repair(
        repair, timeout: call.remainingTime.map { $0 * 9 / 10 })
      return .with { $0.repair = Wire.Repair(latest, drifted: drifted) }
    } catch {
      throw Status(error)
    }
  }

  /// Lists repairs, newest first. The position of a page is the id of the last repair of the previous page.
  func listRepairs(
    _ request: ListRepairsRequest, _ call: CallContext
  ) async throws(Status) -> ListRepairsResponse {
    let app = try context.catalog.value.app(request.app)
    let environment =
      request.environment == .unspecified ? nil : try app.environment(request.environment)
    let (page, size) = try context.page(of: request)
    let before = try page.number
    return try await context.read { reader throws(StoreError) in
      let found = try reader.repairs(of: app.id, in: environment, before: before, limit: size + 1)
      let repairs = try found.prefix(size).map { repair throws(StoreError) in
        Wire.Repair(repair, drifted: try reader.driftedCustomers(of: repair))
      }
      return .with {
        $0.repairs = repairs
        if found.count > size { $0.nextPageToken = page.token(after: found[size - 1].id) }
      }
    }
  }

  /// Returns the drift that a repair found, by default that of the latest repair. The position of a page is the
  /// entitlement and the customer of the last drift of the previous page.
  ///
  /// - Throws: `UNKNOWN_REPAIR`, also if no repair has run for the app.
  func getDriftReport(
    _ request: GetDriftReportRequest, _ call: CallContext
  ) async throws(Status) -> GetDriftReportResponse {
    let app = try context.catalog.value.app(request.app)
    let (page, size) = try context.page(of: request)
    let last = try page.position.map { position throws(Status) in
      try Store.Drift.Key(position: position)
    }
    let found = try await context.read { reader throws(StoreError) in
      try Self.repair(request.repairId, of: app, reader).map { repair throws(StoreError) in
        try Self.drifts(of: repair, in: app, on: page, after: last, size, reader)
      }
    }
    guard let found else { throw .unknownRepair(request.repairId) }
    CallScope.show(found.drifts.map(\.customerId), of: "repair \(found.repair?.repairId ?? "")")
    return found
  }

  /// The repair with this id, or the latest.
  private static func repair(
    _ id: String, of app: AppDefinition, _ reader: any StoreSnapshot
  ) throws(StoreError) -> Store.Repair? {
    guard id.isEmpty else {
      return try Int64(id).flatMap { id throws(StoreError) in try reader.repair(id, of: app.id) }
    }
    return try reader.repairs(of: app.id, in: nil, before: nil, limit: 1).first
  }

  private static func drifts(
    of repair: Store.Repair, in app: AppDefinition, on page: RequestedPage, after last: Store.Drift.Key?,
    _ size: Int,
    _ reader: any StoreSnapshot
  ) throws(StoreError) -> GetDriftReportResponse {
    let found = try reader.drifts(of: repair, after: last, limit: size + 1)
    let drifted = try reader.driftedCustomers(of: repair)
    return .with {
      $0.repair = Wire.Repair(repair, drifted: drifted)
      $0.drifts = found.prefix(size).map { Wire.Drift($0, in: app) }
      if found.count > size { $0.nextPageToken = page.token(after: found[size - 1].key.position) }
    }
  }
}
