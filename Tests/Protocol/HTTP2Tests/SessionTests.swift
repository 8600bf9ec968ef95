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
    let pair = try Conversation()
    let id = try pair.client.request(post, endOfStream: false)
    pair.client.send(on: id) { $0 += [1, 2, 3] }
    pair.client.finish(id)
    try pair.exchange()
    #expect(pair.serverEvents == [.headers(id, endOfStream: false), .data(id, endOfStream: true)])
    #expect(pair.body(at: pair.server, id) == [1, 2, 3])

    pair.server.respond(on: id, HeaderFields([(":status", "200")]), endOfStream: false)
    pair.server.send(on: id) { $0 += [4, 5] }
    pair.server.finish(id, trailers: HeaderFields([("grpc-status", "0")]))
    let answer = try Conversation.output(of: pair.server)
    try answer.withUnsafeBytes { try pair.client.receive($0) }
    #expect(
      Conversation.events(of: pair.client) == [
        .headers(id, endOfStream: false), .data(id, endOfStream: false), .trailers(id),
        .closed(id, .noError),
      ])
    #expect(pair.client.head(of: id)?[":status"] == "200")
    #expect(pair.body(at: pair.client, id) == [4, 5])
    #expect(pair.client.trailers(of: id)?["grpc-status"] == "0")
    #expect(Conversation.events(of: pair.client).isEmpty)
    #expect(pair.client.head(of: id) == nil, "an answer is forgotten when its reader asks for more")
  }

  @Test("The trailers of a request end it, and are not kept")
  func requestTrailers() throws {
    let pair = try Conversation()
    let id = try pair.client.request(post, endOfStream: false)
    pair.client.send(on: id) { $0 += [1, 2, 3] }
    pair.client.finish(id, trailers: HeaderFields([("note", String(repeating: "x", count: 4_000))]))
    try pair.exchange()
    #expect(pair.serverEvents.last == .trailers(id))
    #expect(pair.server.hasInboundEnded(of: id))
    #expect(pair.body(at: pair.server, id) == [1, 2, 3])
    #expect(pair.server.trailers(of: id)?.isEmpty == true)
  }

  @Test("Constant fields arrive as often as they are sent")
  func constants() throws {
    let pair = try Conversation()
    let head = HeaderFields([(":status", "200"), ("content-type", "application/grpc"), ("x-empty", "")])
    let trailers = HeaderFields([("grpc-status", "0")])
    let (constantHead, constantTrailers) = (ConstantFields(head), ConstantFields(trailers))
    for _ in 1...3 {
      let id = try pair.client.request(post, endOfStream: true)
      try pair.exchange()
      pair.server.respond(on: id, constantHead)
      pair.server.send(on: id) { $0 += [4, 5] }
      pair.server.finish(id, trailers: constantTrailers)
      let answer = try Conversation.output(of: pair.server)
      try answer.withUnsafeBytes { try pair.client.receive($0) }
      _ = Conversation.events(of: pair.client)
      #expect(pair.client.head(of: id) == head)
      #expect(pair.body(at: pair.client, id) == [4, 5])
      #expect(pair.client.trailers(of: id) == trailers)
    }
  }

  @Test("A sender stops at the window and continues when it opens")
  func flowControl() throws {
    var limits = Limits()
    limits.streamWindow = 70_000
    let pair = try Conversation(limits)
    let id = try pair.client.request(post, endOfStream: false)
    pair.client.send(on: id) { $0 += [UInt8](repeating: 7, count: 200_000) }
    pair.client.finish(id)
    try pair.exchange()
    #expect(pair.server.inboundCount(of: id) == 70_000)
    #expect(pair.client.unsentCount(of: id) == 130_000)

    pair.server.removeInbound(70_000, of: id)
    try pair.exchange()
    #expect(pair.server.inboundCount(of: id) == 0, "taking bytes is not yet leave to send more")
    var received = 70_000
    pair.server.allowMore(70_000, on: id)
    while received < 200_000 {
      try pair.exchange()
      let count = pair.server.inboundCount(of: id)
      #expect(count > 0)
      received += count
      pair.server.removeInbound(count, of: id)
      pair.server.allowMore(count, on: id)
    }
    #expect(received == 200_000)
    #expect(pair.server.hasInboundEnded(of: id))
  }

  @Test("A stream without a reader does not block the others")
  func independentStreams() throws {
    var limits = Limits()
    limits.streamWindow = 60_000
    limits.connectionWindow = 100_000
    let pair = try Conversation(limits)
    for _ in 0..<5 {
      let id = try pair.client.request(post, endOfStream: false)
      pair.client.send(on: id) { $0 += [UInt8](repeating: 7, count: 60_000) }
      pair.client.finish(id)
      try pair.exchange()
      #expect(pair.server.inboundCount(of: id) == 60_000)
    }
  }

  @Test("Header fields beyond the limit are dropped and reported; the connection continues")
  func largeHeaders() throws {
    var limits = Limits()
    limits.headerBytes = 1_000
    let pair = try Conversation(limits)
    var fields = post
    fields.append(name: "x", value: String(repeating: "y", count: 2_000))
    let id = try pair.client.request(fields, endOfStream: true)
    try pair.exchange()
    #expect(pair.serverEvents == [.headersTooLarge(id)])

    let next = try pair.client.request(post, endOfStream: true)
    try pair.exchange()
    #expect(pair.serverEvents.last == .headers(next, endOfStream: true))
  }

  @Test("Response fields or trailers that the peer may refuse reset the stream")
  func unsendableHeaders() throws {
    let pair = try Conversation()
    // The client announces 16 KiB.
    let large = HeaderFields([(":status", "200"), ("x", String(repeating: "y", count: 17_000))])
    let first = try pair.client.request(post, endOfStream: true)
    let second = try pair.client.request(post, endOfStream: true)
    try pair.exchange()
    #expect(pair.server.maxHeaderBytes == 16 * 1_024)
    pair.server.respond(on: first, large, endOfStream: true)
    pair.server.respond(on: second, HeaderFields([(":status", "200")]), endOfStream: false)
    pair.server.send(on: second) { $0 += [1] }
    pair.server.finish(second, trailers: HeaderFields([("x", String(repeating: "y", count: 17_000))]))
    pair.clearEvents()
    try pair.exchange()
    #expect(pair.clientEvents.contains(.closed(first, .internalError)))
    #expect(pair.clientEvents.contains(.closed(second, .internalError)))
  }

  @Test("A reset closes the stream on both sides and discards its output")
  func reset() throws {
    let pair = try Conversation()
    let id = try pair.client.request(post, endOfStream: false)
    try pair.exchange()
    pair.client.reset(id, .cancel)
    try pair.exchange()
    #expect(pair.serverEvents.last == .closed(id, .cancel))
    #expect(pair.server.head(of: id) == nil)
    pair.server.respond(on: id, HeaderFields([(":status", "200")]), endOfStream: true)
    pair.server.send(on: id) { $0 += [1] }
    #expect(try Conversation.output(of: pair.server).isEmpty)
  }

  @Test("A stream reports when its pending output is sent")
  func drained() throws {
    let pair = try Conversation()
    let id = try pair.client.request(post, endOfStream: true)
    try pair.exchange()
    pair.clearEvents()
    pair.server.respond(on: id, HeaderFields([(":status", "200")]), endOfStream: false)
    pair.server.send(on: id) { $0 += [1] }
    try pair.exchange()
    #expect(pair.serverEvents == [.drained(id)])
    pair.server.send(on: id) { $0 += [2] }
    pair.server.finish(id)
    try pair.exchange()
    #expect(pair.clientEvents.last == .closed(id, .noError))
  }

  @Test("After GOAWAY the open stream finishes and a new request fails locally")
  func goAway() throws {
    let pair = try Conversation()
    let open = try pair.client.request(post, endOfStream: true)
    try pair.exchange()
    pair.server.announceGoAway()
    try pair.exchange()
    pair.server.finishGoAway()
    try pair.exchange()
    #expect(pair.clientEvents.contains(.goAway(.noError)))
    #expect(!pair.server.isFinished)

    let late = try pair.client.request(post, endOfStream: true)
    try pair.exchange()
    #expect(pair.clientEvents.contains(.closed(late, .refusedStream)))
    pair.server.respond(on: open, HeaderFields([(":status", "200")]), endOfStream: true)
    try pair.exchange()
    #expect(pair.clientEvents.contains(.closed(open, .noError)))
    #expect(pair.server.isFinished)
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
    let pair = try Conversation()
    let id = try pair.client.request(post, endOfStream: false)
    pair.client.send(on: id) { $0 += [1, 2, 3, 4] }
    try pair.exchange()
    #expect((pair.server.openStreams, pair.server.inboundBytes) == (1, 4))
    pair.server.removeInbound(1, of: id)
    #expect(pair.server.inboundBytes == 3)
    pair.server.respond(on: id, HeaderFields([(":status", "200")]), endOfStream: false)
    pair.server.send(on: id) { $0 += [5, 6] }
    #expect(pair.server.unsentBytes == 2)
    try pair.exchange()
    #expect((pair.server.unsentBytes, pair.server.bodyBytesSent) == (0, 2))
    pair.server.send(on: id) { $0 += [7] }
    pair.client.reset(id, .cancel)
    try pair.exchange()
    #expect((pair.server.openStreams, pair.server.inboundBytes, pair.server.unsentBytes) == (0, 0, 0))
    #expect(pair.server.controlFrames > 0)
    pair.server.resetControlFrameCount()
    #expect(pair.server.controlFrames == 0)
    pair.server.countInflation(from: 1_000, to: 64_000)
    #expect(pair.server.controlFrames == 0)
    pair.server.countInflation(from: 1_000, to: 64_000 + 1_000 * 4_096)
    #expect(pair.server.controlFrames == 1_000)
  }

  @Test("A discarded request is free at once, and counts until its stream closes")
  func discarding() throws {
    let pair = try Conversation()
    let id = try pair.client.request(post, endOfStream: false)
    let body = [UInt8](repeating: 7, count: 20_000)
    pair.client.send(on: id) { $0 += body }
    try pair.exchange()
    #expect(pair.server.inboundBytes == 20_000)
    #expect(pair.server.incompleteBytes == 20_000 + 1_024 + post.sizeInBytes)
    pair.client.finish(id)
    try pair.exchange()
    #expect(pair.server.inbound(of: id) == body)
    pair.server.discardInbound(of: id)
    #expect((pair.server.inboundCount(of: id), pair.server.inboundBytes) == (0, 20_000))
    #expect(pair.server.incompleteBytes == 0)
    pair.server.respond(on: id, HeaderFields([(":status", "200")]), endOfStream: true)
    try pair.exchange()
    #expect((pair.server.openStreams, pair.server.inboundBytes) == (0, 0))
    #expect(pair.server.incompleteBytes == 0)
  }

  @Test("The bytes held for a stream count until it closes, also after its request is complete")
  func holding() throws {
    let pair = try Conversation()
    let ids = try (0..<2).map { _ in try pair.client.request(post, endOfStream: true) }
    try pair.exchange()
    #expect(pair.server.incompleteBytes == 0)
    for id in ids { pair.server.hold(4_096, for: id) }
    #expect(pair.server.incompleteBytes == 8_192)
    pair.client.reset(ids[0], .cancel)
    try pair.exchange()
    #expect(pair.server.incompleteBytes == 4_096)
    pair.server.respond(on: ids[1], HeaderFields([(":status", "200")]), endOfStream: true)
    try pair.exchange()
    #expect(pair.server.incompleteBytes == 0)
    // The state of a stream is used again.
    _ = try pair.client.request(post, endOfStream: true)
    try pair.exchange()
    #expect((pair.server.openStreams, pair.server.incompleteBytes) == (1, 0))
  }

  @Test("The rest of a complete request counts as complete until it is removed")
  func completeRest() throws {
    let pair = try Conversation()
    let open = try pair.client.request(post, endOfStream: false)
    let complete = try pair.client.request(post, endOfStream: false)
    for id in [open, complete] { pair.client.send(on: id) { $0 += [1, 2, 3, 4] } }
    pair.client.finish(complete)
    try pair.exchange()
    let head = 1_024 + post.sizeInBytes
    #expect((pair.server.inboundBytes, pair.server.incompleteBytes) == (8, 4 + head))
    for id in [open, complete] { pair.server.removeInbound(1, of: id) }
    #expect((pair.server.inboundBytes, pair.server.incompleteBytes) == (6, 3 + head))
    for id in [open, complete] { pair.client.reset(id, .cancel) }
    try pair.exchange()
    #expect((pair.server.inboundBytes, pair.server.incompleteBytes) == (0, 0))
  }

  @Test("A ping acknowledgement carries the payload of its ping")
  func pings() throws {
    let pair = try Conversation()
    pair.server.ping(7)
    pair.server.ping(.max)
    try pair.exchange()
    #expect(pair.serverEvents == [.pong(7), .pong(.max)])
  }

  @Test("A client that resets too many streams is disconnected")
  func rapidReset() throws {
    let pair = try Conversation()
    var isRefused = false
    // Fifty at a time, because the allowance grows with time and the test may run slowly.
    for _ in 0..<400 where !isRefused {
      do {
        let ids = try (0..<50).map { _ in try pair.client.request(post, endOfStream: true) }
        try pair.exchange()
        for id in ids { pair.client.reset(id, .cancel) }
        try pair.exchange()
      } catch {
        isRefused = true
      }
      if pair.clientEvents.contains(where: { if case .goAway = $0 { true } else { false } }) {
        isRefused = true
      }
      pair.clearEvents()
    }
    #expect(isRefused)
  }
}
