import PostgreSQL
import PostgresStore
import PostgresSupport
import Store
import Testing
import Wire

@testable import Services

/// Streams of events over a database that lost commits, as a failover to a standby without them does.
@Suite(
  .enabled(if: PostgresServer.canRun, Comment(rawValue: PostgresServer.isMissing)), .timeLimit(.minutes(10)))
struct WatchLostCommitsTests {
  @Test("A stream that sent events of lost commits is refused, and so is one that resumes there")
  func lostEvents() async throws {
    try await withStore { store, broadcaster, settings in
      for _ in 1...3 { try await store.append(1) }
      let caller = WatchCaller(.with { $0.start = .fromBeginning(true) }) {
        try? loseCommits(settings, after: 1)
        try? await appendElsewhere(3, "ben", settings)
      }
      let end = await WatchFixture.watch(broadcaster, store, caller)
      #expect(end?.code == .outOfRange && end?.errorInfo?.reason == "UNKNOWN_POSITION")
      #expect(caller.sequences == [1, 2, 3])

      let position = try #require(caller.positions.last)
      let resumed = WatchCaller(.with { $0.start = .afterPosition(position) }, maxMessages: 1)
      let refusal = await WatchFixture.watch(broadcaster, store, resumed)
      #expect(refusal?.code == .outOfRange && refusal?.errorInfo?.reason == "UNKNOWN_POSITION")
      #expect(resumed.sequences.isEmpty)
    }
  }

  @Test("A stream that sent no event of the lost commits continues with those that took their sequences")
  func continued() async throws {
    try await withStore { store, broadcaster, settings in
      let request = WatchRequest.with { $0.customerIds = ["ana"] }
      let caller = WatchCaller(request, maxMessages: 2) {
        // Of another customer, so that the stream does not send them.
        for _ in 1...2 { try? await store.append(1, of: "ben") }
        await broadcaster.untilPublished(3)
        try? loseCommits(settings, after: 1)
        try? await appendElsewhere(3, "ana", settings)
      }
      async let end = WatchFixture.watch(broadcaster, store, caller)
      // The first event is not read from the store, but published to the stream.
      while broadcaster.published(of: WatchFixture.ocean.id) == nil { await Task.yield() }
      try await store.append(1)
      #expect(await end?.code == .cancelled)
      #expect(caller.sequences == [1, 2])
    }
  }

  @Test("After a takeover without loss a stream continues, and a new one is not refused")
  func takeover() async throws {
    try await withStore { store, broadcaster, settings in
      try await store.append(2)
      let caller = WatchCaller(.with { $0.start = .fromBeginning(true) }, maxMessages: 4) {
        try? await appendElsewhere(2, "ana", settings)
      }
      let end = await WatchFixture.watch(broadcaster, store, caller)
      #expect(end?.code == .cancelled)
      #expect(caller.sequences == [1, 2, 3, 4])

      let position = try #require(caller.positions.first)
      let resumed = WatchCaller(.with { $0.start = .afterPosition(position) }, maxMessages: 3)
      _ = await WatchFixture.watch(broadcaster, store, resumed)
      #expect(resumed.sequences == [2, 3, 4])
    }
  }

  /// Runs `body` with a store that follows the commits of others, and the broadcaster of its events.
  private func withStore(
    _ body: (PostgresEntitlementStore, EventBroadcaster, PostgresSettings) async throws -> Void
  ) async throws {
    try await PostgresSlots.shared.withDatabase(isPooled: false) { settings in
      let store = try PostgresEntitlementStore(settings)
      let broadcaster = EventBroadcaster(store: store, now: { WatchFixture.instant })
      let running = Task { await broadcaster.run() }
      defer { running.cancel() }
      try await body(store, broadcaster, settings)
      await store.close()
    }
  }
}

/// Makes the database one that has only the first `position` commits, each of which had one event.
private func loseCommits(_ settings: PostgresSettings, after position: Int64) throws {
  try PostgresConnection<PostgresError>(settings).execute(
    """
    BEGIN;
    DELETE FROM event WHERE sequence > \(position);
    DELETE FROM change WHERE position > \(position);
    UPDATE head SET epoch = epoch + 1, position = \(position);
    INSERT INTO history (epoch, name, position) SELECT epoch, 33, position FROM head;
    COMMIT
    """)
}

/// Takes over as another process, and commits `count` events of a customer, one by one.
private func appendElsewhere(_ count: Int, _ customerID: String, _ settings: PostgresSettings) async throws {
  let writer = try PostgresEntitlementStore(settings)
  for _ in 1...count { try await writer.append(1, of: customerID) }
  await writer.close()
}
