internal import HTTP
internal import Pages
internal import RPC
internal import Wire

/// Announces the events of a customer to an open page as they are committed. Only their numbers: the page loads what it
/// shows as any other page, with the same checks.
final class CustomerLive: Sendable {
  private static let heartbeatSeconds: Int64 = 20

  private let announcements: Announcements
  private let slot: LivePages.Slot
  private let watch: Task<Void, Never>

  private init(_ request: WatchRequest, _ visit: Visit, _ slot: LivePages.Slot) {
    let announcements = Announcements()
    self.announcements = announcements
    self.slot = slot
    // Without a reference to this object, whose end ends the task.
    watch = Task {
      await withTaskGroup(of: Void.self) { group in
        group.addTask { await Self.follow(request, visit, announcements) }
        group.addTask {
          try? await Task.sleep(for: visit.liveTime)
          announcements.end(.ok, isFinal: true)
        }
        _ = await group.next()
        group.cancelAll()
      }
    }
  }

  /// The response was dropped, or its browser has gone.
  deinit { watch.cancel() }

  /// The stream of announcements after the sequence that the page shows.
  static func response(
    _ id: String, in scope: Scope, _ visit: Visit
  ) async throws(Status) -> HTTPResponse {
    guard let slot = visit.live.slot(of: visit.person) else {
      throw Status(.resourceExhausted, reason: "TOO_MANY_LIVE_PAGES", Text.tooManyLivePages)
    }
    // A browser that connects again names the last event that it has.
    let after = (visit.request.header("last-event-id") ?? visit.value("after")).flatMap { Int64($0) } ?? 0
    let request = WatchRequest.about(scope) {
      $0.customerIds = [id]
      $0.heartbeatInterval = .with { $0.seconds = heartbeatSeconds }
    }
    let live = CustomerLive(request, visit, slot)
    try await live.announcements.accepted()
    // Now that no later event is missed: the events since the page was shown.
    let sequence = try await EventsSincePage.sequence(of: id, in: scope, visit)
    if sequence > after { live.announcements.announce(sequence) }
    return live.response
  }

  private var response: HTTPResponse {
    var response = HTTPResponse(
      status: 200,
      // A proxy that collected the response would delay it.
      headers: HeaderFields([("content-type", "text/event-stream"), ("x-accel-buffering", "no")]))
    response.stream = HTTPBodyStream { [self] send in
      defer { watch.cancel() }
      await announcements.send(to: send)
    }
    return response
  }

  private static func follow(
    _ request: WatchRequest, _ visit: Visit, _ announcements: Announcements
  ) async {
    do throws(Status) {
      try await visit.follow(Calls.watch, request) {
        announcements.begin()
      } receive: { message in
        switch message.content {
        case .event?: announcements.announce(message.sequence)
        case .heartbeat?, nil: announcements.pulse()
        }
      }
      announcements.end(.ok, isFinal: false)
    } catch {
      // Without the permission, another connection would be refused too.
      announcements.end(error, isFinal: [.permissionDenied, .unauthenticated].contains(error.code))
    }
  }
}
