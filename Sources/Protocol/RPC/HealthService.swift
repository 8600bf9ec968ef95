internal import Synchronization
package import Wire

/// `grpc.health.v1.Health`: the serving status of the server and of each service.
///
/// Components set it with ``set(_:for:)``; callers query it with `Check` or stream it with `Watch`.
package final class HealthService: Sendable {
  package typealias ServingStatus = GRPCHealth.HealthCheckResponse.ServingStatus

  private struct State {
    var statuses: [String: ServingStatus]
    var watchers: [Int: Watcher] = [:]
    var lastWatcher = 0
    var isEnding = false
  }

  private struct Watcher {
    let service: String
    let changes: AsyncStream<ServingStatus>.Continuation
  }

  private let state: Mutex<State>

  /// - Parameter services: full names; the server (the empty name) is added. All start as NOT_SERVING.
  package init(services: [String]) {
    let names = services + [""]
    state = Mutex(State(statuses: Dictionary(names.map { ($0, .notServing) }, uniquingKeysWith: { $1 })))
  }

  /// Sets the status of a service, or of the server for the empty name, and notifies watchers.
  package func set(_ status: ServingStatus, for service: String) {
    state.withLock { state in
      guard state.statuses[service] != status else { return }
      state.statuses[service] = status
      for watcher in state.watchers.values where watcher.service == service { watcher.changes.yield(status) }
    }
  }

  /// Sets the status of all services and of the server.
  package func setAll(_ status: ServingStatus) {
    for service in state.withLock({ Array($0.statuses.keys) }) { set(status, for: service) }
  }

  /// Ends all `Watch` streams before a shutdown.
  package func endWatches() {
    let watchers = state.withLock { state in
      state.isEnding = true
      return Array(state.watchers.values)
    }
    for watcher in watchers { watcher.changes.finish() }
  }

  /// The status of a service; `nil` for an unknown one.
  package func status(of service: String) -> ServingStatus? { state.withLock { $0.statuses[service] } }

  /// Whether the path is that of one of its methods.
  package static func serves(_ path: String) -> Bool { path.hasPrefix("/grpc.health.v1.Health/") }

  /// The paths of the unary methods.
  package static let unaryPaths = ["/grpc.health.v1.Health/Check", "/grpc.health.v1.Health/List"]

  package var methods: [Method] {
    [
      .unary("/grpc.health.v1.Health/Check") {
        [self] (request: GRPCHealth.HealthCheckRequest, _) throws(Status) in
        try check(request)
      },
      .unary("/grpc.health.v1.Health/List") { [self] (_: GRPCHealth.HealthListRequest, _) in list() },
      .serverStreaming("/grpc.health.v1.Health/Watch") {
        [self] (request: GRPCHealth.HealthCheckRequest, responses, call) async throws(Status) in
        try await watch(request.service, responses, call)
      },
    ]
  }

  private func check(
    _ request: GRPCHealth.HealthCheckRequest
  ) throws(Status) -> GRPCHealth.HealthCheckResponse {
    guard let status = status(of: request.service) else {
      throw Status(.notFound, "unknown service '\(request.service.excerpt)'")
    }
    return .with { $0.status = status }
  }

  private func list() -> GRPCHealth.HealthListResponse {
    let statuses = state.withLock { $0.statuses }
    return .with { response in
      response.statuses = statuses.sorted { $0.key < $1.key }.map { service, status in
        .with {
          $0.key = service
          $0.value = .with { $0.status = status }
        }
      }
    }
  }

  /// Sends the current and each later status; SERVICE_UNKNOWN for an unknown service (health protocol).
  private func watch(
    _ service: String, _ responses: ResponseWriter<GRPCHealth.HealthCheckResponse>, _ call: CallContext
  ) async throws(Status) {
    // A slow watcher needs only the latest status.
    let (changes, continuation) = AsyncStream.makeStream(
      of: ServingStatus.self, bufferingPolicy: .bufferingNewest(1))
    let id = state.withLock { state in
      state.lastWatcher += 1
      state.watchers[state.lastWatcher] = Watcher(service: service, changes: continuation)
      continuation.yield(state.statuses[service] ?? .serviceUnknown)
      if state.isEnding { continuation.finish() }
      return state.lastWatcher
    }
    defer { state.withLock { _ = $0.watchers.removeValue(forKey: id) } }
    call.retirement?.onBegin { continuation.finish() }
    for await status in changes {
      try await responses.write(.with { $0.status = status })
    }
    guard !Task.isCancelled else { throw Status(.cancelled, "the caller has disconnected") }
    throw Status(.unavailable, "the server ends this stream; watch again")
  }
}
