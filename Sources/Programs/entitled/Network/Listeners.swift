internal import HTTP
internal import Logging
internal import NIOCore
internal import RPC
internal import Services
internal import Store
internal import Telemetry
internal import Transport
internal import Wire

/// The listeners of a running service.
struct Listeners: Sendable {
  let grpc: Listener
  let http: Listener
  /// `nil` if the sandbox is turned off.
  let sandbox: Listener?

  static func open(
    _ settings: ServeSettings, on loops: any EventLoopGroup, edge edgeLoops: any EventLoopGroup,
    application: Application, tls: ListenerTLS, limits: TransportLimits, sandbox: Listener?,
    metrics: MetricsRegistry, logger: Logger
  ) async throws -> Listeners {
    do {
      let grpc = try await Listener.listen(
        at: settings.grpc, socket: settings.inherited.grpc, on: loops,
        serving: .init(
          makeHost: { _ in makeHost(application, logger) },
          http: { EdgeRouter.respondOnGRPCPort(to: $0) }, limits: limits, tls: tls.grpc),
        logger: logger)
      let router = application.router(metrics: metrics)
      var edge = plain { await router.respond(to: $0) }
      edge.limits = limits
      edge.tls = tls.http
      let http = try await Listener.listen(
        at: settings.http, socket: settings.inherited.http, on: edgeLoops, serving: edge, logger: logger)
      return Listeners(grpc: grpc, http: http, sandbox: sandbox)
    } catch {
      throw Failure(error.description)
    }
  }

  /// A listener without gRPC.
  static func plain(_ handler: @escaping HTTPHandler) -> Listener.Service {
    .init(makeHost: { _ in MethodHost(methods: MethodTable([])) }, http: handler)
  }

  /// Asks HTTP/1.1 clients to reconnect.
  func announceShutDown() { for listener in all { listener.announceShutDown() } }

  /// Drains all listeners concurrently.
  ///
  /// - Parameter endStreams: ends streams without a natural end. Called after GOAWAY was sent, so that clients open new
  ///   streams elsewhere.
  func shutDown(endStreams: @escaping @Sendable () -> Void) async {
    await withTaskGroup(of: Void.self) { group in
      for listener in all {
        group.addTask { await listener.shutDown(grace: Self.grace, onAnnounced: endStreams) }
      }
    }
  }

  /// The metrics of the listeners.
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

  /// The time for calls in flight after SIGTERM; Kubernetes kills the process after 30 seconds.
  private static let grace = TimeAmount.seconds(20)

  /// Returns the methods of one event loop.
  private static func makeHost(_ application: Application, _ logger: Logger) -> sending MethodHost {
    do throws(StoreError) {
      return try application.services.makeHost()
    } catch {
      logger.critical("store reader unavailable on event loop", metadata: ["error": "\(error)"])
      return application.services.makeHost(withoutReader: error)
    }
  }
}
