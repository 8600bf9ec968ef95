package import AppStore
package import Store

/// Has worked off what is due: waits for the next such moment, or for a commit that may bring an earlier one.
package struct DueFollower: Sendable {
  /// The clock may be set meanwhile, so no sleep is longer.
  private static let longestSleep: Int64 = 60_000

  private let store: any EntitlementStore
  private let now: @Sendable () -> Instant
  private let nextDue: @Sendable (any StoreReader) throws(StoreError) -> Instant?
  private let workOff: @Sendable () async throws(LedgerError) -> Void
  private let report: @Sendable (LedgerError) -> Void

  /// Follows `store`. `nextDue` says when something is due next, `workOff` does what is due by now; `report` is
  /// told what went wrong, and it is tried again later.
  package init(
    store: any EntitlementStore, now: @escaping @Sendable () -> Instant,
    nextDue: @escaping @Sendable (any StoreReader) throws(StoreError) -> Instant?,
    workOff: @escaping @Sendable () async throws(LedgerError) -> Void,
    report: @escaping @Sendable (LedgerError) -> Void
  ) {
    self.store = store
    self.now = now
    self.nextDue = nextDue
    self.workOff = workOff
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
      let wait = await workOffDue()
      sleep = Task {
        // Cancelled when something came first.
        guard (try? await Task.sleep(for: .milliseconds(wait))) != nil else { return }
        alarm.yield()
      }
    }
    sleep?.cancel()
  }

  /// Does what is due; answers how many milliseconds to wait.
  private func workOffDue() async -> Int64 {
    do throws(LedgerError) {
      guard let due = try next() else { return Self.longestSleep }
      if due <= now() { try await workOff() }
      guard let next = try next() else { return Self.longestSleep }
      let wait = next.millisecondsSince1970 - now().millisecondsSince1970
      return min(max(wait, 1), Self.longestSleep)
    } catch {
      report(error)
      return 1_000
    }
  }

  private func next() throws(LedgerError) -> Instant? {
    do {
      let reader = try store.makeReader()
      defer { reader.endTurn() }
      return try nextDue(reader)
    } catch {
      throw .store(error)
    }
  }
}
