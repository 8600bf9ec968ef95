import AppStore
import Entitlements
import Foundation
import HTTP
import Ledger
import RPC
import SQLiteStore
import Store
import Synchronization
import TestSupport
import Testing
import Wire

@testable import Services

@Suite("Watching events")
struct WatchTests {
  @Test("A watcher that falls behind receives the sequence to resume after and misses no event")
  func fellBehind() async throws {
    try await withStore { store in
      let broadcaster = EventBroadcaster(store: store, capacity: 2, now: { instant })
      let running = Task { await broadcaster.run() }
      defer { running.cancel() }
      // Events are buffered only while there is another watcher.
      let other = try broadcaster.firstWatcher()
      try await store.append(1)
      await broadcaster.untilPublished(1)

      // While the first message is being sent, more events are committed than the buffer holds.
      let slow = WatchCaller(.with { $0.start = .fromBeginning(true) }) {
        try? await store.append(3)
        await broadcaster.untilPublished(4)
      }
      let end = await WatchFixture.watch(broadcaster, store, slow)
      #expect(slow.sequences == [1])
      #expect(end?.code == .aborted)
      #expect(end?.errorInfo?.reason == "WATCHER_FELL_BEHIND")
      let metadata = Dictionary(
        uniqueKeysWithValues: (end?.errorInfo?.metadata ?? []).map { ($0.key, $0.value) })
      #expect(metadata["resumeAfterSequence"] == "1")

      let resumed = WatchCaller(.with { $0.start = .afterSequence(1) }, maxMessages: 3)
      _ = await WatchFixture.watch(broadcaster, store, resumed)
      #expect(resumed.sequences == [2, 3, 4])
      let position = try #require(metadata["resumeAfterPosition"])
      let afterPosition = WatchCaller(.with { $0.start = .afterPosition(position) }, maxMessages: 3)
      _ = await WatchFixture.watch(broadcaster, store, afterPosition)
      #expect(afterPosition.sequences == [2, 3, 4])
      broadcaster.unsubscribe(other)
    }
  }

  @Test("Watchers that have not sent their events yet share them")
  func sharedEvents() async throws {
    try await withStore { store in
      let broadcaster = EventBroadcaster(store: store, now: { instant })
      let running = Task { await broadcaster.run() }
      defer { running.cancel() }
      let watchers = [try broadcaster.firstWatcher(), try broadcaster.firstWatcher()]
      try await store.append(3)
      await broadcaster.untilPublished(3)
      var received: [[ObjectIdentifier]] = []
      for watcher in watchers {
        guard case .events(let events, _) = await watcher.next({ instant }) else { continue }
        #expect(events.map(\.sequence) == [1, 2, 3])
        received.append(events.map(ObjectIdentifier.init))
      }
      #expect(received.count == 2 && received.first == received.last)
      for watcher in watchers { broadcaster.unsubscribe(watcher) }
    }
  }

  @Test("A stream selects at most a thousand customers and entitlements")
  func selection() async throws {
    try await withStore { store in
      let broadcaster = EventBroadcaster(store: store, now: { instant })
      let customers = WatchCaller(.with { $0.customerIds = (0...1_000).map { "c\($0)" } })
      let entitlements = WatchCaller(.with { $0.entitlements = Array(repeating: "pro", count: 1_001) })
      for caller in [customers, entitlements] {
        let end = await WatchFixture.watch(broadcaster, store, caller)
        #expect(end?.code == .invalidArgument && end?.errorInfo?.reason == "INVALID_FIELD")
      }
    }
  }

  @Test("Watch sends stored events first and then new ones without a gap")
  func resumption() async throws {
    try await withStore { store in
      let broadcaster = EventBroadcaster(store: store, now: { instant })
      let running = Task { await broadcaster.run() }
      defer { running.cancel() }
      broadcaster.unsubscribe(try broadcaster.firstWatcher())
      try await store.append(3)
      await broadcaster.untilPublished(3)

      let caller = WatchCaller(.with { $0.start = .fromBeginning(true) }, maxMessages: 6) {
        try? await store.append(3)
        await broadcaster.untilPublished(6)
      }
      _ = await WatchFixture.watch(broadcaster, store, caller)
      #expect(caller.sequences == [1, 2, 3, 4, 5, 6])
    }
  }

  @Test(
    "Each Watch message has a position after which a stream resumes; a later one than the store's is rejected"
  )
  func positions() async throws {
    try await withStore { store in
      let broadcaster = EventBroadcaster(store: store, now: { instant })
      let running = Task { await broadcaster.run() }
      defer { running.cancel() }
      try await store.append(3)
      let first = WatchCaller(.with { $0.start = .fromBeginning(true) }, maxMessages: 2)
      _ = await WatchFixture.watch(broadcaster, store, first)
      let position = try #require(first.positions.last)
      let second = WatchCaller(.with { $0.start = .afterPosition(position) }, maxMessages: 1)
      _ = await WatchFixture.watch(broadcaster, store, second)
      #expect(second.sequences == [3])

      let future = PositionTokens(store.feed).token(StorePosition(of: ocean.id, sequence: 4, mark: 0))
      let end = await WatchFixture.watch(
        broadcaster, store, WatchCaller(.with { $0.start = .afterPosition(future) }))
      #expect(end?.code == .outOfRange && end?.errorInfo?.reason == "UNKNOWN_POSITION")
    }
  }

