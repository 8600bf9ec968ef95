internal import HTTP
internal import HTTP2

/// A server session that receives arbitrary bytes, and an owner that answers valid requests.
enum FuzzedConnection {
  static func read(_ input: [UInt8]) {
    guard let session = try? Session.server(), let length = input.first else { return }
    var events: [SessionEvent] = []
    let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    var rest = (preface + input.dropFirst())[...]
    // Split as by a network.
    while !rest.isEmpty {
      let piece = rest.prefix(Int(length) + 1)
      rest = rest.dropFirst(piece.count)
      do {
        try Array(piece).withUnsafeBytes { try session.receive($0) }
        session.takeEvents(into: &events)
        for event in events { answer(event, session) }
        try session.withOutput { _ in true }
      } catch {
        session.terminate(.protocolError)
        try? session.withOutput { _ in true }
        return
      }
      precondition(session.inboundBytes >= 0 && session.unsentBytes >= 0 && session.openStreams >= 0)
    }
  }

  private static func answer(_ event: SessionEvent, _ session: Session) {
    switch event {
    case .headers(let id, _):
      precondition(session.head(of: id).map { $0.sizeInBytes <= Limits().headerBytes } ?? true)
      session.respond(on: id, HeaderFields([(":status", "200")]), endOfStream: false)
    case .data(let id, let endOfStream):
      let count = session.inboundCount(of: id)
      session.send(on: id) { $0 += session.inbound(of: id) ?? [] }
      session.removeInbound(count, of: id)
      session.allowMore(count, on: id)
      if endOfStream { session.finish(id, trailers: HeaderFields([("grpc-status", "0")])) }
    case .trailers(let id): session.finish(id)
    case .headersTooLarge(let id):
      session.respond(on: id, HeaderFields([(":status", "431")]), endOfStream: true)
    case .drained, .closed, .goAway, .pong: return
    }
  }

  /// The bytes of a client that makes two calls.
  static func seed() throws -> [UInt8] {
    let client = try Session.client()
    for path in ["/a.B/C", "/d.E/F"] {
      let fields = HeaderFields([
        (":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "localhost"),
        ("content-type", "application/grpc"), ("te", "trailers"), ("grpc-timeout", "1S"),
      ])
      let id = try client.request(fields, endOfStream: false)
      client.send(on: id) { $0 += [0, 0, 0, 0, 3, 10, 1, 97] }
      client.finish(id)
    }
    var bytes: [UInt8] = []
    try client.withOutput {
      bytes += $0
      return true
    }
    return [200] + bytes.dropFirst(24)
  }
}
