/// The state machine of one HTTP/2 connection over time. It receives an observation at each interval and
/// returns the next action; it has no clock and no socket.
///
///     open ──idle or old──▶ retiring ──grace over──▶ closed
///       └──no answer to a ping, stalled, header fields without an end──▶ closed
struct ConnectionLifetime {
  /// The activity of the connection since the last check, and its current state.
  struct Observation {
    /// Whether the peer sent any bytes.
    var hasReceived = false
    /// Whether the peer received any part of a response.
    var hasSent = false
    /// Whether parts of responses wait for the peer.
    var hasUnsent = false
    var openStreams = 0
    /// Whether the peer opened a stream, which may have ended.
    var hasOpened = false
    /// The stream with an incomplete header block.
    var openHeaderBlock: Int32?
  }

  /// An action of the connection's owner.
  enum Action: Hashable {
    case nothing
    /// Sends a keepalive ping.
    case ping
    /// Asks the client to open no more streams; open streams continue.
    case retire
    case close(Reason)
  }

  /// The reason to close a connection without waiting for its calls.
  enum Reason: String {
    case silent = "keepalive ping not acknowledged"
    case stalled = "peer does not read responses"
    case slowHeaders = "header block incomplete"
    case retired = "calls still open after the grace period"
  }

  private let times: ConnectionTimes
  private let maxAgeAt: Int64
  private var lastReceivedAt: Int64
  private var progressAt: Int64
  private var busyAt: Int64
  private var pingedAt: Int64?
  private var retiredAt: Int64?
  private var headers: (stream: Int32, since: Int64)?

  /// - Parameters:
  ///   - times: in milliseconds, like `now`.
  ///   - now: the start of the connection.
  ///   - jitter: from -1 to 1, so that connections that start together do not end together.
  init(_ times: ConnectionTimes, now: Int64, jitter: Double) {
    self.times = times
    maxAgeAt = now + times.age + Int64(Double(times.age) * jitter / 10)
    lastReceivedAt = now
    progressAt = now
    busyAt = now
  }

  /// Starts the grace period because the server drains.
  mutating func retire(now: Int64) { retiredAt = retiredAt ?? now }

  /// Decides about the connection at `now`, in milliseconds of a monotonic clock; at most one action for each observation.
  mutating func tick(now: Int64, _ seen: Observation) -> Action {
    record(seen, now)
    if now - progressAt >= times.stall { return .close(.stalled) }
    if let headers, now - headers.since >= times.request { return .close(.slowHeaders) }
    if let pingedAt, now - pingedAt >= times.keepaliveTimeout { return .close(.silent) }
    if let retiredAt {
      if now - retiredAt >= times.ageGrace { return .close(.retired) }
    } else if now >= maxAgeAt || now - busyAt >= times.idle {
      retiredAt = now
      return .retire
    }
    guard pingedAt == nil, now - lastReceivedAt >= times.keepalive else { return .nothing }
    pingedAt = now
    return .ping
  }

  private mutating func record(_ seen: Observation, _ now: Int64) {
    if seen.hasReceived {
      lastReceivedAt = now
      pingedAt = nil
    }
    if seen.hasSent || !seen.hasUnsent { progressAt = now }
    if seen.openStreams > 0 || seen.hasOpened { busyAt = now }
    if seen.openHeaderBlock != headers?.stream { headers = seen.openHeaderBlock.map { ($0, now) } }
  }
}
