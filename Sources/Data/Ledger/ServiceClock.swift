package import AppStore

/// The time by which the service lives: the machine's, or that of a sandbox, which may be turned and go faster.
package struct ServiceClock: Sendable {
  /// The time now.
  package let now: @Sendable () -> Instant
  /// Milliseconds of the machine's time until a moment; `nil` if it does not come by itself.
  package let wait: @Sendable (Instant) -> Int64?
  /// Tells each time that the clock was turned, or goes at another pace.
  package let turns: @Sendable () -> AsyncStream<Void>

  /// A clock by its parts.
  package init(
    now: @escaping @Sendable () -> Instant, wait: @escaping @Sendable (Instant) -> Int64?,
    turns: @escaping @Sendable () -> AsyncStream<Void>
  ) {
    self.now = now
    self.wait = wait
    self.turns = turns
  }

  /// A clock that goes as fast as the machine's. That it is set, nobody tells.
  package init(now: @escaping @Sendable () -> Instant) {
    self.init(
      now: now, wait: { max(0, $0.milliseconds(since: now())) }, turns: { AsyncStream { $0.finish() } })
  }
}
