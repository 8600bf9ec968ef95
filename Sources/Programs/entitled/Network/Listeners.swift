internal import Callers
internal import CommandSupport
internal import Configuration
internal import Console
internal import HTTP
internal import Logging
internal import NIOCore
internal import Platform
internal import RPC
internal import Services
internal import Telemetry
internal import Transport
internal import Wire

/// The hosts and origins that the listeners for plain HTTP accept.
struct OriginPolicies: Sendable {
  let http: OriginPolicy
  let console: OriginPolicy

  /// The hosts of the configuration and of the addresses.
  init(_ configuration: ListenersConfiguration, http: HostAndPort, console: HostAndPort?) {
    self.http = OriginPolicy(allowedHosts: configuration.http.allowedHosts, address: http.host)
    self.console = OriginPolicy(
      allowedHosts: configuration.console.listener.allowedHosts, address: console?.host)
  }
}

/// The certificates of the listeners, and the hosts and origins that those for plain HTTP accept.
struct ListenerSecurity: Sendable {
  let tls: ListenerTLS
  let hosts: OriginPolicies

  /// Reads the certificates and keys.
  init(_ configuration: ListenersConfiguration, _ settings: ServeSettings) throws {
    tls = try ListenerTLS(configuration, settings)
    hosts = OriginPolicies(configuration, http: settings.http, console: settings.console)
  }
}

/// The listeners of a running service.
struct Listeners: Sendable {
  /// Serves gRPC, on its own event loops.
  let grpc: Listener
  /// Serves the edge, on event loops that yield to those of gRPC.
  let http: Listener
  /// `nil` if the sandbox is turned off.
  let sandbox: Listener?
  /// `nil` if the console is turned off.
  let console: Listener?
  /// The bytes that peers make the process hold, over all connections.
  private let held: PeerBytes

  /// Opens the listeners, the console last. `held` are the bytes of all listeners, with those of the sandbox.
  ///
  /// - Throws: ``Failure`` if an address cannot be bound.
  static func open(
    _ settings: ServeSettings, on loops: any EventLoopGroup, edge edgeLoops: any EventLoopGroup,
    application: Application, security: ListenerSecurity, limits: TransportLimits,
    budget: ConnectionBudget, held: PeerBytes, sandbox: Listener?, metrics: MetricsRegistry, logger: Logger
  ) async throws -> Listeners {
    let (tls, hosts) = (security.tls, security.hosts)
    var (grpcLimits, edgeLimits, consoleLimits) = (limits, limits, limits)
    grpcLimits.connections = budget.grpc
    edgeLimits.connections = budget.edge
    consoleLimits.connections = budget.other
    do {
      var calls = Listener.Service(
        makeHost: { _ in application.services.makeHost() },
        http: { EdgeRouter.respondOnGRPCPort(to: $0) }, limits: grpcLimits, tls: tls.grpc)
      calls.refusal = { EdgeRouter.respondOnGRPCPort(to: $0) }
      calls.held = held
      let grpc = try await Listener.listen(
        at: settings.grpc, socket: settings.inherited.grpc, on: loops, serving: calls, logger: logger)
      let router = application.router(metrics: metrics)
      var edge = Listener.Service.plain { request in
        if let refusal = edgeRefusal(of: request, hosts.http, application) { return refusal }
        return await router.respond(to: request)
      }
      edge.limits = edgeLimits
      edge.threads = { EdgeRouter.threads(for: $0) }
      edge.isPublic = { EdgeRouter.isPublic($0.path) }
      edge.isPreferred = { EdgeRouter.isNotification($0.path) }
      edge.tls = tls.http
      edge.held = held
      let http = try await Listener.listen(
        at: settings.http, socket: settings.inherited.http, on: edgeLoops, serving: edge, logger: logger)
      let console = try await openConsole(
        settings, on: edgeLoops, application: application, tls: tls, limits: consoleLimits, held: held,
        logger: logger)
      return Listeners(grpc: grpc, http: http, sandbox: sandbox, console: console, held: held)
    } catch {
      throw Failure(error.description)
    }
  }

  /// Opens the console's listener; `nil` if it is turned off. Its pages are made on background threads.
  private static func openConsole(
    _ settings: ServeSettings, on loops: any EventLoopGroup, application: Application, tls: ListenerTLS,
    limits: TransportLimits, held: PeerBytes, logger: Logger
  ) async throws(ListenError) -> Listener? {
    guard let address = settings.console, let console = application.console.site else { return nil }
    var service = Listener.Service.plain { request in
      await withTaskExecutorPreference(BackgroundThreads.shared) { await console.respond(to: request) }
    }
    service.limits = limits
    service.held = held
    service.tls = tls.console
    return try await Listener.listen(at: address, on: loops, serving: service, logger: logger)
  }

  /// The response to a request on the edge that a web page may have caused. Probes and Apple's calls are exempt. The
  /// host is checked while every client is allowed: otherwise a page lacks the token.
  private static func edgeRefusal(
    of request: HTTPRequest, _ policy: OriginPolicy, _ application: Application
  ) -> HTTPResponse? {
    guard !EdgeRouter.isCalledByOthers(request.path) else { return nil }
    if application.callers.value.isOpen, let refusal = policy.refusalOfHost(request) { return refusal }
    return policy.refusalOfOrigin(
      request, allowsAnyContentType: EdgeRouter.allowsAnyContentType(request.path))
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
    } + [
      MetricSample("entitled_unread_response_bytes", Double(held.unreadResponses.bytes)),
      MetricSample(
        "entitled_unread_connections_reset_total", Double(held.unreadResponses.resetConnections)),
      MetricSample("entitled_incomplete_request_bytes", Double(held.incompleteRequests.bytes)),
      MetricSample(
        "entitled_incomplete_connections_reset_total", Double(held.incompleteRequests.resetConnections)),
    ]
  }

  private var all: [Listener] { [grpc, http, sandbox, console].compactMap(\.self) }

  /// The time for calls in flight after SIGTERM; Kubernetes kills the process after 30 seconds.
  private static let grace = TimeAmount.seconds(20)
}
