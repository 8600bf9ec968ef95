package import HTTP2

/// What callers may ask of one listener, and each connection of it.
package struct TransportLimits: Hashable, Sendable {
  /// What HTTP/2 bounds: streams, header bytes, windows.
  package var http2 = Limits()
  /// Bytes of one gRPC message, packed or not.
  package var messageBytes = 4 * 1_024 * 1_024
  /// Bytes of the body of a plain HTTP request.
  package var bodyBytes = 4 * 1_024 * 1_024
  /// Bytes of a streaming call that wait for its handler before the caller is slowed down, and bytes
  /// that wait for a caller before the handler is.
  package var streamBacklogBytes = 128 * 1_024
  /// Bytes of requests that are not whole, or of answers that are not fetched, on all streams of one
  /// connection. One that makes us hold more is closed.
  package var connectionBacklogBytes = 64 * 1_024 * 1_024
  /// Frames in a second that carry neither a request nor a part of one: pings, settings, resets, window
  /// updates, empty data. A connection with more is closed.
  package var controlFrames = 10_000
  /// Connections open at once. One too many is closed when it is accepted.
  package var connections = 10_000
  /// How long a connection may take for what it does.
  package var times = ConnectionTimes()

  package init() {}

  /// Calls open at once on one connection.
  package var streams: Int {
    get { Int(http2.concurrentStreams) }
    set { http2.concurrentStreams = UInt32(clamping: newValue) }
  }

  /// Bytes of the header fields of one request.
  package var headerBytes: Int {
    get { http2.headerBytes }
    set { http2.headerBytes = newValue }
  }
}

/// How long a connection may take for what it does, in milliseconds.
package struct ConnectionTimes: Hashable, Sendable {
  /// From its beginning until it has shaken hands and said its first word.
  package var handshake: Int64 = 10_000
  /// From the first byte of a request's header fields to the last, and of a request that is answered as a
  /// whole until it is whole.
  package var request: Int64 = 30_000
  /// Without a call. Then it is closed.
  package var idle: Int64 = 600_000
  /// Altogether, give or take a tenth. Then its client is asked to open another one.
  package var age: Int64 = 3_600_000
  /// For the calls that are open when its age is reached, or it was idle.
  package var ageGrace: Int64 = 600_000
  /// Without a sign of life before one is asked for.
  package var keepalive: Int64 = 60_000
  /// For the answer to that.
  package var keepaliveTimeout: Int64 = 20_000
  /// Without taking anything of the answers that wait for it.
  package var stall: Int64 = 120_000

  package init() {}

  /// How often connections are looked at, so that no time is missed by more than a quarter or a second.
  var tick: Int64 {
    let shortest = [handshake, request, idle, age, ageGrace, keepalive, keepaliveTimeout, stall].min() ?? 0
    return min(max(shortest / 4, 10), 1_000)
  }
}