  @Test("Watch before the broadcaster runs is not ended, and misses no event")
  func watchBeforeFirstRead() async throws {
    try await withStore { store in
      let broadcaster = EventBroadcaster(store: store, now: { instant })
      let early = try broadcaster.firstWatcher()
      // Committed while nothing signals commits to the broadcaster.
      try await store.append(1)
      let running = Task { await broadcaster.run() }
      defer { running.cancel() }
      guard case .events(let events, _) = await early.next({ instant }) else {
        Issue.record("the subscription ended")
        return
      }
      #expect(events.map(\.sequence) == [1])
      broadcaster.unsubscribe(early)
    }
  }

  @Test("Events that cannot be read for a while follow as soon as they can", .timeLimit(.minutes(10)))
  func failingReads() async throws {
    try await withStore { store in
      let failing = FailingReads(store: store, failures: 3)
      let broadcaster = EventBroadcaster(store: failing, now: { instant })
      let watcher = try broadcaster.firstWatcher()
      try await store.append(1)
      let running = Task { await broadcaster.run() }
      defer { running.cancel() }
      guard case .events(let events, _) = await watcher.next({ instant }) else {
        Issue.record("the subscription ended")
        return
      }
      #expect(events.map(\.sequence) == [1])
      #expect(failing.count.load(ordering: .relaxed) >= 4)
      broadcaster.unsubscribe(watcher)
    }
  }

  @Test("A stream that waits for the broadcaster reads the store seldom")
  func waitingForBroadcaster() async throws {
    try await withStore { store in
      let counting = FailingReads(store: store, failures: 0)
      let broadcaster = EventBroadcaster(store: counting, now: { instant })
      // The broadcaster does not run, and so does not follow to the term of the store.
      let other = try broadcaster.firstWatcher(mark: CommitMark(term: 1, commits: 0))
      let caller = WatchCaller(WatchRequest())
      let watching = Task { await WatchFixture.watch(broadcaster, counting, caller) }
      try await Task.sleep(for: .milliseconds(500))
      // Each read takes far less than a millisecond.
      #expect(counting.count.load(ordering: .relaxed) < 50)
      watching.cancel()
      broadcaster.close()
      _ = await watching.value
      broadcaster.unsubscribe(other)
    }
  }

  @Test("Watch at a closed broadcaster ends with SHUTTING_DOWN")
  func closed() async throws {
    try await withStore { store in
      let broadcaster = EventBroadcaster(store: store, now: { instant })
      broadcaster.close()
      let end = await WatchFixture.watch(
        broadcaster, store, WatchCaller(.with { $0.start = .fromBeginning(true) }))
      #expect(end?.code == .unavailable)
      #expect(end?.errorInfo?.reason == "SHUTTING_DOWN")
    }
  }

  @Test(
    "A heartbeat follows an interval without events, also after the clock was set back",
    .timeLimit(.minutes(10)))
  func clockSetBack() async {
    let filter = EventFilter(appID: ocean.id, environment: .sandbox, customers: [], entitlements: [])
    let subscription = WatchSubscription(
      filter, after: 7, mark: nil, heartbeat: 1_000, capacity: 2, now: instant)
    let hasEnded = Atomic(false)
    let delivery = Task {
      defer { hasEnded.store(true, ordering: .releasing) }
      guard case .heartbeat(let sequence, _) = await subscription.next({ instant }) else { return Int64(-1) }
      return sequence
    }
    let earlier = instant.advanced(byMilliseconds: -86_400_000)
    subscription.requestHeartbeat(at: earlier)
    while !hasEnded.load(ordering: .acquiring), !Task.isCancelled {
      subscription.requestHeartbeat(at: earlier.advanced(byMilliseconds: 1_000))
      await Task.yield()
    }
    subscription.close()
    #expect(await delivery.value == 7)
  }

  private func withStore(_ body: (SQLiteEntitlementStore) async throws -> Void) async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "watch-\(UUID())")
    defer { try? FileManager.default.removeItem(at: directory) }
    let store = try SQLiteEntitlementStore(directory: directory.path)
    try await body(store)
    await store.close()
  }
}

extension EventBroadcaster {
  /// Subscribes to the first events of the app.
  fileprivate func firstWatcher(mark: CommitMark? = nil) throws -> WatchSubscription {
    let filter = EventFilter(appID: ocean.id, environment: .sandbox, customers: [], entitlements: [])
    guard
      case .watching(let watcher) = subscribe(
        filter, after: 0, isLatest: true, mark: mark, heartbeat: 1_000)
    else {
      throw StoreError.closed
    }
    return watcher
  }
}

/// A store whose first reads fail. It counts them.
private final class FailingReads: StoreWrapper {
  let store: any EntitlementStore
  let count = Atomic(0)
  private let failures: Int

  init(store: any EntitlementStore, failures: Int) {
    (self.store, self.failures) = (store, failures)
  }

  func read<Value: Sendable>(
    _ priority: ReadPriority, deadline: ContinuousClock.Instant?,
    _ body: @escaping @Sendable (any StoreSnapshot) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    guard count.wrappingAdd(1, ordering: .relaxed).newValue > failures else {
      throw .unavailable("the database is away")
    }
    return try await store.read(priority, deadline: deadline, body)
  }
}

extension Status {
  var errorInfo: GoogleRPC.ErrorInfo? {
    guard let status = try? GoogleRPC.Status.decode(details), let any = status.details.first else {
      return nil
    }
    return try? GoogleRPC.ErrorInfo.decode(any.value)
  }
}

private let instant = WatchFixture.instant

private let ocean = WatchFixture.ocean
