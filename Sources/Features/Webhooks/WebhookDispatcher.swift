package import AppStore
package import AppStoreClient
internal import Ledger
package import Platform
package import Store
internal import Synchronization

/// All that goes out by itself: one worker for each receiver, so that a slow one holds up nobody else.
package final class WebhookDispatcher: Worker {
  package let name = "webhooks"

  private let current: Mutex<[WebhookSettings]>
  private let changes = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
  private let encode: EventEncoding
  private let exchange: any HTTPExchange
  private let store: any EntitlementStore
  private let now: @Sendable () -> Instant
  private let supervisor: WorkerSupervisor

  /// Receivers of what `store` has; events are written by `encode` and sent through `exchange`.
  ///
  /// `now` is the time of day and never a sandbox's: receivers compare it with their own.
  package init(
    _ settings: [WebhookSettings], store: any EntitlementStore, exchange: any HTTPExchange,
    supervisor: WorkerSupervisor, now: @escaping @Sendable () -> Instant, encode: @escaping EventEncoding
  ) {
    current = Mutex(settings)
    self.encode = encode
    self.exchange = exchange
    self.store = store
    self.now = now
    self.supervisor = supervisor
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

  /// Runs one supervised worker for each webhook until the task is cancelled; ``adopt(_:)`` replaces them.
  package func run() async {
    while !Task.isCancelled {
      await withTaskGroup(of: Void.self) { group in
        for settings in settings {
          let worker = WebhookWorker(
            settings, source: source(of: settings), exchange: exchange, store: store, now: now)
          group.addTask { await self.supervisor.run(SupervisedWebhook(worker: worker)) }
        }
        for await _ in changes.stream { break }
        group.cancelAll()
      }
    }
  }

  /// The source of a receiver's messages.
  func source(of settings: WebhookSettings) -> any MessageSource { settings.source(encode) }
}

/// The loop of one webhook. Its `WebhookWorker` keeps position and circuit breaker when the loop is restarted.
private struct SupervisedWebhook: Worker {
  let worker: WebhookWorker

  var name: String { "webhook \(worker.settings.key.appID) \(worker.settings.key.name)" }

  func run() async throws {
    let now = worker.now
    let loop = ScheduledLoop(ServiceClock(now: now)) {
      now().advanced(byMilliseconds: try await worker.run())
    }
    try await loop.run(wokenBy: worker.store.commits())
  }
}
