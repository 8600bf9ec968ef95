package import AppStore

/// The service's clock: the machine's, or that of a sandbox, which may be set and run faster.
package struct ServiceClock: Sendable {
  /// The current time.
  package let now: @Sendable () -> Instant
  /// The machine's milliseconds until an instant; `nil` if the clock stands still before it.
  package let delay: @Sendable (Instant) -> Int64?
  /// A signal each time that the clock was set or its speed changed.
  package let adjustments: @Sendable () -> AsyncStream<Void>

  package init(
    now: @escaping @Sendable () -> Instant, delay: @escaping @Sendable (Instant) -> Int64?,
    adjustments: @escaping @Sendable () -> AsyncStream<Void>
  ) {
    self.now = now
    self.delay = delay
    self.adjustments = adjustments
  }

  /// A clock that runs at the machine's speed. It does not signal when the machine's clock is set.
  package init(now: @escaping @Sendable () -> Instant) {
    self.init(
      now: now, delay: { max(0, $0.milliseconds(since: now())) },
      adjustments: { AsyncStream { $0.finish() } })
  }
}
