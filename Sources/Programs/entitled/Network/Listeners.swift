internal import HTTP
internal import Logging
internal import NIOCore
internal import RPC
internal import Services
internal import Store
internal import Telemetry
internal import Transport
internal import Wire

/// The ports of a running service.
struct Listeners: Sendable {
  let grpc: Listener
  let http: Listener
  /// `nil`: no sandbox.
  let sandbox: Listener?

  static func open(
    _ settings: ServeSettings, on loops: any EventLoopGroup, edge edgeLoops: any EventLoopGroup,
    services: Application, security: ListenerTLS, limits: TransportLimits, sandbox: Listener?,
    metrics: MetricsRegistry, monitor: HealthMonitor, logger: Logger
  ) async throws -> Listeners {
    do {
      let grpc = try await Listener.listen(
        at: settings.grpc, socket: settings.inherited.grpc, on: loops,
        serving: .init(
          makeHost: { _ in loopHost(services, logger) },
          http: { EdgeRouter.respondOnGRPCPort(to: $0) }, limits: limits, tls: security.grpc),
        logger: logger)
      let router = EdgeRouter(
        gateway: services.services.jsonGateway,
        notifications: services.notificationEndpoint,
        verifyReceipt: VerifyReceiptEndpoint(facade: services.verifyReceiptFacade),
        metrics: services.services.metricsEndpoint(metrics), jwks: { services.jwks },
        readiness: ReadinessEndpoint(monitor: monitor))
      var edge = plain { await router.respond(to: $0) }
      edge.limits = limits
      edge.tls = security.http
      let http = try await Listener.listen(
        at: settings.http, socket: settings.inherited.http, on: edgeLoops, serving: edge, logger: logger)
      return Listeners(grpc: grpc, http: http, sandbox: sandbox)
    } catch {
      throw Failure(error.description)
    }
  }

  /// A port without gRPC.
  static func plain(_ handler: @escaping HTTPHandler) -> Listener.Service {
    .init(makeHost: { _ in MethodHost(methods: MethodTable([])) }, http: handler)
  }

  /// Says over HTTP/1.1 that connections are to be made anew.
  func announceShutDown() { for listener in all { listener.announceShutDown() } }

  /// Lets calls in flight finish, on all ports at once.
  ///
  /// - Parameter endStreams: ends what would go on for ever. Called when clients were told to go elsewhere, so that what
  ///   they begin anew they begin there.
  func shutDown(endStreams: @escaping @Sendable () -> Void) async {
    await withTaskGroup(of: Void.self) { group in
      for listener in all {
        group.addTask { await listener.shutDown(grace: Self.grace, onAnnounced: endStreams) }
      }
    }
  }

  /// What is counted of the ports.
  var samples: [MetricSample] {
    [("grpc", grpc), ("http", http)].flatMap { name, listener in
      let labels = [("listener", name)]
      return [
        MetricSample("entitled_connections", labels: labels, Double(listener.openConnections)),
        MetricSample("entitled_streams", labels: labels, Double(listener.openStreams)),
        MetricSample(
          "entitled_connections_rejected_total", labels: labels, Double(listener.refusedConnections)),
      ]
    }
  }

  private var all: [Listener] { [grpc, http, sandbox].compactMap(\.self) }

  /// How long calls in flight may take after SIGTERM: less than the 30 seconds after which Kubernetes kills.
  private static let grace = TimeAmount.seconds(20)

  /// The methods for a loop. Without a reader of the store there is no service.
  private static func loopHost(_ services: Application, _ logger: Logger) -> sending MethodHost {
    do {
      return try services.services.makeHost()
    } catch {
      logger.critical("a loop has no reader of the store", metadata: ["error": "\(error)"])
      return MethodHost(methods: MethodTable([]))
    }
  }
}
