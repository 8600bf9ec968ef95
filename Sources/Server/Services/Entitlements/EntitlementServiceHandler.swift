internal import RPC
internal import Wire

/// `entitled.v1.EntitlementService` except `Check` and `BatchCheck`, which ``CheckHandler`` implements.
struct EntitlementServiceHandler: EntitlementServiceMethods {
  let context: ServiceContext
  let eventStream: EventStream
  private let metricsScan: SubscriptionMetricsScan

  init(_ context: ServiceContext) {
    self.context = context
    eventStream = EventStream(
      hub: context.broadcaster, archive: EventLogReader(store: context.store), catalog: context.catalog,
      now: context.now)
    metricsScan = SubscriptionMetricsScan(context)
  }

  func getSubscriptionMetrics(
    _ request: GetSubscriptionMetricsRequest, _ call: CallContext
  ) async throws(Status) -> GetSubscriptionMetricsResponse {
    try await metricsScan.run(request)
  }
}
