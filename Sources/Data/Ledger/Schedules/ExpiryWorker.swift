internal import AppStore
package import Store

/// Looks to it that what time changes becomes events when it is due.
package struct ExpiryWorker: Sendable {
  private let follower: DueWorker

  /// `onError` is told what went wrong; it is tried again later.
  package init(
    _ ledger: EvidenceLedger, store: any EntitlementStore, clock: ServiceClock,
    onError: @escaping @Sendable (String) -> Void
  ) {
    follower = DueWorker(
      store: store, clock: clock,
      nextDue: { reader throws(StoreError) in try reader.nextDue() },
      process: { () async throws(LedgerError) in _ = try await ledger.advance(to: clock.now()) },
      onError: { onError("what time changed could not be written: \($0)") })
  }

  /// Goes on until the task is cancelled.
  package func run() async { await follower.run() }
}
