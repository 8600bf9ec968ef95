internal import Store

/// A committed event in memory once, whatever the number of watchers that have yet to send it: an event has about a
/// kilobyte, and each watcher may wait with thousands of them for a peer that does not read.
final class SharedEvent: Sendable {
  let stored: StoredEvent

  init(_ stored: StoredEvent) { self.stored = stored }

  var sequence: Int64 { stored.sequence }
}
