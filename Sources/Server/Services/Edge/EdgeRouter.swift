package import HTTP

/// What the edge port serves: health for whoever runs containers, Apple's notifications, old backends'
/// receipts, and the contract as JSON.
package struct EdgeRouter: Sendable {
  private let gateway: JSONGateway
  private let notifications: NotificationEndpoint
  private let verifyReceipt: VerifyReceiptEndpoint
  private let metrics: MetricsEndpoint
  private let jwks: @Sendable () -> [UInt8]
  private let readiness: ReadinessEndpoint

  /// - Parameters:
  ///   - gateway: the contract's calls.
  ///   - notifications: where Apple delivers.
  ///   - verifyReceipt: where old backends send receipts.
  ///   - metrics: what the program counts.
  ///   - jwks: the document with the public keys of entitlement tokens.
  ///   - readiness: whether calls are answered.
  package init(
    gateway: JSONGateway, notifications: NotificationEndpoint, verifyReceipt: VerifyReceiptEndpoint,
    metrics: MetricsEndpoint, jwks: @escaping @Sendable () -> [UInt8], readiness: ReadinessEndpoint
  ) {
    self.gateway = gateway
    self.notifications = notifications
    self.verifyReceipt = verifyReceipt
    self.metrics = metrics
    self.jwks = jwks
    self.readiness = readiness
  }

  /// Answers a request, and counts it.
  package func respond(to request: HTTPRequest) async -> HTTPResponse {
    let start = metrics.ticks
    let response = await answer(request)
    EdgeMetrics.count(
      route(request.path), status: response.status, nanoseconds: metrics.ticks - start)
    return response
  }

  private func answer(_ request: HTTPRequest) async -> HTTPResponse {
    switch request.path {
    case "/healthz": Self.read(request, .text(200, "alive\n"))
    case "/readyz": Self.read(request, readiness.respond())
    case "/metrics": metrics.respond(to: request)
    case "/.well-known/jwks.json": Self.read(request, publishedKeys())
    case let path where notifications.serves(path): await notifications.respond(to: request)
    case let path where verifyReceipt.serves(path): await verifyReceipt.respond(to: request)
    case let path where gateway.serves(path): await gateway.respond(to: request)
    default: .text(404, "there is nothing at \(request.path)\n")
    }
  }

  /// The path without what differs from request to request, so that there are few of them.
  private func route(_ path: String) -> String {
    switch path {
    case "/healthz", "/readyz", "/metrics", "/.well-known/jwks.json": path
    case _ where notifications.serves(path): "/notifications/{app}"
    case _ where verifyReceipt.serves(path): "/verifyReceipt"
    case _ where gateway.serves(path): "/{service}/{method}"
    default: "other"
    }
  }

  /// Whoever checks tokens asks rarely, and again when a token names a key that is new (RFC 7517).
  private func publishedKeys() -> HTTPResponse {
    var response = HTTPResponse.json(200, jwks())
    response.headers.append(name: "cache-control", value: "public, max-age=300")
    return response
  }

  private static func read(_ request: HTTPRequest, _ response: HTTPResponse) -> HTTPResponse {
    ["GET", "HEAD"].contains(request.method) ? response : .methodNotAllowed("GET, HEAD")
  }

  /// What plain HTTP requests to the gRPC port get: it has nothing else to offer.
  package static func respondOnGRPCPort(to request: HTTPRequest) -> HTTPResponse {
    if request.method == "POST" {
      let contentType = request.header("content-type").map { "not '\($0)'" } ?? "and there is none"
      return .text(415, "this port speaks gRPC: content-type must be application/grpc, \(contentType)\n")
    }
    return .text(404, "this port speaks gRPC; plain HTTP and JSON are on the edge port\n")
  }
}
