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
    #expect(world.outbox.count == 1 && world.notifications.allSatisfy(\.attempts.isEmpty))
  }

  // Apple: "Responding to App Store Server Notifications".
  @Test(
    "A rejected notification is retried by the rules of the environment and then abandoned",
    arguments: [
      ("PRODUCTION", 2, [1, 12, 24, 48, 72]), ("PRODUCTION", 1, [6, 24, 48]), ("SANDBOX", 2, []),
      ("SANDBOX", 1, []), (nil, 2, []),
    ] as [(JSONValue?, JSONValue, [Int64])])
  func retries(rules: JSONValue?, version: JSONValue, hours: [Int64]) async throws {
    let poster = RefusingPoster()
    let store = try AppStoreSimulator(
      apps: [DemoWorld.app], storage: .memory, now: { DemoWorld.start }, poster: poster)
    await poster.look(at: store.clock)
    if let rules { _ = try await store.perform(.delivery, Parameters(["app": "demo", "rules": rules])) }
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

  @Test(
    "Delays follow the seed: most are seconds, some are more than ten minutes, some notifications are lost")
  func delays() {
    let delays = DeliveryDelays(seed: 7, late: 50, lost: 20)
    let fates = (0..<10_000).map(delays.fate)
    #expect(fates == (0..<10_000).map(delays.fate))
    #expect(fates != (0..<10_000).map(DeliveryDelays(seed: 8, late: 50, lost: 20).fate))
    let waits = fates.compactMap { fate in
      if case .after(let milliseconds) = fate { milliseconds } else { nil as Int64? }
    }
    #expect((100...300).contains(fates.count - waits.count))
    #expect((350...650).contains(waits.filter { $0 >= 600_000 }.count))
    #expect(waits.allSatisfy { $0 > 0 && $0 <= 4_200_000 })
    #expect(waits.sorted()[waits.count / 2] < 25_000)
  }

  @Test("A delayed notification is sent later with its first date, and a lost one has a failed attempt")
  func delayedDelivery() async throws {
    let poster = RefusingPoster(result: .success)
    let store = try AppStoreSimulator(
      apps: [DemoWorld.app], storage: .memory, now: { DemoWorld.start }, poster: poster)
    await poster.look(at: store.clock)
    try await store.advanceClock(to: DemoWorld.start)
    _ = try await store.perform(.notificationURL, Parameters(["app": "demo", "url": "http://service"]))
    _ = try await store.perform(
      .delivery, Parameters(["app": "demo", "delays": true, "late": 1000, "lost": 0]))
    _ = try await store.perform(
      .purchases, Parameters(["app": "demo", "productId": "news", "account": "ann"]))
    _ = try await store.perform(.delivery, Parameters(["app": "demo", "late": 0, "lost": 1000]))
    _ = try await store.perform(
      .purchases, Parameters(["app": "demo", "productId": "news", "account": "ben"]))
    try await store.advanceClock(to: DemoWorld.start.advanced(byMilliseconds: 86_400_000))
    let notifications = await store.world.notifications
    let (late, lost) = (try #require(notifications.first), try #require(notifications.last))
    let wait = try #require(late.attempts.first).date.milliseconds(since: late.date)
    #expect((600_000...4_200_000).contains(wait))
    #expect(await poster.times == [late.date.advanced(byMilliseconds: wait)])
    #expect(lost.attempts.map(\.result) == [.noResponse] && lost.nextAttempt == nil)
  }
}

/// Gives every notification the same result, by default a rejection, and records the times of arrival.
private actor RefusingPoster: NotificationPoster {
  private let result: SendAttemptResult
  private var clock: SandboxClock?
  private(set) var times: [Instant] = []

  init(result: SendAttemptResult = .unsuccessfulHTTPResponseCode) { self.result = result }

  func look(at clock: SandboxClock) { self.clock = clock }

  func exchange(_ body: [UInt8], with url: String) async -> ReceiverResponse {
    if let clock { times.append(clock.now()) }
    return ReceiverResponse(result: result)
  }
}

/// Reports each call and then never responds.
struct SilentPoster: NotificationPoster {
  let calls: AsyncStream<Void>.Continuation

  func exchange(_ body: [UInt8], with url: String) async -> ReceiverResponse {
    calls.yield()
    try? await Task.sleep(for: .seconds(3600))
    return ReceiverResponse(result: .timedOut)
  }
}
