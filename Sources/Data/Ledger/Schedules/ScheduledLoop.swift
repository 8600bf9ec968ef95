package import AppStore

/// Does something whenever its moment comes, by the service's clock, or when there is news that may bring an
/// earlier one.
package struct ScheduledLoop: Sendable {
  private let clock: ServiceClock
  private let maxSleep: Int64
  private let process: @Sendable () async throws -> Instant?

  /// `process` does what is due, and answers when to look next; `nil`: whenever there is news. Since the
  /// machine's clock may be set, it is called every `maxSleep` milliseconds in any case.
  package init(
    _ clock: ServiceClock, maxSleep: Int64 = 60_000, process: @escaping @Sendable () async throws -> Instant?
  ) {
    self.clock = clock
    self.maxSleep = maxSleep
    self.process = process
  }

  /// Goes on until the task is cancelled; `news` wakes it.
  package func run(wokenBy news: AsyncStream<Void>) async throws {
    let (signals, alarm) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let turns = clock.turns()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { for await _ in news { alarm.yield() } }
      group.addTask { for await _ in turns { alarm.yield() } }
      group.addTask { try await follow(signals, alarm) }
      alarm.yield()
      try await group.waitForAll()
    }
  }

  private func follow(_ signals: AsyncStream<Void>, _ alarm: AsyncStream<Void>.Continuation) async throws {
    var sleep: Task<Void, Never>?
    defer { sleep?.cancel() }
    for await _ in signals {
      sleep?.cancel()
      let wait = try await process().flatMap(clock.wait) ?? maxSleep
      sleep = Task {
        // Cancelled when something came first.
        guard (try? await Task.sleep(for: .milliseconds(min(max(wait, 1), maxSleep)))) != nil else {
          return
        }
        alarm.yield()
      }
    }
  }
}
