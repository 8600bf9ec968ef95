internal import AppStore
package import HTTP
internal import JSON
internal import RPC
internal import Store

/// The routes of the edge that write: notifications, `verifyReceipt` and the exchange of apps without a backend. The
/// leader executes them; other replicas hand them to it.
package struct WritingRoutes: Sendable {
  private let notifications: NotificationEndpoint
  private let verifyReceipt: VerifyReceiptEndpoint
  private let deviceSync: DeviceSyncEndpoint

  package init(
    notifications: NotificationEndpoint, verifyReceipt: VerifyReceiptEndpoint, deviceSync: DeviceSyncEndpoint
  ) {
    self.notifications = notifications
    self.verifyReceipt = verifyReceipt
    self.deviceSync = deviceSync
  }

  /// The route pattern of a path; `nil` if it is another one.
  func route(of path: String) -> String? {
    switch path {
    case _ where deviceSync.serves(path): DeviceSyncEndpoint.route
    case _ where notifications.serves(path): "/notifications/{app}"
    case _ where verifyReceipt.serves(path): "/verifyReceipt"
    default: nil
    }
  }

  /// Responds in this process.
  func respond(to request: HTTPRequest) async -> HTTPResponse {
    switch request.path {
    case let path where notifications.serves(path): await notifications.respond(to: request)
    case let path where deviceSync.serves(path): await deviceSync.respond(to: request)
    default: await verifyReceipt.respond(to: request)
    }
  }

  /// Judges a request in a replica that does not write.
  func judge(_ request: HTTPRequest) -> LocalVerdict {
    switch request.path {
    case let path where notifications.serves(path): notifications.judge(request)
    case let path where deviceSync.serves(path): deviceSync.judge(request)
    default: .undecided
    }
  }
}

/// What a replica that does not write finds out about a request.
enum LocalVerdict: Sendable {
  /// It goes no further.
  case refused(HTTPResponse)
  /// It is confirmed with this response as soon as it is in the inbox.
  case accepted(HTTPResponse)
  /// The leader decides.
  case undecided
}

/// Responds to requests of the edge that write: here, or through the leader.
package struct RequestForwarder: Sendable {
  private static let patience = Duration.seconds(25)

  private let routes: WritingRoutes
  private let forwarder: CallForwarder?
  private let now: @Sendable () -> Instant

  /// `now` dates notifications.
  init(_ routes: WritingRoutes, _ forwarder: CallForwarder?, now: @escaping @Sendable () -> Instant) {
    self.routes = routes
    self.forwarder = forwarder
    self.now = now
  }

  /// The route pattern of a path that writes; `nil` for another one.
  func route(of path: String) -> String? { routes.route(of: path) }

  package func respond(to request: HTTPRequest) async -> HTTPResponse {
    guard let forwarder else { return await routes.respond(to: request) }
    if forwarder.executesWrites {
      let response = await routes.respond(to: request)
      // Another replica may have taken over meanwhile.
      guard response.status == 503, !forwarder.executesWrites else { return response }
    }
    return await forward(request, forwarder)
  }

  private func forward(_ request: HTTPRequest, _ forwarder: CallForwarder) async -> HTTPResponse {
    var context = ForwardedContext(request)
    switch routes.judge(request) {
    case .refused(let response): return response
    case .accepted(let response):
      context.receivedAt = now()
      do throws(StoreError) {
        _ = try await forwarder.replication.inbox.append(Self.entry(.notification, request, context))
        return response
      } catch {
        return Self.unavailable
      }
    case .undecided:
      let entry = Self.entry(.request, request, context)
      guard let outcome = try? await forwarder.outcome(of: entry, within: Self.patience),
        case .response(let response) = outcome
      else { return Self.unavailable }
      return response
    }
  }

  private static func entry(
    _ kind: InboxKind, _ request: HTTPRequest, _ context: ForwardedContext
  ) -> InboxEntry {
    InboxEntry(
      kind: kind, appID: "", method: request.path, caller: "", context: context.encoded, body: request.body)
  }

  /// Apple and other senders try again.
  private static var unavailable: HTTPResponse {
    let body: JSONObject = [
      "reason": "TRY_AGAIN", "explanation": "it could not be stored now; please send it again",
    ]
    var response = HTTPResponse.json(503, JSONValue.object(body).serialized())
    response.headers.append(name: "retry-after", value: "1")
    return response
  }
}
