package import RPC
package import Store
package import Telemetry
internal import Wire

/// All services of the contract, wrapped in the interceptors.
package struct Services: Sendable {
  private let context: ServiceContext
  private let policy: CallPolicy
  private let health: HealthService
  private let cacheBytes: Int

  /// - Parameters:
  ///   - context: the components that the handlers share.
  ///   - policy: the callers, clocks and logs of the interceptors.
  ///   - health: the health service, which other components update.
  ///   - cacheBytes: the maximum memory of cached `Check` responses for each event loop.
  package init(_ context: ServiceContext, policy: CallPolicy, health: HealthService, cacheBytes: Int) {
    self.context = context
    self.policy = policy
    self.health = health
    self.cacheBytes = cacheBytes
  }

  /// The methods for one event loop, with a reader of the store that belongs to it.
  package func makeHost() throws(StoreError) -> sending MethodHost {
    let check = CheckHandler(context, reader: try context.store.makeCheckReader(), cacheBytes: cacheBytes)
    return MethodHost(
      methods: methodTable(Method.eventLoop(entitlementService: check)), tickEnded: check.endTick)
  }

  /// The methods for an event loop whose reader could not be opened: those that need it fail with the status of
  /// `error`, so that clients retry elsewhere instead of taking the method for missing.
  package func makeHost(withoutReader error: StoreError) -> sending MethodHost {
    let status = Status(error)
    let failing = Contract.services.flatMap(\.methods).filter(\.onEventLoop).map {
      Method(path: $0.fullName, handler: .unary { _, _ in .failure(status) })
    }
    return MethodHost(methods: methodTable(failing))
  }

  private func methodTable(_ onEventLoop: [Method]) -> MethodTable {
    let (chain, interceptors) = (policy.chain, policy.eventLoopInterceptors())
    return MethodTable(
      (asyncMethods + onEventLoop + health.methods).map {
        chain.intercepting($0, MethodPolicy.of($0.path), with: interceptors)
      })
  }

  /// The unary methods as JSON over plain HTTP.
  package var jsonGateway: JSONGateway {
    let pool = EventLoopMethodPool(context, health: health, cacheBytes: cacheBytes)
    let onEventLoop = Contract.services.flatMap(\.methods).filter(\.onEventLoop).map(\.fullName)
    return JSONGateway(
      chain: policy.chain, methods: asyncMethods + pool.methods(onEventLoop + HealthService.unaryPaths))
  }

  /// The metrics of `registry` for callers with the role `read`.
  package func metricsEndpoint(_ registry: MetricsRegistry) -> MetricsEndpoint {
    MetricsEndpoint(registry: registry, chain: policy.chain)
  }

  private var asyncMethods: [Method] {
    let appStore = AppStoreServiceHandler(context: context)
    return Method.tasks(
      appStoreService: appStore,
      notificationService: NotificationServiceHandler(context, appStore: appStore),
      entitlementService: EntitlementServiceHandler(context),
      receiptService: ReceiptServiceHandler(context),
      webhookService: WebhookServiceHandler(context: context))
      + ReflectionService(services: Contract.services.map(\.name)).methods
  }
}
