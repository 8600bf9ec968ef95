package import AppStore
package import Callers
internal import Ledger
package import RPC
internal import Store
package import Telemetry
internal import Wire

/// All services of the contract, wrapped in the interceptors.
///
/// A property or method returns each form in which calls arrive: methods for event loops, for Connect and for this
/// process, and the endpoints of the edge. All of them share the context and the policy.
package struct Services: Sendable {
  private let context: ServiceContext
  private let policy: CallPolicy
  private let health: HealthService
  private let cacheBytes: Int
  private let missingReaders: MissingReaders
  /// One for all event loops, which share its pace.
  private let reflection = ReflectionService(services: Contract.services.map(\.name))

  /// - Parameters:
  ///   - context: the components that the handlers share.
  ///   - policy: the callers, clocks and logs of the interceptors.
  ///   - health: the health service, which other components update.
  ///   - cacheBytes: the maximum memory of cached `Check` responses for each event loop.
  ///   - missingReaders: counts the event loops without a reader of the store.
  package init(
    _ context: ServiceContext, policy: CallPolicy, health: HealthService, cacheBytes: Int,
    missingReaders: MissingReaders
  ) {
    self.context = context
    self.policy = policy
    self.health = health
    self.cacheBytes = cacheBytes
    self.missingReaders = missingReaders
  }

  /// The methods for one event loop, with a reader of the store that belongs to it. While it cannot be opened, the
  /// methods that need it fail with UNAVAILABLE, and ``MethodHost/recover()`` opens it.
  package func makeHost() -> sending MethodHost {
    let (check, reader) = context.makeCheckHandler(missingReaders, cacheBytes: cacheBytes)
    return MethodHost(
      methods: methodTable(check.loopMethods), tickEnded: check.endTick, recover: reader.recover)
  }

  /// Wraps all methods in the interceptors. A large request of a synchronous method runs elsewhere, or is rejected if
  /// the method has no form for it.
  private func methodTable(_ onEventLoop: [Method]) -> MethodTable {
    let (chain, interceptors) = (policy.chain, policy.eventLoopInterceptors())
    return MethodTable(
      (asyncMethods + onEventLoop + health.methods).map { method in
        var method = method
        // Otherwise the event loop would decode it.
        if case .unary = method.handler, method.large == nil { method.messageLimit = Method.maxBytesOnLoop }
        let rule = MethodPolicy.of(method.path)
        var intercepted = chain.intercepting(method, rule, with: interceptors)
        if rule.needsCaller, !intercepted.needsAddress {
          intercepted.unauthenticated = { [refusals = policy.refusals] status, address in
            refusals.record(status, of: rule.path, from: address)
          }
        }
        return intercepted
      })
  }

  /// The unary methods by the Connect protocol.
  package var connectEndpoint: ConnectEndpoint {
    let pool = EventLoopMethodPool(
      context, health: health, cacheBytes: cacheBytes, missingReaders: missingReaders)
    let onEventLoop = Contract.services.flatMap(\.methods).filter(\.onEventLoop).map(\.fullName)
    return ConnectEndpoint(
      chain: policy.chain, methods: asyncMethods + pool.methods(onEventLoop + HealthService.unaryPaths))
  }

  /// The unary methods that run as tasks and `BatchCheck`, for callers in this process.
  package var inProcessCalls: InProcessCalls {
    InProcessCalls(policy: policy, methods: asyncMethods + [context.pooledChecks.batchCheck])
  }

  /// Entitlements as flags of OpenFeature.
  package var flagEndpoint: FlagEndpoint { FlagEndpoint(context, chain: policy.chain) }

  /// Customers in the form of RevenueCat's REST API v1.
  package var subscriberEndpoint: SubscriberEndpoint {
    SubscriberEndpoint(context, chain: policy.chain)
  }

  /// The exchange of signed documents for tokens. `addresses` limits the requests of each address.
  package func deviceSyncEndpoint(addresses: AddressLimiter) -> DeviceSyncEndpoint {
    DeviceSyncEndpoint(context, addresses: addresses, audit: policy.audit)
  }

  /// The metrics of `registry` for callers with the role `read`.
  package func metricsEndpoint(_ registry: MetricsRegistry) -> MetricsEndpoint {
    MetricsEndpoint(registry: registry, chain: policy.chain)
  }

  /// Responds to the requests of the edge that write, here or through the leader. `now` dates notifications.
  package func requestForwarder(
    _ routes: WritingRoutes, now: @escaping @Sendable () -> Instant
  ) -> RequestForwarder {
    RequestForwarder(routes, context.forwarder, feed: context.store.feed, now: now)
  }

  /// Executes the calls and requests that other replicas hand to this one while it leads; `nil` for a process that has
  /// the store for itself. The leader runs handlers without interceptors, because the replica where a call arrived has
  /// run them.
  package func inboxWorker(_ routes: WritingRoutes) -> InboxWorker? {
    context.forwarder.map { forwarder in
      InboxWorker(
        forwarder.replication.inbox,
        calls: handlers + [ReceiptServiceHandler(context).receiptOfStream], routes: routes,
        notifications: context.intake.notifications, ledger: context.ledger,
        leadership: forwarder.leadership, checksOnline: context.apple.onlineChecks != nil)
    }
  }

  /// The methods that run as tasks, forwarded to the leader where it has to execute them.
  private var asyncMethods: [Method] {
    guard let forwarder = context.forwarder else { return handlers }
    return handlers.map(forwarder.forwarding)
  }

  /// The methods that run as tasks, in this process.
  private var handlers: [Method] {
    let appStore = AppStoreServiceHandler(context: context)
    let barrier = PositionBarrier(feed: context.store.feed)
    let methods = Method.tasks(
      appStoreService: appStore,
      auditService: AuditServiceHandler(context: context),
      catalogService: CatalogServiceHandler(context: context),
      notificationService: NotificationServiceHandler(context, appStore: appStore),
      entitlementService: EntitlementServiceHandler(context),
      receiptService: ReceiptServiceHandler(context),
      customerService: CustomerServiceHandler(context: context),
      deviceCheckService: DeviceCheckServiceHandler(context: context),
      reportService: ReportServiceHandler(context: context),
      retentionMessagingService: RetentionMessagingServiceHandler(context: context, appStore: appStore),
      segmentService: SegmentServiceHandler(context),
      statusService: StatusServiceHandler(context: context),
      webhookService: WebhookServiceHandler(context: context))
    return methods.map { $0.waiting(at: barrier) }
      + reflection.methods
  }
}

extension ServiceContext {
  /// Checks that read away from the event loops.
  fileprivate var pooledChecks: PooledChecks {
    PooledChecks(
      checks: CheckEvaluation(changes: store.changes, catalog: catalog), store: store,
      expensiveCalls: expensiveCalls, times: ledger.clocks.times)
  }

  /// `Check` and `BatchCheck` on one event loop, with the reader that it needs. Over a network, an event loop must not
  /// wait for the database: it loads answers instead and has no reader.
  func makeCheckHandler(
    _ missing: MissingReaders, cacheBytes: Int
  ) -> (check: CheckHandler, reader: EventLoopReader) {
    let loader = try? store.makeAnswerLoader()
    let reader =
      loader.map { _ in EventLoopReader() }
      ?? EventLoopReader(missing) { [store] () throws(StoreError) in try store.makeCheckReader() }
    let check = CheckHandler(
      reader: reader, store: store, catalog: catalog, expensiveCalls: expensiveCalls, clocks: ledger.clocks,
      cacheBytes: cacheBytes, loader: loader, memory: answerMemory)
    return (check, reader)
  }
}
