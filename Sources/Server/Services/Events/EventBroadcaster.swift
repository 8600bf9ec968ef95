package import AppStore
internal import Entitlements
package import Platform
package import Store
internal import Synchronization

/// Reads committed events once and hands them to everyone who watches.
///
/// One task follows the store, however many watch. It never waits for a watcher: each has a buffer of its
/// own, and one whose buffer is full is told where to resume. What is older than the last events is read
/// from the store by whoever wants it.
package final class EventBroadcaster: Worker {
  package let name = "events"

  private static let pageSize = 1_000

  private struct State {
    /// The last events, consecutive up to ``published``; none of before somebody watched.
    var recent: [StoredEvent] = []
    /// The number of the last event that was handed out; `nil` before the store was looked at.
    var published: Int64?
    var watchers: [ObjectIdentifier: WatchSubscription] = [:]
    var isClosed = false
  }

  /// What came of wanting to watch.
  enum Subscription {
    case watching(WatchSubscription)
    /// More was committed since than is kept here: first read the store.
    case behind
    /// There will be no more events here.
    case closed
  }

  private let store: any EntitlementStore
  private let capacity: Int
  private let now: @Sendable () -> Instant
  private let state = Mutex(State())

  /// A hub that keeps at least the last `capacity` events while somebody watches, for those who are about to, and
  /// lets as many wait for each who does.
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
      if !isWatched, passOver(upTo: try await lastSequence()) { continue }
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
      let (watchers, sequence) = state.withLock { (Array($0.watchers.values), $0.published ?? 0) }
      let now = now()
      for watcher in watchers { watcher.beat(now, sequence) }
    }
  }

  /// The number of the last event that was handed out.
  var published: Int64 { state.withLock { $0.published ?? 0 } }

  /// Hands out all events behind `sequence` that pass the filter, without a gap. That event is committed,
  /// though it may not have been handed out yet.
  func subscribe(_ filter: EventFilter, after sequence: Int64, heartbeat: Int64) -> Subscription {
    state.withLock { state in
      guard !state.isClosed, let published = state.published else { return .closed }
      guard sequence >= published - Int64(min(state.recent.count, capacity)) else { return .behind }
      let watcher = WatchSubscription(
        filter, after: sequence, heartbeat: heartbeat, capacity: capacity, now: now())
      watcher.offer(state.recent.drop { $0.sequence <= sequence }, upTo: published)
      state.watchers[ObjectIdentifier(watcher)] = watcher
      return .watching(watcher)
    }
  }

  func unsubscribe(_ watcher: WatchSubscription) {
    state.withLock { _ = $0.watchers.removeValue(forKey: ObjectIdentifier(watcher)) }
  }

  /// Tells everybody who watches to go and resume elsewhere, or later.
  package func close() {
    let watchers = state.withLock { state in
      state.isClosed = true
      return Array(state.watchers.values)
    }
    for watcher in watchers { watcher.close() }
  }

  private var isWatched: Bool { state.withLock { !$0.watchers.isEmpty } }

  /// Goes on behind what nobody watched, so that it need not be read.
  ///
  /// - Returns: false if by now somebody watches, who wants it.
  private func passOver(upTo last: Int64) -> Bool {
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
      // Seldom, since it moves all that stay.
      if state.recent.count > 2 * capacity { state.recent.removeFirst(state.recent.count - capacity) }
      state.published = last
      // Inside the lock, so that whoever subscribes next gets what these do not get any more.
      for watcher in state.watchers.values { watcher.offer(events[...], upTo: last) }
      return Array(state.watchers.values)
    }
    for watcher in watchers { watcher.wake() }
  }
}

/// Which events somebody wants.
struct EventFilter: Sendable {
  let appID: String
  let environment: AppStore.Environment
  /// Empty: all.
  let customerIDs: Set<String>
  /// Empty: all.
  let entitlements: Set<String>

  func passes(_ event: NewEvent) -> Bool {
    event.customer.appID == appID && event.customer.environment == environment
      && (customerIDs.isEmpty || customerIDs.contains(event.customer.customerID))
      && (entitlements.isEmpty || entitlements.contains(event.change.entitlement))
  }
}
