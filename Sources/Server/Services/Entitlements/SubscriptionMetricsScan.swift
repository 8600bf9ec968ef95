internal import AppStore
internal import Entitlements
internal import Ledger
internal import RPC
internal import Store
internal import Synchronization
internal import Wire

/// `GetSubscriptionMetrics` of `entitled.v1.EntitlementService`: counts by product and day.
///
/// A scan reads all customers of the app page by page. Only one scan runs at a time, because it occupies
/// a processor core.
final class SubscriptionMetricsScan: Sendable {
  private let store: any EntitlementStore
  private let catalog: CurrentCatalog
  private let clocks: ServiceClocks
  private let isRunning = Mutex(false)

  init(_ context: ServiceContext) {
    store = context.store
    catalog = context.catalog
    clocks = context.ledger.clocks
  }

  func run(
    _ request: GetSubscriptionMetricsRequest
  ) async throws(Status) -> GetSubscriptionMetricsResponse {
    let app = try catalog.value.app(request.app)
    let environment = try app.environment(request.environment)
    let days = try Self.days(request)
    guard begin() else {
      throw Status(
        .resourceExhausted, reason: "COUNTING_FOR_ANOTHER",
        "the customers are being counted for another call; they are for one at a time",
        retryAfterMilliseconds: 1_000)
    }
    defer { isRunning.withLock { $0 = false } }
    var tally = DailyMetricsBuilder(
      app, from: days.lowerBound, to: days.upperBound, productIDs: Set(request.productIds),
      at: clocks.now(in: environment))
    do throws(StoreError) {
      try await add(app, environment, to: &tally)
    } catch {
      throw Status(error)
    }
    // The caller has disconnected, so a partial count has no use.
    guard !Task.isCancelled else { throw Status(.cancelled) }
    return .with { $0.days = tally.metrics.map(Wire.DailyMetrics.init) }
  }

  /// Starts a scan; `false` if another one is running.
  private func begin() -> Bool {
    isRunning.withLock { isRunning in
      defer { isRunning = true }
      return !isRunning
    }
  }

  /// Adds all customers, until the task is cancelled.
  private func add(
    _ app: AppDefinition, _ environment: AppStore.Environment, to tally: inout DailyMetricsBuilder
  ) async throws(StoreError) {
    var last: String?
    repeat {
      let page = try await store.read(.background) { [last] snapshot throws(StoreError) in
        try snapshot.customers(of: app.id, in: environment, after: last, limit: Self.pageSize)
      }
      for record in page { tally.add(record.facts) }
      last = page.last?.key.customerID
    } while last != nil && !Task.isCancelled
  }

  private static func days(_ request: GetSubscriptionMetricsRequest) throws(Status) -> Range<Instant> {
    guard let from = request.from, let to = request.to else {
      throw Status(
        .invalidArgument, reason: "MISSING_FIELD", "from and to are needed: whole days, the second excluded",
        field: request.from == nil ? "from" : "to")
    }
    let (first, end) = (try Instant(from, "from"), try Instant(to, "to"))
    let length = end.milliseconds(since: first)
    guard length > 0, length <= dayLimit * DailyMetricsBuilder.day else {
      throw Status(
        .invalidArgument, reason: "INVALID_RANGE", "to is not between 1 and \(dayLimit) days behind from",
        field: "to")
    }
    return first..<end
  }

  /// A page takes a few milliseconds.
  private static let pageSize = 100
  private static let dayLimit: Int64 = 400
}
