internal import RPC
internal import Store

/// Reads committed events for watchers that catch up.
struct EventLogReader: Sendable {
  /// The store, on whose reader pool catching up runs.
  let store: any EntitlementStore

  /// At most `limit` events of an app after `sequence`, the last one of a stream whose messages are committed at `mark`.
  ///
  /// - Throws: `OUT_OF_RANGE` with the reason `UNKNOWN_POSITION` if the database lost some of these commits.
  func page(
    of appID: String, after sequence: Int64, since mark: CommitMark?, limit: Int
  ) async throws(Status) -> EventPage {
    let page = try await read { snapshot throws(StoreError) in
      try EventPage(snapshot, of: appID, after: sequence, since: mark, limit: limit)
    }
    guard page.isContinuation else { throw .lostCommits }
    return page
  }

  /// The position of the store in the history of an app, which includes `required`.
  ///
  /// - Throws: `OUT_OF_RANGE` with the reason `UNKNOWN_POSITION` if it does not.
  func position(of appID: String, including required: StorePosition?) async throws(Status) -> StorePosition {
    let found = try await read { snapshot throws(StoreError) -> StorePosition? in
      let position = try snapshot.position(of: appID)
      guard let required else { return position }
      // The process may not know yet that the database lost commits.
      guard position.includes(required),
        try snapshot.includes(CommitMark(term: required.term, commits: required.mark))
      else { return nil }
      return position
    }
    guard let found else { throw .unknownPosition("after_position") }
    return found
  }

  private func read<Value: Sendable>(
    _ body: @escaping @Sendable (any StoreSnapshot) throws(StoreError) -> Value
  ) async throws(Status) -> Value {
    do throws(StoreError) {
      return try await store.read(deadline: nil, body)
    } catch {
      throw Status(error)
    }
  }
}

/// Events of an app that one snapshot has, and its mark.
struct EventPage: Sendable {
  /// The events in the order of their sequences.
  let events: [SharedEvent]
  /// The commit that the snapshot saw; `nil` in a store without commits of other processes.
  let mark: CommitMark?
  /// Whether the snapshot has all commits of the page before.
  let isContinuation: Bool

  /// Reads at most `limit` events after `sequence`; `known` is the mark of the page before.
  init(
    _ snapshot: any StoreSnapshot, of appID: String, after sequence: Int64, since known: CommitMark?,
    limit: Int
  ) throws(StoreError) {
    events = try snapshot.events(ofApp: appID, after: sequence, limit: limit).map(SharedEvent.init)
    mark = try snapshot.commitMark()
    // Within a term, the number of commits decides.
    if let known, let mark, known.term != mark.term || known.commits > mark.commits {
      isContinuation = try snapshot.includes(known)
    } else {
      isContinuation = true
    }
  }
}

/// A committed event in memory once, whatever the number of watchers that have yet to send it: an event has about a
/// kilobyte, and each watcher may wait with thousands of them for a peer that does not read.
final class SharedEvent: Sendable {
  let stored: StoredEvent

  init(_ stored: StoredEvent) { self.stored = stored }

  /// The position of the event in the order of the app's commits.
  var sequence: Int64 { stored.sequence }
}
