internal import AppStore
package import HTTP
internal import Ledger
internal import RPC
internal import Store

/// Responds to requests of the edge that write: here, or through the leader.
package struct RequestForwarder: Sendable {
  /// The longest wait for the leader's response.
  private static let requestTimeout = Duration.seconds(25)
  /// The longest wait of a notification for a store that does not take it. Apple sends one that was refused
  /// again after an hour, and never in its sandbox (App Store Server Notifications, "Respond to
  /// notifications").
  private static let notificationTimeout = Duration.seconds(5)
  private static let pause = Duration.milliseconds(50)

  private let routes: WritingRoutes
  private let forwarder: CallForwarder?
  private let feed: StoreFeed
  private let now: @Sendable () -> Instant

  /// `feed` shows whether the database refuses connections; `now` dates notifications.
  init(
    _ routes: WritingRoutes, _ forwarder: CallForwarder?, feed: StoreFeed,
    now: @escaping @Sendable () -> Instant
  ) {
    self.routes = routes
    self.forwarder = forwarder
    self.feed = feed
    self.now = now
  }

  /// The route pattern of a path that writes; `nil` for another one.
  func route(of path: String) -> String? { routes.route(of: path) }

  /// Responds to a request to a path that ``route(of:)`` has. A leader that lost its lease meanwhile hands the request
  /// over, so that its client sees no takeover. Without a leader's response in time, the status is 503.
  package func respond(to request: HTTPRequest) async -> HTTPResponse {
    guard let forwarder else { return await routes.respond(to: request) }
    if let endpoint = routes.notificationEndpoint(for: request) {
      return await confirm(request, endpoint, forwarder)
    }
    if forwarder.executesWrites {
      let response = await routes.respond(to: request)
      // Another replica may have taken over meanwhile.
      guard response.status == 503, !forwarder.executesWrites else { return response }
    }
    return await handOver(request, forwarder, within: Self.requestTimeout) ?? Self.unavailable
  }

  /// Hands a request to the leader. Returns `nil` if that failed.
  private func handOver(
    _ request: HTTPRequest, _ forwarder: CallForwarder, within timeout: Duration
  ) async -> HTTPResponse? {
    var context = ForwardedContext(request)
    switch routes.judge(request) {
    case .refused(let response): return response
    case .accepted(let response, let seal):
      context.receivedAt = now()
      context.seal = seal
      let entry = Self.entry(.notification, request, context)
      return (try? await forwarder.replication.inbox.append(entry)).map { _ in response }
    case .undecided:
      let outcome = try? await forwarder.outcome(context, within: timeout) {
        Self.entry(.request, request, $0)
      }
      guard case .response(let response)? = outcome else { return nil }
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
  private static var unavailable: HTTPResponse { .notStored(retryAfterSeconds: 1) }
}

// Notifications of Apple's.
extension RequestForwarder {
  /// Stores a notification here or through the leader. While another replica takes over, or this one has lost its
  /// connection to a database that may work for others, it tries again for some seconds. A leader that was replaced
  /// meanwhile, such as one that was frozen for longer, hands it over in any case, and waits for the response for some
  /// seconds.
  private func confirm(
    _ request: HTTPRequest, _ endpoint: NotificationEndpoint, _ forwarder: CallForwarder
  ) async -> HTTPResponse {
    let clock = ContinuousClock()
    let (start, end) = (clock.now, clock.now + Self.notificationTimeout)
    while true {
      var failure: LedgerError?
      let wasLeader = forwarder.executesWrites
      if wasLeader {
        do throws(LedgerError) { return try await endpoint.ingest(request) } catch { failure = error }
      } else if let response = await handOver(
        request, forwarder,
        within: max(Self.requestTimeout - (clock.now - start), Self.notificationTimeout))
      {
        return response
      }
      guard failure?.isPassing ?? true, !feed.isRefused, (try? await Task.sleep(for: Self.pause)) != nil,
        clock.now < end || wasLeader && !forwarder.executesWrites
      else {
        if let failure { return endpoint.answer(to: failure, request) }
        endpoint.recordRefusal(of: request, because: HTTPResponse.notStoredReason)
        return Self.unavailable
      }
    }
  }
}

extension LedgerError {
  /// Whether the store may take the same write a moment later, perhaps that of another replica.
  var isPassing: Bool {
    switch self {
    case .store(.unavailable), .store(.conflict), .store(.outcomeUnknown): true
    default: false
    }
  }
}
