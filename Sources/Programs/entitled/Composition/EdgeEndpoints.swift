internal import Callers
internal import CommandSupport
internal import Configuration
internal import Ledger
internal import RetentionMessaging
internal import Services
internal import SideBySide
internal import SignedData
internal import Store

/// The endpoints of the HTTP edge that are no calls of a service.
struct EdgeEndpoints: Sendable {
  /// Those that write: a follower passes their requests to the leader.
  let writes: WritingRoutes
  /// Answers Apple's requests for retention messages in each replica.
  let retention: RetentionEndpoint
  /// Stores RevenueCat's events, or passes them to the leader.
  let revenueCat: RevenueCatEndpoint

  init(
    _ configuration: ServiceConfiguration, _ core: CoreComponents, _ features: Features, _ services: Services,
    policy: CallPolicy, signing: SigningSettings, retentionRequests: RecordBuffer<RetentionRequestRecord>
  ) {
    // One limit for each sender's rejected bodies, whatever the path.
    let rejectedPosts = AddressLimiter(.maxRejectedPostsPerSecond, configuration)
    writes = WritingRoutes(
      notifications: NotificationEndpoint(
        inbox: features.inbox, limiter: rejectedPosts, audit: policy.audit, refusals: policy.refusals),
      verifyReceipt: VerifyReceiptEndpoint(
        facade: features.verifyReceipt,
        limiter: AddressLimiter(
          .maxVerifyReceiptsPerSecond, configuration, standard: VerifyReceiptEndpoint.requestsPerSecond)),
      deviceSync: services.deviceSyncEndpoint(
        addresses: AddressLimiter(.maxDeviceSyncsPerSecond, configuration)))
    retention = RetentionEndpoint(
      responder: RetentionResponder(
        store: core.store, verifier: core.verifier, catalog: core.catalog, clocks: core.clocks,
        signer: { [offers = signing.offers] in offers[$0]?.signer }, ticks: SystemClock.ticks),
      limiter: rejectedPosts, requests: retentionRequests)
    revenueCat = RevenueCatEndpoint(
      receiver: RevenueCatReceiver(
        settings: features.revenueCat, ledger: core.ledger, catalog: core.catalog, now: SystemClock.now),
      limiter: rejectedPosts, leadership: core.leadership)
  }
}

extension AddressLimiter {
  /// A limiter with a configured rate, or the `standard` one.
  fileprivate convenience init(
    _ limit: LimitName, _ configuration: ServiceConfiguration, standard: Int64 = AddressLimiter.postsPerSecond
  ) {
    self.init(perSecond: configuration.listeners.limits[limit] ?? standard, ticks: SystemClock.ticks)
  }
}
