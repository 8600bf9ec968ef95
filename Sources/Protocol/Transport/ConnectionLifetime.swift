/// What becomes of one HTTP/2 connection as time goes by. It is told at intervals what happened since, and
/// says what is to be done; it has no clock and touches no socket.
///
///     open ──idle or old──▶ retiring ──grace over──▶ closed
///       └──no answer to a ping, stalled, header fields without an end──▶ closed
struct ConnectionLifetime {
  /// What the connection saw since it was last looked at, and how it is now.
  struct Observation {
    /// Whether anything came from the peer.
    var hasReceived = false
    /// Whether the peer took any part of an answer.
    var hasSent = false
    /// Whether parts of answers wait for the peer.
    var hasUnsent = false
    var openStreams = 0
    /// The stream whose header fields have begun to come and have not ended.
    var openHeaderBlock: Int32?
  }

  enum Action: Hashable {
    case nothing
    /// Ask for a sign of life.
    case ping
    /// Ask the client to open no more streams here, and let those that are open end.
    case retire
    case close(Reason)
  }

  /// Why a connection is closed without waiting for its calls.
  enum Reason: String {
    case silent = "it did not answer a ping"
    case stalled = "it took nothing of what waited for it"
    case slowHeaders = "its header fields did not end"
    case retired = "its calls did not end in time after it was asked to go"
  }

  private let times: ConnectionTimes
  private let oldAt: Int64
  private var heardAt: Int64
  private var progressAt: Int64
  private var busyAt: Int64
  private var pingedAt: Int64?
  private var retiredAt: Int64?
  private var headers: (stream: Int32, since: Int64)?

  /// - Parameters:
  ///   - times: in milliseconds, as `now` is.
  ///   - now: when the connection began.
  ///   - jitter: from -1 to 1, so that connections that began together do not end together.
  init(_ times: ConnectionTimes, now: Int64, jitter: Double) {
    self.times = times
    oldAt = now + times.age + Int64(Double(times.age) * jitter / 10)
    heardAt = now
    progressAt = now
    busyAt = now
  }

  /// The server asks the client to go, for reasons of its own.
  mutating func retire(now: Int64) { retiredAt = retiredAt ?? now }

  mutating func tick(now: Int64, _ seen: Observation) -> Action {
    note(seen, now)
    if now - progressAt >= times.stall { return .close(.stalled) }
    if let headers, now - headers.since >= times.request { return .close(.slowHeaders) }
    if let pingedAt, now - pingedAt >= times.keepaliveTimeout { return .close(.silent) }
    if let retiredAt {
      if now - retiredAt >= times.ageGrace { return .close(.retired) }
    } else if now >= oldAt || now - busyAt >= times.idle {
      retiredAt = now
      return .retire
    }
    guard pingedAt == nil, now - heardAt >= times.keepalive else { return .nothing }
    pingedAt = now
    return .ping
  }

  private mutating func note(_ seen: Observation, _ now: Int64) {
    if seen.hasReceived {
      heardAt = now
      pingedAt = nil
    }
    if seen.hasSent || !seen.hasUnsent { progressAt = now }
    if seen.openStreams > 0 { busyAt = now }
    if seen.openHeaderBlock != headers?.stream { headers = seen.openHeaderBlock.map { ($0, now) } }
  }
}
