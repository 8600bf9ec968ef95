package import AppStore

/// The client's sources of time and randomness, so that tests control both.
package struct ClientClock: Sendable {
  /// The machine's time of day, for timestamps and comparisons with Apple's `Retry-After` and `Date`.
  package let now: @Sendable () -> Instant
  /// Monotonic time since any fixed instant, for waits and deadlines.
  package let uptime: @Sendable () -> Duration
  /// Waits; throws if the task is cancelled.
  package let sleep: @Sendable (Duration) async throws -> Void
  /// A random number from 0 up to, but not including, 1.
  package let random: @Sendable () -> Double

  package init(
    now: @escaping @Sendable () -> Instant, uptime: @escaping @Sendable () -> Duration,
    sleep: @escaping @Sendable (Duration) async throws -> Void, random: @escaping @Sendable () -> Double
  ) {
    self.now = now
    self.uptime = uptime
    self.sleep = sleep
    self.random = random
  }

  /// Returns the machine's clock, with `now` as the time of day.
  package static func system(now: @escaping @Sendable () -> Instant) -> ClientClock {
    ClientClock(
      now: now, uptime: machineUptime, sleep: { try await Task.sleep(for: $0) },
      random: { .random(in: 0..<1) })
  }

  /// Returns the machine's monotonic time since its first use.
  package static let machineUptime: @Sendable () -> Duration = {
    let start = ContinuousClock.now
    return { ContinuousClock.now - start }
  }()
}
