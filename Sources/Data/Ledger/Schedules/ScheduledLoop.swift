package import AppStore

/// Does something whenever its moment comes, by the service's clock, or when there is news that may bring an
/// earlier one.
package struct ScheduledLoop: Sendable {
  private let clock: ServiceClock
  private let longestSleep: Int64
  private let workOff: @Sendable () async -> Instant?

  /// `workOff` does what is due, and answers when to look next; `nil`: whenever there is news. Since the
  /// machine's clock may be set, it is called every `longestSleep` milliseconds in any case.
  package init(
    _ clock: ServiceClock, longestSleep: Int64 = 60_000, workOff: @escaping @Sendable () async -> Instant?
  ) {
    self.clock = clock
    self.longestSleep = longestSleep
    self.workOff = workOff
  }

  /// Goes on until the task is cancelled; `news` wakes it.
  package func run(wokenBy news: AsyncStream<Void>) async {
    let (signals, alarm) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let turns = clock.turns()
    await withTaskGroup(of: Void.self) { group in
      group.addTask { for await _ in news { alarm.yield() } }
      group.addTask { for await _ in turns { alarm.yield() } }
      group.addTask { await follow(signals, alarm) }
      alarm.yield()
      await group.waitForAll()
    }
  }

  private func follow(_ signals: AsyncStream<Void>, _ alarm: AsyncStream<Void>.Continuation) async {
    var sleep: Task<Void, Never>?
    for await _ in signals {
      sleep?.cancel()
      let wait = await workOff().flatMap(clock.wait) ?? longestSleep
      sleep = Task {
        // Cancelled when something came first.
        guard (try? await Task.sleep(for: .milliseconds(min(max(wait, 1), longestSleep)))) != nil else {
          return
        }
        alarm.yield()
      }
    }
    sleep?.cancel()
  }
}
