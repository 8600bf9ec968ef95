package import AppStore
package import Callers
internal import ContractCalls
package import Logging
internal import RPC
package import Store
package import Telemetry
internal import Wire

/// The state that the interceptors of all calls share: callers, clocks, the audit log and the call counts.
package struct CallPolicy: Sendable {
  let callers: CurrentCallers
  /// The system's clock, for expiries and audit entries.
  let now: @Sendable () -> Instant
  /// Nanoseconds of a monotonic clock, for durations and rate limits.
  let ticks: @Sendable () -> Int64
  /// Receives the record of every audited call. It must not block.
  package let audit: @Sendable (AuditRecord) -> Void
  private let auditEntries: RecordBuffer<Store.AuditEntry>?
  private let tracer: RecordingTracer?
  /// Divides the rate limits of callers. Replicas that share a store set it.
  package let replicas = ReplicaCount()
  private let invalidTokens: AddressLimiter
  /// Limits the audit lines about calls without a caller.
  private let unauthenticated: AddressLimiter
  /// Logs the addresses of calls without a caller.
  package let refusals: RefusalLog
  private let meter = CallMeter(
    methods: MethodPolicy.metered + ["other"],
    codeNames: (0...16).map { StatusCode(rawValue: $0)?.name ?? "UNKNOWN" })

  /// - Parameters:
  ///   - callers: the configured callers.
  ///   - now: the time that decides about the expiry of signed tokens; never that of a sandbox.
  ///   - ticks: nanoseconds of a monotonic clock.
  ///   - audit: receives the record of every audited call. It must not block.
  ///   - auditEntries: receives the audit entry of every call about customers; `nil`: there are none.
  ///   - tracer: records the spans of sampled calls; `nil`: there are none.
  ///   - refusals: the logger of refused requests.
  package init(
    callers: CurrentCallers, now: @escaping @Sendable () -> Instant, ticks: @escaping @Sendable () -> Int64,
    audit: @escaping @Sendable (AuditRecord) -> Void, auditEntries: RecordBuffer<Store.AuditEntry>? = nil,
    tracer: RecordingTracer? = nil, refusals: Logger = Logger(label: "entitled.refusals")
  ) {
    self.callers = callers
    self.now = now
    self.ticks = ticks
    self.audit = audit
    self.auditEntries = auditEntries
    self.tracer = tracer
    invalidTokens = .ofInvalidTokens(ticks: ticks)
    unauthenticated = AddressLimiter(ticks: ticks)
    self.refusals = RefusalLog(ticks: ticks, logger: refusals)
  }

  /// The numbers and durations of calls.
  package var metrics: any MetricsSource { meter }

  /// The interceptors for streams, tasks and calls over plain HTTP, on any thread.
  var chain: InterceptorChain<CallInterceptors<AuthenticationInterceptor>> {
    let authentication = AuthenticationInterceptor(
      callers: callers, now: now, invalidTokens: invalidTokens)
    return InterceptorChain(
      interceptors: interceptors(meter.shared, authentication), ticks: ticks, callers: callers)
  }

  /// The interceptors for calls of this process by `caller`, authenticated by another component. `renewal` ends streams
  /// of a caller that has lost the permission; `nil`: they continue.
  func chain(
    for caller: Caller, person: CallingPerson, renewal: CallerRenewal? = nil
  ) -> InterceptorChain<CallInterceptors<KnownCallerInterceptor>> {
    let known = KnownCallerInterceptor(caller: caller, person: person, renewal: renewal)
    return InterceptorChain(
      interceptors: interceptors(meter.shared, known, request: person.request), ticks: ticks,
      callers: renewal?.callers)
  }

  /// The interceptors of one event loop, which counts and caches without locks.
  func eventLoopInterceptors() -> CallInterceptors<CachingAuthenticationInterceptor> {
    let authenticator = Authenticator(callers, now: now, invalidTokens: invalidTokens)
    return interceptors(
      meter.makeShard(), CachingAuthenticationInterceptor(authenticator: authenticator))
  }

  /// The whole policy, outermost first. `request` is the id of the request that the calls serve together.
  private func interceptors<Authentication: Interceptor>(
    _ shard: CallMeter.Shard, _ authentication: Authentication, request: UInt64? = nil
  ) -> CallInterceptors<Authentication> {
    .init(
      MeteringInterceptor(shard: shard, ticks: ticks),
      .init(
        AuditInterceptor(
          audit: audit, entries: auditEntries, now: now, unauthenticated: unauthenticated, refusals: refusals),
        .init(
          TracingInterceptor(tracer: tracer, request: request),
          .init(authentication, .init(AuthorizationInterceptor(), RateLimitInterceptor(replicas: replicas)))))
    )
  }
}

/// Metering, audit, tracing, authentication, authorization and rate limit, outermost first.
typealias CallInterceptors<Authentication: Interceptor> = InterceptorPair<
  MeteringInterceptor,
  InterceptorPair<
    AuditInterceptor,
    InterceptorPair<
      TracingInterceptor,
      InterceptorPair<Authentication, InterceptorPair<AuthorizationInterceptor, RateLimitInterceptor>>
    >
  >
>
