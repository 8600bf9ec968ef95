package import AppStore
package import AppStoreClient
internal import Ledger
package import Store

/// All that goes out by itself: one worker for each receiver, so that a slow one holds up nobody else.
package struct Outlets: Sendable {
  /// The receivers, as the operator configured them.
  package let settings: [OutletSettings]
  private let encode: EventEncoding
  private let exchange: any HTTPExchange
  private let store: any EntitlementStore
  private let now: @Sendable () -> Instant

  /// Receivers of what `store` has; events are written by `encode` and sent through `exchange`.
  ///
  /// `now` is the time of day and never a sandbox's: receivers compare it with their own.
  package init(
    _ settings: [OutletSettings], store: any EntitlementStore, exchange: any HTTPExchange,
    now: @escaping @Sendable () -> Instant, encode: @escaping EventEncoding
  ) {
    self.settings = settings
    self.encode = encode
    self.exchange = exchange
    self.store = store
    self.now = now
  }

  /// Lets each receiver that is new begin with what happens from now on.
  package func begin() async throws(StoreError) {
    let keys = settings.map(\.key)
    guard !keys.isEmpty else { return }
    try await store.write { store throws(StoreError) in
      for key in keys { try store.begin(key) }
    }
  }

  /// Sends what there is to send until the task is cancelled. `report` is told what went wrong here, and not
  /// what receivers do; it is tried again.
  package func run(report: @escaping @Sendable (String) -> Void) async {
    await withTaskGroup(of: Void.self) { group in
      for settings in settings {
        let worker = OutletWorker(
          settings, source: settings.source(encode), exchange: exchange, store: store, now: now)
        group.addTask { await follow(worker, settings.key, report) }
      }
      await group.waitForAll()
    }
  }

  private func follow(
    _ worker: OutletWorker, _ key: OutletKey, _ report: @escaping @Sendable (String) -> Void
  ) async {
    let follower = MomentFollower(ServiceClock(now: now)) {
      do throws(StoreError) {
        return now().advanced(byMilliseconds: try await worker.work())
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
  func source(of settings: OutletSettings) -> any MessageSource { settings.source(encode) }
}
