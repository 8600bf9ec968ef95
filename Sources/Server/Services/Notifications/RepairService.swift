internal import AppStore
internal import AppStoreClient
internal import AppleLookup
internal import Entitlements
internal import Ledger
internal import Notifications
internal import RPC
package import Reconciliation
internal import Store
internal import Wire

/// What `entitled.v1.NotificationService` has to say of repairs: those that somebody asks for, and what came
/// of all of them.
struct RepairService {
  /// Apple's history begins 180 days ago.
  private static let reach: Int64 = 179 * 86_400_000

  private let reader: any StoreReader
  private let followUps: Reconciler
  private let catalog: CurrentCatalog
  private let now: @Sendable () -> Instant

  init(
    reader: any StoreReader, followUps: Reconciler, catalog: CurrentCatalog,
    now: @escaping @Sendable () -> Instant
  ) {
    self.reader = reader
    self.followUps = followUps
    self.catalog = catalog
    self.now = now
  }

  var methods: [Method] {
    let name = NotificationService.name
    let (followUps, catalog, now) = (followUps, catalog, now)
    return [
      .waitingUnary("/\(name)/BackfillNotifications") {
        (request: BackfillNotificationsRequest, context) async throws(Status) in
        try await Self.backfill(request, followUps, catalog, context, now())
      },
      .unary("/\(name)/ListRepairs") { (request: ListRepairsRequest, _) throws(Status) in try list(request) },
      .unary("/\(name)/GetDriftReport") {
        (request: GetDriftReportRequest, _) throws(Status) in try report(request)
      },
    ]
  }

  /// Takes in what Apple sent, or tried to send, in a time.
  private static func backfill(
    _ request: BackfillNotificationsRequest, _ followUps: Reconciler, _ catalog: CurrentCatalog,
    _ context: CallContext,
    _ now: Instant
  ) async throws(Status) -> BackfillNotificationsResponse {
    let app = try catalog.value.app(request.app)
    let environment = try app.environment(request.environment)
    let to = try request.to.map { time throws(Status) in try Instant(time, "to") } ?? now
    let from = try request.from.map { time throws(Status) in try Instant(time, "from") }
    guard from.map({ $0 < to }) ?? true else {
      throw Status(.invalidArgument, reason: "INVALID_FIELD", "from is not before to", field: "from")
    }
    let repair = Store.Repair(
      appID: app.id, environment: environment, reason: .byHand,
      from: from ?? to.advanced(byMilliseconds: -reach), to: to, onlyFailures: request.onlyFailures,
      startedAt: now)
    do throws(LookupError) {
      // The caller is told how far it came, rather than nothing.
      let (latest, drifted) = try await followUps.repair(
        repair, timeout: context.patience.map { $0 * 9 / 10 })
      return .with {
        $0.backfillId = String(latest.id)
        $0.received = latest.received
        $0.alreadyKnown = latest.alreadyKnown
        $0.driftedCustomers = latest.finishedAt == nil ? 0 : drifted
        $0.repair = Wire.Repair(latest, drifted: drifted)
      }
    } catch {
      throw Status(error)
    }
  }

  private func list(_ request: ListRepairsRequest) throws(Status) -> ListRepairsResponse {
    let app = try catalog.value.app(request.app)
    let environment =
      request.environment == .unspecified ? nil : try app.environment(request.environment)
    let size = try RequestValidation.pageSize(request.pageSize)
    let before = try request.pageToken.given.map { token throws(Status) in try Self.number(token) }
    do throws(StoreError) {
      let found = try reader.repairs(of: app.id, in: environment, before: before, limit: size + 1)
      let page = found.prefix(size)
      let repairs = try page.map { repair throws(StoreError) in
        Wire.Repair(repair, drifted: try reader.driftedCustomers(of: repair))
      }
      return .with {
        $0.repairs = repairs
        if found.count > size { $0.nextPageToken = page.last.map { String($0.id) } ?? "" }
      }
    } catch {
      throw Status(error)
    }
  }

  private func report(_ request: GetDriftReportRequest) throws(Status) -> GetDriftReportResponse {
    let app = try catalog.value.app(request.app)
    let size = try RequestValidation.pageSize(request.pageSize)
    let last = try request.pageToken.given.map { token throws(Status) in
      try Store.Drift.Key(pageToken: token)
    }
    let found: GetDriftReportResponse?
    do throws(StoreError) {
      found = try repair(request.repairId, of: app).map { repair throws(StoreError) in
        try page(of: repair, in: app, behind: last, size)
      }
    } catch {
      throw Status(error)
    }
    guard let found else { throw .unknownRepair(request.repairId) }
    return found
  }

  /// The repair of that number, or the latest.
  private func repair(_ id: String, of app: AppDefinition) throws(StoreError) -> Store.Repair? {
    guard id.isEmpty else {
      return try Int64(id).flatMap { id throws(StoreError) in try reader.repair(id, of: app.id) }
    }
    return try reader.repairs(of: app.id, in: nil, before: nil, limit: 1).first
  }

  private func page(
    of repair: Store.Repair, in app: AppDefinition, behind last: Store.Drift.Key?, _ size: Int
  ) throws(StoreError) -> GetDriftReportResponse {
    let found = try reader.drifts(of: repair, after: last, limit: size + 1)
    let drifted = try reader.driftedCustomers(of: repair)
    return .with {
      $0.repair = Wire.Repair(repair, drifted: drifted)
      $0.drifts = found.prefix(size).map { Wire.Drift($0, in: app) }
      if found.count > size { $0.nextPageToken = found[size - 1].key.pageToken }
    }
  }

  private static func number(_ token: String) throws(Status) -> Int64 {
    guard let number = Int64(token), number > 0 else { throw .invalidPageToken }
    return number
  }
}
