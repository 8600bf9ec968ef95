import HTTP
import HTTP2
import Testing

@Suite struct SessionTests {
  @Test("A handwritten request without a body arrives as header fields and end of stream")
  func bytes() throws {
    let session = try Session.server()
    let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    let settings: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]
    // GET http://a/ in HPACK: three entries of the static table and one literal.
    let get: [UInt8] = [0x82, 0x86, 0x84, 0x41, 0x01, 0x61]
    let headers: [UInt8] = [0, 0, UInt8(get.count), 1, 0x05, 0, 0, 0, 1]
    try (preface + settings + headers + get).withUnsafeBytes { try session.receive($0) }

    let first = StreamID(rawValue: 1)
    #expect(Conversation.events(of: session) == [.headers(first, endOfStream: true)])
    #expect(session.head(of: first)?.strings.map(\.name) == [":method", ":scheme", ":path", ":authority"])
    #expect(session.hasInboundEnded(of: first))
    #expect(Conversation.events(of: session).isEmpty)
  }

  @Test("A body and a response with trailers make a round trip")
  func round() throws {
    let talk = try Conversation()
    let id = try talk.client.request(post, endOfStream: false)
    talk.client.send(on: id) { $0 += [1, 2, 3] }
    talk.client.finish(id)
    try talk.exchange()
    #expect(talk.serverEvents == [.headers(id, endOfStream: false), .data(id, endOfStream: true)])
    #expect(talk.body(at: talk.server, id) == [1, 2, 3])

    talk.server.respond(on: id, HeaderFields([(":status", "200")]), endOfStream: false)
    talk.server.send(on: id) { $0 += [4, 5] }
    talk.server.finish(id, trailers: HeaderFields([("grpc-status", "0")]))
    let answer = try Conversation.output(of: talk.server)
    try answer.withUnsafeBytes { try talk.client.receive($0) }
    #expect(
      Conversation.events(of: talk.client) == [
        .headers(id, endOfStream: false), .data(id, endOfStream: false), .trailers(id),
        .closed(id, .noError),
      ])
    #expect(talk.client.head(of: id)?[":status"] == "200")
    #expect(talk.body(at: talk.client, id) == [4, 5])
    #expect(talk.client.trailers(of: id)?["grpc-status"] == "0")
    #expect(Conversation.events(of: talk.client).isEmpty)
    #expect(talk.client.head(of: id) == nil, "an answer is forgotten when its reader asks for more")
  }

  @Test("A sender stops at the window and continues when it opens")
  func flowControl() throws {
    var limits = Limits()
    limits.streamWindow = 70_000
    let talk = try Conversation(limits)
    let id = try talk.client.request(post, endOfStream: false)
    talk.client.send(on: id) { $0 += [UInt8](repeating: 7, count: 200_000) }
    talk.client.finish(id)
    try talk.exchange()
    #expect(talk.server.inboundCount(of: id) == 70_000)
    #expect(talk.client.unsentCount(of: id) == 130_000)

    talk.server.removeInbound(70_000, of: id)
    try talk.exchange()
    #expect(talk.server.inboundCount(of: id) == 0, "taking bytes is not yet leave to send more")
    var received = 70_000
    talk.server.allowMore(70_000, on: id)
    while received < 200_000 {
      try talk.exchange()
      let count = talk.server.inboundCount(of: id)
      #expect(count > 0)
      received += count
      talk.server.removeInbound(count, of: id)
      talk.server.allowMore(count, on: id)
    }
    #expect(received == 200_000)
    #expect(talk.server.hasInboundEnded(of: id))
  }

  @Test("A stream without a reader does not block the others")
  func independentStreams() throws {
    var limits = Limits()
    limits.streamWindow = 60_000
    limits.connectionWindow = 100_000
    let talk = try Conversation(limits)
    for _ in 0..<5 {
      let id = try talk.client.request(post, endOfStream: false)
      talk.client.send(on: id) { $0 += [UInt8](repeating: 7, count: 60_000) }
      talk.client.finish(id)
      try talk.exchange()
      #expect(talk.server.inboundCount(of: id) == 60_000)
    }
  }

  @Test("Header fields beyond the limit are dropped and reported; the connection continues")
  func largeHeaders() throws {
    var limits = Limits()
    limits.headerBytes = 1_000
    let talk = try Conversation(limits)
    var fields = post
    fields.append(name: "x", value: String(repeating: "y", count: 2_000))
    let id = try talk.client.request(fields, endOfStream: true)
    try talk.exchange()
    #expect(talk.serverEvents == [.headersTooLarge(id)])

    let next = try talk.client.request(post, endOfStream: true)
    try talk.exchange()
    #expect(talk.serverEvents.last == .headers(next, endOfStream: true))
  }

  @Test("A reset closes the stream on both sides and discards its output")
  func reset() throws {
    let talk = try Conversation()
    let id = try talk.client.request(post, endOfStream: false)
    try talk.exchange()
    talk.client.reset(id, .cancel)
    try talk.exchange()
    #expect(talk.serverEvents.last == .closed(id, .cancel))
    #expect(talk.server.head(of: id) == nil)
    talk.server.respond(on: id, HeaderFields([(":status", "200")]), endOfStream: true)
    talk.server.send(on: id) { $0 += [1] }
    #expect(try Conversation.output(of: talk.server).isEmpty)
  }

  @Test("A stream reports when its pending output is sent")
  func drained() throws {
    let talk = try Conversation()
    let id = try talk.client.request(post, endOfStream: true)
    try talk.exchange()
    talk.forget()
    talk.server.respond(on: id, HeaderFields([(":status", "200")]), endOfStream: false)
    talk.server.send(on: id) { $0 += [1] }
    try talk.exchange()
    #expect(talk.serverEvents == [.drained(id)])
    talk.server.send(on: id) { $0 += [2] }
    talk.server.finish(id)
    try talk.exchange()
    #expect(talk.clientEvents.last == .closed(id, .noError))
  }

  @Test("After GOAWAY the open stream finishes and a new request fails locally")
  func goAway() throws {
    let talk = try Conversation()
    let open = try talk.client.request(post, endOfStream: true)
    try talk.exchange()
    talk.server.announceGoAway()
    try talk.exchange()
    talk.server.finishGoAway()
    try talk.exchange()
    #expect(talk.clientEvents.contains(.goAway(.noError)))
    #expect(!talk.server.isFinished)

    let late = try talk.client.request(post, endOfStream: true)
    try talk.exchange()
    #expect(talk.clientEvents.contains(.closed(late, .refusedStream)))
    talk.server.respond(on: open, HeaderFields([(":status", "200")]), endOfStream: true)
    try talk.exchange()
    #expect(talk.clientEvents.contains(.closed(open, .noError)))
    #expect(talk.server.isFinished)
  }

  @Test("Bytes that are not HTTP/2 are an error, not a crash")
  func garbage() throws {
    let session = try Session.server()
    #expect(throws: HTTP2Error.self) {
      try Array("GET / HTTP/1.1\r\n\r\n".utf8).withUnsafeBytes { try session.receive($0) }
    }
  }

  @Test("A session counts the bytes of its streams until they close")
  func accounting() throws {
    let talk = try Conversation()
    let id = try talk.client.request(post, endOfStream: false)
    talk.client.send(on: id) { $0 += [1, 2, 3, 4] }
    try talk.exchange()
    #expect((talk.server.openStreams, talk.server.inboundBytes) == (1, 4))
    talk.server.removeInbound(1, of: id)
    #expect(talk.server.inboundBytes == 3)
    talk.server.respond(on: id, HeaderFields([(":status", "200")]), endOfStream: false)
    talk.server.send(on: id) { $0 += [5, 6] }
    #expect(talk.server.unsentBytes == 2)
    try talk.exchange()
    #expect((talk.server.unsentBytes, talk.server.bodyBytesSent) == (0, 2))
    talk.server.send(on: id) { $0 += [7] }
    talk.client.reset(id, .cancel)
    try talk.exchange()
    #expect((talk.server.openStreams, talk.server.inboundBytes, talk.server.unsentBytes) == (0, 0, 0))
    #expect(talk.server.controlFrames > 0)
    talk.server.resetControlFrameCount()
    #expect(talk.server.controlFrames == 0)
  }

  @Test("A ping acknowledgement carries the payload of its ping")
  func pings() throws {
    let talk = try Conversation()
    talk.server.ping(7)
    talk.server.ping(.max)
    try talk.exchange()
    #expect(talk.serverEvents == [.pong(7), .pong(.max)])
  }

  @Test("A client that resets too many streams is disconnected")
  func rapidReset() throws {
    let talk = try Conversation()
    var isRefused = false
    // Fifty at a time, because the allowance grows with time and the test may run slowly.
    for _ in 0..<400 where !isRefused {
      do {
        let ids = try (0..<50).map { _ in try talk.client.request(post, endOfStream: true) }
        try talk.exchange()
        for id in ids { talk.client.reset(id, .cancel) }
        try talk.exchange()
      } catch {
        isRefused = true
      }
      if talk.clientEvents.contains(where: { if case .goAway = $0 { true } else { false } }) {
        isRefused = true
      }
      talk.forget()
    }
    #expect(isRefused)
  }
}
