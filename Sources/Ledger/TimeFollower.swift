package import AppStore
package import Store

/// Looks to it that what time changes becomes events when it is due: waits for the next such moment, or for
/// news that may bring an earlier one.
package struct TimeFollower: Sendable {
  /// The clock may be set meanwhile, so no sleep is longer.
  private static let longestSleep: Int64 = 60_000

  private let ledger: EvidenceLedger
  private let store: any EntitlementStore
  private let now: @Sendable () -> Instant
  private let report: @Sendable (String) -> Void

  /// `report` is told what went wrong; it is tried again later.
  package init(
    _ ledger: EvidenceLedger, store: any EntitlementStore, now: @escaping @Sendable () -> Instant,
    report: @escaping @Sendable (String) -> Void
  ) {
    self.ledger = ledger
    self.store = store
    self.now = now
    self.report = report
  }

  /// Goes on until the task is cancelled.
  package func run() async {
    let (signals, alarm) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let commits = store.commits()
    await withTaskGroup(of: Void.self) { group in
      group.addTask { for await _ in commits { alarm.yield() } }
      group.addTask { await follow(signals, alarm) }
      alarm.yield()
      await group.waitForAll()
    }
  }

  private func follow(_ signals: AsyncStream<Void>, _ alarm: AsyncStream<Void>.Continuation) async {
    var sleep: Task<Void, Never>?
    for await _ in signals {
      sleep?.cancel()
      let wait = await workOff()
      sleep = Task {
        // Cancelled when something came first.
        guard (try? await Task.sleep(for: .milliseconds(wait))) != nil else { return }
        alarm.yield()
      }
    }
    sleep?.cancel()
  }

  /// Does what is due; answers how many milliseconds to wait.
  private func workOff() async -> Int64 {
    do throws(LedgerError) {
      guard let due = try nextDue() else { return Self.longestSleep }
      if due <= now() { try await ledger.advance(to: now()) }
      guard let next = try nextDue() else { return Self.longestSleep }
      let wait = next.millisecondsSince1970 - now().millisecondsSince1970
      return min(max(wait, 1), Self.longestSleep)
    } catch {
      report("what time changed could not be written: \(error)")
      return 1_000
    }
  }

  private func nextDue() throws(LedgerError) -> Instant? {
    do {
      let reader = try store.makeReader()
      defer { reader.endTurn() }
      return try reader.nextDue()
    } catch {
      throw .store(error)
    }
  }
}
