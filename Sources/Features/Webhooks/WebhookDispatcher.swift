package import AppStore
package import AppStoreClient
internal import Ledger
package import Platform
package import Store
internal import Synchronization

/// Runs one ``WebhookWorker`` for each webhook, so that a slow one does not delay the others.
///
/// A webhook is identified by its app, kind and name: one with another URL continues at the same cursor, and one with
/// another name begins at the end of the log.
package final class WebhookDispatcher: Worker {
  package let name = "webhooks"

  private let current: Mutex<[WebhookSettings]>
  private let changes = Signal()
  private let encode: EventEncoding
  private let exchange: any HTTPExchange
  private let store: any EntitlementStore
  private let now: @Sendable () -> Instant
  private let supervisor: WorkerSupervisor

  /// Creates a dispatcher for the events and notifications in `store`.
  ///
  /// `now` is the time of day, never a sandbox's: webhooks compare it with their own clock.
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

  /// The configured webhooks.
  package var settings: [WebhookSettings] { current.withLock { $0 } }

  /// Replaces the webhooks. A new one begins with future events, a removed one keeps its cursor, and the others resume at
  /// theirs; messages in flight may be sent twice, with the same id.
  ///
  /// - Returns: whether anything has changed.
  /// - Throws: ``StoreError``; the webhooks stay as they were.
  package func adopt(_ settings: [WebhookSettings]) async throws(StoreError) -> Bool {
    guard settings != self.settings else { return false }
    try await begin(settings)
    replace(with: settings)
    return true
  }

  /// Replaces the webhooks without storing cursors, in a process that writes nothing. ``begin()`` must follow when it
  /// becomes the writer.
  package func replace(with settings: [WebhookSettings]) {
    current.withLock { $0 = settings }
    changes.send()
  }

  /// Stores a cursor at the end of the log for each new webhook.
  /// A webhook with a cursor keeps it, so calls can be repeated.
  package func begin() async throws(StoreError) { try await begin(settings) }

  private func begin(_ settings: [WebhookSettings]) async throws(StoreError) {
    let keys = settings.map(\.key)
    guard !keys.isEmpty else { return }
    try await store.write { store throws(StoreError) in
      for key in keys { try store.begin(key) }
    }
  }

  /// Runs one supervised worker for each webhook until the task is cancelled. A change of the settings ends all workers
  /// and starts new ones; those with the same URL keep their circuit breaker. The metrics of a webhook that this process
  /// no longer serves are zero.
  package func run() async {
    let changes = changes.listen()
    var ended: [WebhookWorker] = []
    while !Task.isCancelled {
      let settings = settings
      var workers: [WebhookWorker] = []
      for settings in settings {
        let earlier = ended.first { $0.settings.key == settings.key && $0.settings.url == settings.url }
        workers.append(
          WebhookWorker(
            settings, source: source(of: settings), exchange: exchange, store: store,
            breaker: await earlier?.breaker ?? WebhookCircuitBreaker(), now: now))
      }
      await withTaskGroup(of: Void.self) { group in
        for worker in workers {
          group.addTask { await self.supervisor.run(SupervisedWebhook(worker: worker)) }
        }
        for await _ in changes { break }
        group.cancelAll()
      }
      // An unstructured task is not cancelled with this one, and cancellation ends reads of the store.
      await Task { [workers] in for worker in workers { await worker.finish() } }.value
      let served = Task.isCancelled ? [] : Set(self.settings.map(\.key))
      for webhook in settings where !served.contains(webhook.key) {
        DeliveryMetrics.reset(webhook.key, at: now())
      }
      ended = workers
    }
  }

  /// Returns the source of a webhook's messages.
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
