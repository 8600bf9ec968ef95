internal import Glibc

/// The waits of one round trip for the socket, until a deadline or an interruption.
final class SocketWait {
  /// The time between two checks whether to stop.
  private static let slice = Duration.milliseconds(10)
  static let noAnswer = "the server did not answer in time"

  private let deadline: ContinuousClock.Instant?
  private let shouldStop: (() -> Bool)?
  /// Whether everything was sent, so that results will arrive.
  private(set) var hasSentAll = false

  init(timeout: Duration?, shouldStop: (() -> Bool)? = nil) {
    deadline = timeout.map { .now + $0 }
    self.shouldStop = shouldStop
  }

  /// Throws if the round trip should end.
  func checkTime() throws(PostgresError) {
    if let shouldStop, shouldStop() { throw PostgresError(.timedOut, "the statement was interrupted") }
    if let deadline, deadline <= .now { throw PostgresError(.timedOut, Self.noAnswer) }
  }

  /// Sends everything.
  func flush(_ handle: SessionHandle) throws(PostgresError) {
    while try !handle.flush() {
      // A server whose results are not read stops reading.
      if try wait(for: CShort(POLLIN | POLLOUT), on: handle) & CShort(POLLIN) != 0 { try handle.receive() }
    }
    hasSentAll = true
  }

  /// Returns the next result as soon as it has arrived.
  func next(_ handle: SessionHandle) throws(PostgresError) -> ReceivedResult {
    while handle.mustWait {
      try wait(for: CShort(POLLIN), on: handle)
      try handle.receive()
    }
    return try handle.nextResult()
  }

  /// Waits until the socket is ready for one of `events`, and returns those it is ready for.
  @discardableResult
  func wait(for events: CShort, on handle: SessionHandle) throws(PostgresError) -> CShort {
    while true {
      var socket = pollfd(fd: handle.socket, events: events, revents: 0)
      let count = poll(&socket, 1, pause)
      // First the socket: what has arrived counts, though a frozen process may find it late.
      if count > 0 { return socket.revents }
      guard count == 0 || errno == EINTR else { throw PostgresError(.unavailable, "poll: error \(errno)") }
      try checkTime()
    }
  }

  /// Milliseconds until time must be checked; -1 for no limit.
  private var pause: CInt {
    let rest = deadline.map { $0 - .now }
    guard let pause = shouldStop == nil ? rest : min(rest ?? Self.slice, Self.slice) else { return -1 }
    return pause.pollMilliseconds
  }
}

extension Duration {
  /// The limit for `poll`, rounded up, so that the time has passed afterwards.
  var pollMilliseconds: CInt {
    CInt(clamping: max(0, components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 + 1))
  }
}
