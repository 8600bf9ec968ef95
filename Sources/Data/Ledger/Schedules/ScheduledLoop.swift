package import AppStore

/// Runs a body at the times that it returns, by the service's clock, and at each signal of an earlier time.
package struct ScheduledLoop: Sendable {
  private let clock: ServiceClock
  private let maxSleep: Int64
  private let process: @Sendable () async throws -> Instant?

  /// `process` handles due items and returns the next time; `nil` waits for a signal. It runs at least every
  /// `maxSleep` milliseconds, because the machine's clock may be set.
  /// An error of `process` ends the loop.
  package init(
    _ clock: ServiceClock, maxSleep: Int64 = 60_000, process: @escaping @Sendable () async throws -> Instant?
  ) {
    self.clock = clock
    self.maxSleep = maxSleep
    self.process = process
  }

  /// Runs until the task is cancelled or the body throws; `signals` wake it early.
  package func run(wokenBy signals: AsyncStream<Void>) async throws {
    let (wakeUps, alarm) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let adjustments = clock.adjustments()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { for await _ in signals { alarm.yield() } }
      group.addTask { for await _ in adjustments { alarm.yield() } }
      alarm.yield()
      // Not in the group: its tasks end when this throws, and would not if another one of them threw.
      try await loop(wakeUps, alarm)
      group.cancelAll()
    }
  }

  /// Runs the body at each wake-up, and sets the alarm for the time that it returns.
  private func loop(_ wakeUps: AsyncStream<Void>, _ alarm: AsyncStream<Void>.Continuation) async throws {
    var sleep: Task<Void, Never>?
    defer { sleep?.cancel() }
    for await _ in wakeUps {
      sleep?.cancel()
      let delay = try await process().flatMap(clock.delay) ?? maxSleep
      sleep = Task {
        // Cancelled if a signal came first.
        guard (try? await Task.sleep(for: .milliseconds(min(max(delay, 1), maxSleep)))) != nil else {
          return
        }
        alarm.yield()
      }
    }
  }
}
