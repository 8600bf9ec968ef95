package import HTTP2

/// The limits of one listener and of each of its connections.
package struct TransportLimits: Hashable, Sendable {
  /// The limits of HTTP/2: streams, header bytes, windows.
  package var http2 = Limits()
  /// The maximum size of one gRPC message, compressed or not.
  package var messageBytes = 4 * 1_024 * 1_024
  /// The maximum size of the body of a plain HTTP request.
  package var bodyBytes = 4 * 1_024 * 1_024
  /// The bytes of a streaming call that may wait for its handler, and those that may wait for its caller,
  /// before backpressure sets in.
  package var streamBacklogBytes = 128 * 1_024
  /// The maximum bytes of incomplete requests, and of unsent responses, on all streams of one connection. A
  /// connection with more is closed.
  package var connectionBacklogBytes = 64 * 1_024 * 1_024
  /// The maximum bytes of unread responses on all connections. Over it, the connections with the most are reset.
  package var unreadResponseBytes = 256 * 1_024 * 1_024
  /// The maximum bytes of incomplete requests on all connections. Over it, the connections with the most are reset.
  package var incompleteRequestBytes = 256 * 1_024 * 1_024
  /// The maximum number of frames per second that carry no part of a request: pings, settings, resets, window
  /// updates, unknown ones; a priority and empty or padded data count as ten. A connection with more is closed.
  package var controlFrames = 10_000
  /// The maximum number of open connections. Further ones are closed when they are accepted.
  package var connections = 10_000
  /// The maximum number of new connections per second on which no call has succeeded. Further ones wait to be accepted.
  package var unusedConnections = 1_000
  /// The timeouts of a connection.
  package var times = ConnectionTimes()

  /// The work of a refusal, and of a call of a public method, in bytes of a large body: no client has many of them at once.
  static let costOfRefusal = 8 * 1_024

  package init() {}

  /// The maximum number of open calls on one connection.
  package var streams: Int {
    get { Int(http2.concurrentStreams) }
    set { http2.concurrentStreams = UInt32(clamping: newValue) }
  }

  /// The maximum size of the header fields of one request.
  package var headerBytes: Int {
    get { http2.headerBytes }
    set { http2.headerBytes = newValue }
  }
}

/// The timeouts of a connection, in milliseconds.
package struct ConnectionTimes: Hashable, Sendable {
  /// From the accept until the handshake and the first bytes.
  package var handshake: Int64 = 10_000
  /// From the first byte of a header block to its last, and of a unary request to its last.
  package var request: Int64 = 30_000
  /// Without a call; then the connection is closed.
  package var idle: Int64 = 600_000
  /// The maximum age, with a jitter of 10 %; then the client is asked to open another connection.
  package var age: Int64 = 3_600_000
  /// For open calls after the maximum age.
  package var ageGrace: Int64 = 600_000
  /// Without received bytes until a keepalive ping is sent.
  package var keepalive: Int64 = 60_000
  /// For the acknowledgement of the ping.
  package var keepaliveTimeout: Int64 = 20_000
  /// Without progress while responses wait for the peer.
  package var stall: Int64 = 120_000

  package init() {}

  /// The interval between checks: a quarter of the shortest timeout, at most a second.
  var tick: Int64 {
    let shortest = [handshake, request, idle, age, ageGrace, keepalive, keepaliveTimeout, stall].min() ?? 0
    return min(max(shortest / 4, 10), 1_000)
  }
}
