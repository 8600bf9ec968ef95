package import HTTP
internal import Metrics
package import Platform
internal import RPC
package import Telemetry
internal import Tracing
internal import Wire

/// Routes requests to the edge: probes, metrics, notifications, `verifyReceipt`, and the contract by the Connect protocol.
package struct EdgeRouter: Sendable {
  private let connect: ConnectEndpoint
  private let flags: FlagEndpoint
  private let openAPI: OpenAPIEndpoint
  private let subscribers: SubscriberEndpoint?
  private let writes: RequestForwarder
  private let metrics: MetricsEndpoint
  private let jwks: @Sendable () -> [UInt8]
  private let readiness: ReadinessEndpoint
  private let tracer: RecordingTracer?
  /// Answers Apple's requests for retention messages; `nil` answers none.
  private var retention: RetentionEndpoint?
  /// Receives RevenueCat's webhooks; `nil` receives none.
  private var revenueCat: RevenueCatEndpoint?

  /// - Parameters:
  ///   - connect: the methods of the contract by the Connect protocol.
  ///   - flags: entitlements as flags of OpenFeature.
  ///   - openAPI: the description of all routes.
  ///   - subscribers: customers in the form of RevenueCat's API; `nil` turns it off.
  ///   - writes: notifications, receipts of legacy backends, and signed documents of apps without a backend.
  ///   - metrics: the metrics for Prometheus.
  ///   - jwks: returns the JSON Web Key Set of entitlement tokens.
  ///   - readiness: the readiness probe.
  ///   - tracer: records the spans of sampled requests that write; `nil`: there are none.
  package init(
    connect: ConnectEndpoint, flags: FlagEndpoint, openAPI: OpenAPIEndpoint,
    subscribers: SubscriberEndpoint?, writes: RequestForwarder, metrics: MetricsEndpoint,
    jwks: @escaping @Sendable () -> [UInt8], readiness: ReadinessEndpoint, tracer: RecordingTracer? = nil
  ) {
    self.connect = connect
    self.flags = flags
    self.openAPI = openAPI
    self.subscribers = subscribers
    self.writes = writes
    self.metrics = metrics
    self.jwks = jwks
    self.readiness = readiness
    self.tracer = tracer
  }

  /// The same routes with Apple's requests for retention messages and RevenueCat's webhooks.
  package func adding(_ retention: RetentionEndpoint, _ revenueCat: RevenueCatEndpoint) -> EdgeRouter {
    var router = self
    router.retention = retention
    router.revenueCat = revenueCat
    return router
  }

  /// Responds to a request, and counts it.
  package func respond(to request: HTTPRequest) async -> HTTPResponse {
    let start = metrics.ticks
    let response = await answer(request)
    EdgeMetrics.count(
      route(request.path), status: response.status, nanoseconds: metrics.ticks - start)
    return response
  }

  /// Passes a request to the endpoint of its path; an unknown path is answered with 404.
  private func answer(_ request: HTTPRequest) async -> HTTPResponse {
    switch request.path {
    case "/healthz": Self.read(request, .text(200, "alive\n"))
    case "/readyz": Self.read(request, readiness.respond())
    case "/metrics": metrics.respond(to: request)
    case "/.well-known/jwks.json": Self.read(request, publishedKeys())
    case OpenAPIEndpoint.path: Self.read(request, openAPI.respond(to: request))
    case let path where flags.serves(path): await flags.respond(to: request)
    case let path where subscribers?.serves(path) ?? false:
      await subscribers?.respond(to: request) ?? Self.unknown(request.path)
    case let path where writes.route(of: path) != nil: await write(request)
    case let path where retention?.serves(path) ?? false:
      await retention?.respond(to: request) ?? Self.unknown(request.path)
    case let path where revenueCat?.serves(path) ?? false:
      await revenueCat?.respond(to: request) ?? Self.unknown(request.path)
    case let path where connect.serves(path): await connect.respond(to: request)
    default: Self.unknown(request.path)
    }
  }

  /// Responds to a request that writes, in a trace; its sender is not authenticated. Calls of the contract pass the
  /// interceptors, which trace them.
  private func write(_ request: HTTPRequest) async -> HTTPResponse {
    let parent = request.header("traceparent").flatMap { TraceParent($0) }
    guard let tracer else {
      let trace = TraceContext(following: parent, isSampled: false)
      return await InstrumentationContext.$current.withValue(InstrumentationContext(trace)) {
        await writes.respond(to: request)
      }
    }
    let route = route(request.path)
    // The peer chooses the method, and traces have few names.
    let method = request.method == "POST" ? "POST" : "HTTP"
    return await tracer.startUnauthenticatedCall("\(method) \(route)", continuing: parent).run { span in
      let response = await writes.respond(to: request)
      span?.describe(method, route, response)
      return response
    }
  }

  /// Streams have no route, although they are in the contract.
  private static func unknown(_ path: String) -> HTTPResponse {
    let isStream = Contract.method(named: path) != nil
    return .text(
      404,
      isStream
        ? "a stream, which needs gRPC: \(path)\n"
        : "no such route: \(path.excerpt); GET /openapi.json has the routes\n")
  }

  /// The route pattern of a path, so that metrics have few labels.
  private func route(_ path: String) -> String {
    if let route = writes.route(of: path) { return route }
    return switch path {
    case "/healthz", "/readyz", "/metrics", "/.well-known/jwks.json", OpenAPIEndpoint.path: path
    case _ where retention?.serves(path) ?? false: RetentionEndpoint.route
    case _ where revenueCat?.serves(path) ?? false: RevenueCatEndpoint.route
    case _ where flags.serves(path): path == FlagEndpoint.path ? path : "\(FlagEndpoint.path)/{key}"
    case _ where subscribers?.serves(path) ?? false: SubscriberEndpoint.route
    case _ where connect.serves(path): "/{service}/{method}"
    default: "other"
    }
  }

  /// Verifiers cache the keys, and fetch them again when a token has a new key id (RFC 7517).
  private func publishedKeys() -> HTTPResponse {
    var response = HTTPResponse.json(200, jwks())
    response.headers.append(name: "cache-control", value: "public, max-age=300")
    return response
  }

  /// The response to GET and HEAD, and 405 to other methods. The transport leaves out the body of a response to HEAD.
  private static func read(_ request: HTTPRequest, _ response: HTTPResponse) -> HTTPResponse {
    ["GET", "HEAD"].contains(request.method) ? response : .methodNotAllowed("GET, HEAD")
  }

  /// The threads on which a request is handled; `nil` for a probe, which does not wait for work and does not run with its
  /// priority.
  package static func threads(for request: HTTPRequest) -> BackgroundThreads? {
    isProbe(request.path) ? nil : .shared
  }

  /// Whether a path needs no credential, so that a success does not show that the peer is a client: `verifyReceipt` has
  /// the status 200 for every request.
  package static func isPublic(_ path: String) -> Bool {
    isProbe(path) || ["/.well-known/jwks.json", OpenAPIEndpoint.path].contains(path)
      || VerifyReceiptEndpoint.serves(path)
  }

  /// Whether a path receives Apple's notifications.
  package static func isNotification(_ path: String) -> Bool { path.hasPrefix(NotificationEndpoint.prefix) }

  /// Whether a path reports the health of the service.
  private static func isProbe(_ path: String) -> Bool {
    ["/healthz", "/readyz"].contains(path) || HealthService.serves(path)
  }

  /// Whether a path is called by probes, Apple, RevenueCat or apps, under any host name.
  package static func isCalledByOthers(_ path: String) -> Bool {
    ["/healthz", "/readyz", "/metrics"].contains(path) || path.hasPrefix(NotificationEndpoint.prefix)
      || path.hasPrefix(RetentionEndpoint.prefix) || path.hasPrefix(RevenueCatEndpoint.prefix)
      || DeviceSyncEndpoint.serves(path)
  }

  /// Whether clients send any content type to a path: backends do so to `verifyReceipt`, as Apple accepts it, and to
  /// RevenueCat's paths, whose errors have its form. It changes nothing for a page.
  package static func allowsAnyContentType(_ path: String) -> Bool {
    VerifyReceiptEndpoint.serves(path) || path.hasPrefix(SubscriberEndpoint.prefix)
  }

  /// Responds to plain HTTP requests on the gRPC port with an error that names the cause.
  package static func respondOnGRPCPort(to request: HTTPRequest) -> HTTPResponse {
    if request.method == "POST" {
      let contentType = request.header("content-type").map { "not '\($0.excerpt)'" } ?? "and there is none"
      return .text(415, "this port speaks gRPC: content-type must be application/grpc, \(contentType)\n")
    }
    return .text(404, "this port speaks gRPC; plain HTTP and JSON are on the edge port\n")
  }
}

extension RecordedSpan {
  /// Describes a request (semantic conventions, "HTTP server").
  fileprivate func describe(_ method: String, _ route: String, _ response: HTTPResponse) {
    attributes = [
      "http.request.method": "\(method == "POST" ? method : "_OTHER")", "http.route": "\(route)",
      "http.response.status_code": SpanAttribute.int(Int64(response.status)),
    ]
    if response.status >= 500 { setStatus(SpanStatus(code: .error)) }
  }
}

/// Counts requests to the edge by route and status.
enum EdgeMetrics {
  /// Counts a request and its duration. `route` is a pattern, so that peers cannot add labels.
  static func count(_ route: String, status: Int, nanoseconds: Int64) {
    Counter(
      label: "entitled_edge_requests_total", dimensions: [("route", route), ("status", String(status))]
    ).increment()
    Timer(label: "entitled_edge_request_seconds", dimensions: [("route", route)])
      .recordNanoseconds(nanoseconds)
  }
}
