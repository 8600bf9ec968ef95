internal import Glibc

/// A message that `NOTIFY` sent.
package struct PostgresNotification: Hashable, Sendable {
  /// The channel that the session listens to.
  package let channel: String
  /// The text of NOTIFY; empty without one.
  package let payload: String
}

extension PostgresConnection {
  /// Subscribes the session to a channel. Not through PgBouncer in transaction mode, whose server sessions change.
  ///
  /// - Throws: `misuse` with the setting `pooling=transaction`; `unavailable` if the session was lost.
  package func listen(to channel: String) throws(Failure) {
    guard !session.settings.isPooled else {
      throw Failure(
        PostgresError(.misuse, "LISTEN needs a session, which a transaction pooler does not keep"))
    }
    try execute("LISTEN \(quotedIdentifier(channel))")
  }

  /// Waits at most `duration` for notifications, and returns those that have arrived.
  ///
  /// - Throws: `unavailable` if the session was lost; what was sent meanwhile is lost with it. `timedOut` if
  ///   ``interrupt(if:)`` ends it.
  package func notifications(waitingAtMost duration: Duration) throws(Failure) -> [PostgresNotification] {
    try converting { () throws(PostgresError) in
      try session.notifications(waitingAtMost: duration)
    }
  }
}

extension PostgresSession {
  fileprivate func notifications(
    waitingAtMost duration: Duration
  ) throws(PostgresError) -> [PostgresNotification] {
    guard let handle, !handle.isLost else { throw PostgresError(.unavailable, "the connection is not open") }
    var notifications = handle.takeNotifications()
    let end = ContinuousClock.now + duration
    while notifications.isEmpty, case let rest = end - .now, rest > .zero {
      do throws(PostgresError) {
        try SocketWait(timeout: rest, shouldStop: shouldStop).wait(for: CShort(POLLIN), on: handle)
        try handle.receive()
      } catch {
        if error.kind == .timedOut, shouldStop?() != true { return [] }
        throw error
      }
      notifications = handle.takeNotifications()
    }
    return notifications
  }
}
