internal import RPC
internal import Wire

/// Writes the messages of a stream of events.
struct WatchWriter: Sendable {
  /// Sends the header fields with this metadata.
  let begin: @Sendable (Metadata) async -> Void
  /// Writes a message, and waits while the peer does not read.
  let write: @Sendable (WatchResponse) async throws(Status) -> Void

  /// Writes each message as `response` makes it, and then calls `check`, which may end the stream.
  init<Response: WireMessage>(
    _ responses: ResponseWriter<Response>, _ response: @escaping @Sendable (WatchResponse) -> Response,
    check: @escaping @Sendable (WatchResponse) async throws(Status) -> Void = { _ in }
  ) {
    begin = { metadata in
      await responses.attach(initial: metadata)
      await responses.begin()
    }
    write = { message throws(Status) in
      try await responses.write(response(message))
      try await check(message)
    }
  }
}

// The ends of a stream of events.
extension Status {
  /// The stream sent all events up to `last`, whose position is `position`.
  static func fellBehind(_ last: Int64, _ position: String) -> Status {
    Status(
      .aborted, reason: "WATCHER_FELL_BEHIND",
      "events come faster than they are taken; resume after the position of the last message, sequence \(last)",
      metadata: resumption(last, position), retryAfterMilliseconds: 0)
  }

  /// The stream sent all events up to `last`, whose position is `position`.
  static func watchEnded(_ last: Int64, _ position: String) -> Status {
    Status(
      .unavailable, reason: "SHUTTING_DOWN",
      "the server ends this stream; resume after the position of the last message, sequence \(last)",
      metadata: resumption(last, position), retryAfterMilliseconds: 1_000)
  }

  private static func resumption(_ last: Int64, _ position: String) -> [(name: String, value: String)] {
    [("resumeAfterSequence", String(last)), ("resumeAfterPosition", position)]
  }

  /// The database lost commits, such as in a failover to a standby that lacked them, and a stream may have sent their
  /// events: others may have the same sequences by now.
  static var lostCommits: Status {
    Status(
      .outOfRange, reason: "UNKNOWN_POSITION",
      "the database lost commits of which this stream may have sent events; read the present state before you continue"
    )
  }

  /// `UNKNOWN_SEQUENCE`: the stream is to resume after an event that the store does not have.
  static func futureSequence(_ requested: Int64, last: Int64) -> Status {
    Status(
      .outOfRange, reason: "UNKNOWN_SEQUENCE",
      "the last event is \(last), and after_sequence is \(requested)",
      metadata: [("lastSequence", String(last))], field: "after_sequence")
  }
}
