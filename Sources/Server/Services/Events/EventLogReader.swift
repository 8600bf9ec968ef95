internal import RPC
internal import Store

/// Reads committed events for watchers that catch up.
struct EventLogReader: Sendable {
  let store: any EntitlementStore

  /// At most `limit` events of an app after `sequence`.
  func page(of appID: String, after sequence: Int64, limit: Int) async throws(Status) -> EventPage {
    do throws(StoreError) {
      return try await store.read { snapshot throws(StoreError) in
        try EventPage(snapshot, of: appID, after: sequence, limit: limit)
      }
    } catch {
      throw Status(error)
    }
  }

  /// The position of the store in the history of an app.
  func position(of appID: String) async throws(Status) -> StorePosition {
    do throws(StoreError) {
      return try await store.read { snapshot throws(StoreError) in try snapshot.position(of: appID) }
    } catch {
      throw Status(error)
    }
  }
}

/// Events of an app that one snapshot has, and its mark.
struct EventPage: Sendable {
  let events: [StoredEvent]
  let mark: CommitMark?

  /// Reads at most `limit` events after `sequence`.
  init(
    _ snapshot: any StoreSnapshot, of appID: String, after sequence: Int64, limit: Int
  ) throws(StoreError) {
    events = try snapshot.events(ofApp: appID, after: sequence, limit: limit)
    mark = try snapshot.commitMark()
  }
}
