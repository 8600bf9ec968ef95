import AppStore
import JSON
import Testing

@testable import Sandbox

@Suite("Notification delivery")
struct DeliveryTests {
  @Test("Shutdown cancels the delivery in flight and keeps it pending")
  func end() async throws {
    let (posts, calls) = AsyncStream.makeStream(of: Void.self)
    let store = try AppStoreSimulator(
      apps: [DemoWorld.app], storage: .memory, now: { DemoWorld.start },
      poster: SilentPoster(calls: calls))
    _ = try await store.perform(
      .notificationURL, Parameters(["app": "demo", "url": "http://service", "version": 2]))
    _ = try await store.perform(.testNotification, Parameters(["app": "demo"]))
    let running = Task { await store.run() }
    _ = await posts.first { _ in true }
    running.cancel()
    await running.value
    let world = await store.world
    #expect(world.dueNotifications.count == 1 && world.notifications.allSatisfy(\.attempts.isEmpty))
  }

  @Test(
    "A rejected notification is retried on Apple's schedule and then abandoned",
    arguments: [(2, [1, 12, 24, 48, 72]), (1, [6, 24, 48])] as [(JSONValue, [Int64])])
  func retries(version: JSONValue, hours: [Int64]) async throws {
    let poster = RefusingPoster()
    let store = try AppStoreSimulator(
      apps: [DemoWorld.app], storage: .memory, now: { DemoWorld.start }, poster: poster)
    await poster.look(at: store.clock)
    _ = try await store.perform(
      .notificationURL, Parameters(["app": "demo", "url": "http://service", "version": version]))
    let began = DemoWorld.start
    try await store.advanceClock(to: began.advanced(byMilliseconds: 60_000))
    _ = try await store.perform(
      .purchases, Parameters(["app": "demo", "productId": "news", "account": "ann"]))
    // One advance covers all attempts; the second one has nothing to send.
    try await store.advanceClock(to: began.advanced(byMilliseconds: 10 * 86_400_000))
    try await store.advanceClock(to: began.advanced(byMilliseconds: 300 * 86_400_000))
    let times = await poster.times
    let waits = zip(times, times.dropFirst()).map { $1.milliseconds(since: $0) }
    #expect(waits == hours.map { $0 * 3_600_000 })
    let notification = try #require(await store.world.notifications.first)
    #expect(notification.attempts.map(\.result) == times.map { _ in .unsuccessfulHTTPResponseCode })
  }
}

/// Rejects every notification and records the times of arrival.
private actor RefusingPoster: NotificationPoster {
  private var clock: SandboxClock?
  private(set) var times: [Instant] = []

  func look(at clock: SandboxClock) { self.clock = clock }

  func post(_ body: [UInt8], to url: String) async -> SendAttemptResult {
    if let clock { times.append(clock.now()) }
    return .unsuccessfulHTTPResponseCode
  }

  func exchange(_ body: [UInt8], with url: String) async -> (result: SendAttemptResult, response: [UInt8]) {
    (await post(body, to: url), [])
  }
}

/// Reports each call and then never responds.
private struct SilentPoster: NotificationPoster {
  let calls: AsyncStream<Void>.Continuation

  func post(_ body: [UInt8], to url: String) async -> SendAttemptResult {
    calls.yield()
    try? await Task.sleep(for: .seconds(3600))
    return .timedOut
  }

  func exchange(_ body: [UInt8], with url: String) async -> (result: SendAttemptResult, response: [UInt8]) {
    (await post(body, to: url), [])
  }
}
