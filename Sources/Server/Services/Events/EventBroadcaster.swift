package import AppStore
internal import Entitlements
internal import Platform
package import Store
internal import Synchronization

/// Reads committed events once and broadcasts them to all watchers.
///
/// One task reads the store, whatever the number of watchers. It never waits for a watcher: each has its own
/// buffer, and a watcher whose buffer is full must resume from its last event. Watchers read events older
/// than the buffer from the store.
package final class EventBroadcaster: Worker {
  package let name = "events"

  private static let pageSize = 1_000

  private struct State {
    /// The last events, consecutive up to ``published``; no events from before the first watcher.
    var recent: [StoredEvent] = []
    /// The sequence of the last published event; `nil` before the first read of the store.
    var published: Int64?
    var watchers: [ObjectIdentifier: WatchSubscription] = [:]
    var isClosed = false
  }

  /// The result of a subscription.
  enum Subscription {
    case watching(WatchSubscription)
    /// The buffer no longer has all events since then; the watcher must read the store first.
    case notBuffered
    /// The broadcaster is closed.
    case closed
  }

  private let store: any EntitlementStore
  private let capacity: Int
  private let now: @Sendable () -> Instant
  private let state = Mutex(State())

  /// Creates a broadcaster that buffers at least the last `capacity` events while there are watchers, and up
  /// to `capacity` events for each watcher.
  package init(
    store: any EntitlementStore, capacity: Int = 4_096, now: @escaping @Sendable () -> Instant
  ) {
    self.store = store
    self.capacity = capacity
    self.now = now
  }

  /// Reads committed events and sends heartbeats until the task is cancelled.
  ///
  /// - Throws: ``StoreError`` if events cannot be read.
  package func run() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await self.publishCommits() }
      group.addTask { await self.sendHeartbeats() }
      try await group.waitForAll()
    }
  }

  private func publishCommits() async throws(StoreError) {
    let commits = store.commits()
    let last = try await lastSequence()
    // After a restart, the events since the last published one follow with the next commit.
    state.withLock { $0.published = $0.published ?? last }
    for await _ in commits {
      if !isWatched, skipEvents(upTo: try await lastSequence()) { continue }
      while true {
        let page = try await store.read { [published] snapshot throws(StoreError) in
          try snapshot.events(of: nil, after: published, limit: Self.pageSize)
        }
        publish(page)
        guard page.count == Self.pageSize else { break }
      }
    }
  }

  private func lastSequence() async throws(StoreError) -> Int64 {
    try await store.read { snapshot throws(StoreError) in try snapshot.lastSequence(of: nil) }
  }

  /// Sends heartbeats to watchers without recent events, until the task is cancelled.
  private func sendHeartbeats() async {
    while (try? await Task.sleep(for: .milliseconds(100))) != nil {
      let watchers = state.withLock { Array($0.watchers.values) }
      let now = now()
      for watcher in watchers { watcher.requestHeartbeat(at: now) }
    }
  }

  /// The sequence of the last published event; 0 before the first read of the store.
  var published: Int64 { state.withLock { $0.published ?? 0 } }

  /// Subscribes to all events after `sequence` that pass the filter, without a gap. The event with that
  /// sequence is committed, but possibly not yet published.
  func subscribe(_ filter: EventFilter, after sequence: Int64, heartbeat: Int64) -> Subscription {
    state.withLock { state in
      guard !state.isClosed, let published = state.published else { return .closed }
      guard sequence >= published - Int64(min(state.recent.count, capacity)) else { return .notBuffered }
      let watcher = WatchSubscription(
        filter, after: sequence, heartbeat: heartbeat, capacity: capacity, now: now())
      watcher.enqueue(state.recent.drop { $0.sequence <= sequence }, upTo: published)
      state.watchers[ObjectIdentifier(watcher)] = watcher
      return .watching(watcher)
    }
  }

  func unsubscribe(_ watcher: WatchSubscription) {
    state.withLock { _ = $0.watchers.removeValue(forKey: ObjectIdentifier(watcher)) }
  }

  /// Ends all subscriptions, so that watchers resume later or at another replica.
  package func close() {
    let watchers = state.withLock { state in
      state.isClosed = true
      return Array(state.watchers.values)
    }
    for watcher in watchers { watcher.close() }
  }

  private var isWatched: Bool { state.withLock { !$0.watchers.isEmpty } }

  /// Skips events that were committed while there were no watchers, so that they are not read.
  ///
  /// - Returns: `false` if there is a watcher by now, which needs the events.
  private func skipEvents(upTo last: Int64) -> Bool {
    state.withLock { state in
      guard state.watchers.isEmpty else { return false }
      guard state.published != last else { return true }
      state.recent = []
      state.published = last
      return true
    }
  }

  private func publish(_ events: [StoredEvent]) {
    guard let last = events.last?.sequence else { return }
    let watchers = state.withLock { state in
      state.recent += events
      // Trimmed rarely, because it moves all remaining events.
      if state.recent.count > 2 * capacity { state.recent.removeFirst(state.recent.count - capacity) }
      state.published = last
      // Within the lock, so that a new subscription starts exactly after these events.
      for watcher in state.watchers.values { watcher.enqueue(events[...], upTo: last) }
      return Array(state.watchers.values)
    }
    for watcher in watchers { watcher.resume() }
  }
}

/// The selection of events for one watcher.
struct EventFilter: Sendable {
  let appID: String
  let environment: AppStore.Environment
  /// Empty: all customers.
  let customerIDs: Set<String>
  /// Empty: all entitlements.
  let entitlements: Set<String>

  func passes(_ event: NewEvent) -> Bool {
    event.customer.appID == appID && event.customer.environment == environment
      && (customerIDs.isEmpty || customerIDs.contains(event.customer.customerID))
      && (entitlements.isEmpty || entitlements.contains(event.change.entitlement))
  }
}
