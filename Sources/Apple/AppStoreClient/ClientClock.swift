package import AppStore

/// What the client knows of time and chance; handed in, so that tests decide both.
package struct ClientClock: Sendable {
  /// The time of day: what tokens and Apple's `Retry-After` are about.
  package let now: @Sendable () -> Instant
  /// Time that only goes forward, from any moment: what waits and deadlines are about.
  package let uptime: @Sendable () -> Duration
  /// Waits. Throws if the task is cancelled.
  package let sleep: @Sendable (Duration) async throws -> Void
  /// A number from 0 up to 1.
  package let random: @Sendable () -> Double

  /// A clock by its parts.
  package init(
    now: @escaping @Sendable () -> Instant, uptime: @escaping @Sendable () -> Duration,
    sleep: @escaping @Sendable (Duration) async throws -> Void, random: @escaping @Sendable () -> Double
  ) {
    self.now = now
    self.uptime = uptime
    self.sleep = sleep
    self.random = random
  }

  /// The machine's clock, with `now` for the time of day.
  package static func system(now: @escaping @Sendable () -> Instant) -> ClientClock {
    let start = ContinuousClock.now
    return ClientClock(
      now: now, uptime: { ContinuousClock.now - start }, sleep: { try await Task.sleep(for: $0) },
      random: { .random(in: 0..<1) })
  }
}
