package import AppStore
package import AppStoreClient
internal import Ledger
package import Store
internal import Synchronization

/// All that goes out by itself: one worker for each receiver, so that a slow one holds up nobody else.
package final class WebhookDispatcher: Sendable {
  private let current: Mutex<[WebhookSettings]>
  private let changes = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
  private let encode: EventEncoding
  private let exchange: any HTTPExchange
  private let store: any EntitlementStore
  private let now: @Sendable () -> Instant

  /// Receivers of what `store` has; events are written by `encode` and sent through `exchange`.
  ///
  /// `now` is the time of day and never a sandbox's: receivers compare it with their own.
  package init(
    _ settings: [WebhookSettings], store: any EntitlementStore, exchange: any HTTPExchange,
    now: @escaping @Sendable () -> Instant, encode: @escaping EventEncoding
  ) {
    current = Mutex(settings)
    self.encode = encode
    self.exchange = exchange
    self.store = store
    self.now = now
  }

  /// The receivers, as the operator configured them.
  package var settings: [WebhookSettings] { current.withLock { $0 } }

  /// Puts other receivers in force. One that is new begins with what happens from now on, one that is gone rests,
  /// and the others go on where they are; what is on its way just now may go out twice, with the same id.
  ///
  /// - Returns: whether anything is different.
  package func adopt(_ settings: [WebhookSettings]) async throws(StoreError) -> Bool {
    guard settings != self.settings else { return false }
    try await begin(settings)
    current.withLock { $0 = settings }
    changes.continuation.yield()
    return true
  }

  /// Lets each receiver that is new begin with what happens from now on.
  package func begin() async throws(StoreError) { try await begin(settings) }

  private func begin(_ settings: [WebhookSettings]) async throws(StoreError) {
    let keys = settings.map(\.key)
    guard !keys.isEmpty else { return }
    try await store.write { store throws(StoreError) in
      for key in keys { try store.begin(key) }
    }
  }

  /// Sends what there is to send until the task is cancelled. `report` is told what went wrong here, and not
  /// what receivers do; it is tried again.
  package func run(report: @escaping @Sendable (String) -> Void) async {
    while !Task.isCancelled { await runUntilChanged(report) }
  }

  private func runUntilChanged(_ report: @escaping @Sendable (String) -> Void) async {
    await withTaskGroup(of: Void.self) { group in
      for settings in settings {
        let worker = WebhookWorker(
          settings, source: settings.source(encode), exchange: exchange, store: store, now: now)
        group.addTask { await self.follow(worker, settings.key, report) }
      }
      for await _ in changes.stream { break }
      group.cancelAll()
    }
  }

  private func follow(
    _ worker: WebhookWorker, _ key: WebhookKey, _ report: @escaping @Sendable (String) -> Void
  ) async {
    let follower = ScheduledLoop(ServiceClock(now: now)) { [now] in
      do throws(StoreError) {
        return now().advanced(byMilliseconds: try await worker.run())
      } catch {
        if error != .closed {
          report("what goes out to \(key.name) of app \(key.appID) could not go on: \(error)")
        }
        return now().advanced(byMilliseconds: 1_000)
      }
    }
    await follower.run(wokenBy: store.commits())
  }

  /// The source of a receiver's messages.
  func source(of settings: WebhookSettings) -> any MessageSource { settings.source(encode) }
}
