package import AppStore
internal import Entitlements
package import Logging
internal import Platform
package import Store
internal import Synchronization

/// Reads committed events once and broadcasts them to all watchers of their app.
///
/// One task reads the store, whatever the number of watchers. It never waits for a watcher: each has its own
/// buffer, and a watcher whose buffer is full must resume from its last event. Watchers read events older
/// than the buffer from the store.
package final class EventBroadcaster: Worker {
  package let name = "events"

  private static let pageSize = 1_000
  /// The time until events that cannot be read are read again; watchers wait for them.
  private static let retryPause = Duration.milliseconds(200)

  /// An app with watchers. It is dropped some time after its last watcher left.
  private struct WatchedApp {
    /// The last events, consecutive up to ``published``; no events from before the first watcher.
    var recent: [SharedEvent] = []
    /// The sequence of the last published event.
    var published: Int64
    /// A mark at which all published events are committed; `nil` in a store without commits of other processes.
    var mark: CommitMark?
    var watchers: [ObjectIdentifier: WatchSubscription] = [:]
  }

  private struct State {
    var apps: [String: WatchedApp] = [:]
    var isClosed = false
  }

  /// The result of a subscription.
  enum Subscription {
    case watching(WatchSubscription)
    /// The buffer does not have all events since then; the watcher must read the store first.
    case notBuffered
    /// The broadcaster is closed.
    case closed
  }

  private let store: any EntitlementStore
  private let capacity: Int
  private let now: @Sendable () -> Instant
  private let logger: Logger
  private let state = Mutex(State())
  /// An element for each commit and each app that is watched for the first time.
  private let (wakeups, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

  /// Creates a broadcaster that buffers at least the last `capacity` events of an app while it has watchers, and
  /// up to `capacity` events for each watcher.
  package init(
    store: any EntitlementStore, capacity: Int = 4_096, now: @escaping @Sendable () -> Instant,
    logger: Logger = Logger(label: "entitled.events")
  ) {
    self.store = store
    self.capacity = capacity
    self.now = now
    self.logger = logger
  }

  /// Reads committed events and sends heartbeats until the task is cancelled. Events that cannot be read are read again
  /// soon, because a restart of the worker would come too late after a failover.
  package func run() async {
    let commits = store.commits()
    await withTaskGroup(of: Void.self) { group in
      group.addTask { for await _ in commits { self.wake.yield() } }
      group.addTask { await self.publishCommits() }
      group.addTask { await self.sendHeartbeats() }
      // After a restart, the events since the last published one follow at once.
      wake.yield()
      await group.waitForAll()
    }
  }

  private func publishCommits() async {
    var hasFailed = false
    for await _ in wakeups {
      do throws(StoreError) {
        for appID in watchedApps() { try await publishCommits(of: appID) }
        hasFailed = false
      } catch {
        guard !Task.isCancelled else { return }
        if !hasFailed { logger.error("events cannot be read", metadata: ["error": "\(error)"]) }
        hasFailed = true
        guard (try? await Task.sleep(for: Self.retryPause)) != nil else { return }
        wake.yield()
      }
    }
  }

  /// The apps with watchers. Drops the others, so that their events are not read.
  private func watchedApps() -> [String] {
    state.withLock { state in
      state.apps = state.apps.filter { !$0.value.watchers.isEmpty }
      return Array(state.apps.keys)
    }
  }

  /// Publishes the new events of an app, a page at a time, until the store has no more.
  private func publishCommits(of appID: String) async throws(StoreError) {
    while let (published, mark) = progress(of: appID) {
      let page = try await store.read { snapshot throws(StoreError) in
        try EventPage(snapshot, of: appID, after: published, since: mark, limit: Self.pageSize)
      }
      guard page.isContinuation else { return discardHistory(of: appID) }
      publish(page, of: appID)
      guard page.events.count == Self.pageSize else { break }
    }
  }

  /// Sends heartbeats to watchers without recent events, until the task is cancelled.
  private func sendHeartbeats() async {
    while (try? await Task.sleep(for: .milliseconds(100))) != nil {
      let watchers = state.withLock { $0.apps.values.flatMap(\.watchers.values) }
      let now = now()
      for watcher in watchers { watcher.requestHeartbeat(at: now) }
    }
  }

  /// The sequence of the last published event of an app; `nil` if the app is not watched.
  func published(of appID: String) -> Int64? { state.withLock { $0.apps[appID]?.published } }

  /// The sequence of the last published event of an app, and a mark at which it is committed.
  private func progress(of appID: String) -> (published: Int64, mark: CommitMark?)? {
    state.withLock { $0.apps[appID].map { ($0.published, $0.mark) } }
  }

  /// Discards the published events of an app, because the database lost some of their commits. Watchers read the store,
  /// which may have others with the same sequences.
  private func discardHistory(of appID: String) {
    let watchers = state.withLock { $0.apps.removeValue(forKey: appID)?.watchers.values.map(\.self) ?? [] }
    for watcher in watchers { watcher.endHistory() }
  }

  /// Subscribes to all events of the filter's app after `sequence` that pass the filter, without a gap. The event
  /// with that sequence is committed at `mark`, but possibly not yet published. `isLatest` is whether the store had no
  /// later event of the app a moment ago: the first watcher of an app starts there.
  func subscribe(
    _ filter: EventFilter, after sequence: Int64, isLatest: Bool, mark: CommitMark?, heartbeat: Int64
  ) -> Subscription {
    state.withLock { state in
      guard !state.isClosed else { return .closed }
      let known = state.apps[filter.appID]
      guard known != nil || isLatest else { return .notBuffered }
      var app = known ?? WatchedApp(published: sequence, mark: mark)
      // Another leader took over since one of the two was read: the published events may be lost ones.
      guard mark?.term == app.mark?.term else {
        wake.yield()
        return .notBuffered
      }
      guard sequence >= app.published - Int64(min(app.recent.count, capacity)) else { return .notBuffered }
      let watcher = WatchSubscription(
        filter, after: sequence, mark: mark, heartbeat: heartbeat, capacity: capacity, now: now())
      watcher.enqueue(app.recent.drop { $0.sequence <= sequence }, upTo: app.published, app.mark)
      app.watchers[ObjectIdentifier(watcher)] = watcher
      state.apps[filter.appID] = app
      // Events may have been committed since the store was read.
      if known == nil { wake.yield() }
      return .watching(watcher)
    }
  }

  /// Ends the deliveries to a watcher. The app is dropped at the next commit if this was its last one.
  func unsubscribe(_ watcher: WatchSubscription) {
    state.withLock { _ = $0.apps[watcher.appID]?.watchers.removeValue(forKey: ObjectIdentifier(watcher)) }
  }

  /// Ends all subscriptions, so that watchers resume later or at another replica.
  package func close() {
    let watchers = state.withLock { state in
      state.isClosed = true
      return state.apps.values.flatMap(\.watchers.values)
    }
    for watcher in watchers { watcher.close() }
  }

  /// Hands a page of events to the watchers of the app, and keeps it for those that subscribe soon after.
  private func publish(_ page: EventPage, of appID: String) {
    let events = page.events
    let watchers = state.withLock { state -> [WatchSubscription] in
      guard var app = state.apps.removeValue(forKey: appID) else { return [] }
      defer { state.apps[appID] = app }
      app.mark = page.mark
      guard let last = events.last?.sequence else { return [] }
      app.recent += events
      // Trimmed rarely, because it moves all remaining events.
      if app.recent.count > 2 * capacity { app.recent.removeFirst(app.recent.count - capacity) }
      app.published = last
      // Within the lock, so that a new subscription starts exactly after these events.
      for watcher in app.watchers.values { watcher.enqueue(events[...], upTo: last, page.mark) }
      return Array(app.watchers.values)
    }
    for watcher in watchers { watcher.resume() }
  }
}

/// The selection of events for one watcher.
struct EventFilter: Sendable {
  /// The app, which is also the unit of reading.
  let appID: String
  /// The environment; sequences are shared by all environments of an app.
  let environment: AppStore.Environment
  /// Empty: all customers.
  let customers: Set<CustomerKey>
  /// Empty: all entitlements.
  let entitlements: Set<String>
  /// `nil`: all events, whatever their segment.
  var segment: String?
  /// The id of the customer of an erasure, which replaced it by a pseudonym; `nil` for other events.
  var erasedCustomerID: @Sendable (StoredEvent) -> String? = { _ in nil }

  /// Whether the watcher gets an event. All conditions must be met, but an erasure is about every entitlement and segment:
  /// the receiver may have stored the customer because of each.
  func passes(_ stored: StoredEvent) -> Bool {
    let event = stored.event
    return event.customer.appID == appID && event.customer.environment == environment
      && (customers.isEmpty || customers.contains(event.customer) || isErasureOfSelected(stored))
      && (event.change.kind == .customerErased
        || (segment.map { event.change.subject?.segment == $0 } ?? true)
          && (entitlements.isEmpty || entitlements.contains(event.change.entitlement)))
  }

  /// Whether an event is the erasure of a selected customer, whose pseudonym it has.
  private func isErasureOfSelected(_ stored: StoredEvent) -> Bool {
    erasedCustomerID(stored).map { customers.contains(stored.event.customer.other($0)) } ?? false
  }
}
