import Testing

@testable import AppStoreClient

@Suite("HTTP over the network") struct CurlExchangeTests {
  @Test("The timeout ends a response whose body does not end", .timeLimit(.minutes(10)))
  func endlessBody() async throws {
    let server = try EndlessServer()
    defer { server.stop() }
    let request = request(to: server.port)
    await #expect(throws: HTTPExchangeError.timedOut) {
      try await CurlExchange.shared.send(request, timeout: .milliseconds(500), limit: 1 << 20)
    }
    await #expect(throws: HTTPExchangeError.tooLarge) {
      try await CurlExchange.shared.send(request, timeout: .seconds(3_600), limit: 10)
    }
  }

  @Test("A cancelled request ends at once", .timeLimit(.minutes(10)))
  func cancellation() async throws {
    let server = try EndlessServer()
    defer { server.stop() }
    let request = request(to: server.port)
    let call = Task {
      try await CurlExchange.shared.send(request, timeout: .seconds(3_600), limit: 1 << 20)
    }
    call.cancel()
    await #expect(throws: HTTPExchangeError.cancelled) { try await call.value }
  }

  @Test("A request that was sent ends at once when it is cancelled", .timeLimit(.minutes(10)))
  func cancellationOfSentRequest() async throws {
    let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)
    let server = try EndlessServer { arrival.yield() }
    defer { server.stop() }
    let request = request(to: server.port)
    let call = Task {
      try await CurlExchange.shared.send(request, timeout: .seconds(3_600), limit: 1 << 20)
    }
    for await _ in arrivals { break }
    call.cancel()
    await #expect(throws: HTTPExchangeError.cancelled) { try await call.value }
  }

  @Test("A request has the given fields and those of the connection only", .timeLimit(.minutes(10)))
  func requestFields() async throws {
    let server = try AnsweringServer("HTTP/1.1 204 No Content\r\n\r\n")
    defer { server.stop() }
    let headers = [("content-type", "application/json"), ("x-empty", "")]
    _ = try await send(request(to: server.port, method: "PUT", headers: headers, body: Array("{}".utf8)))
    _ = try await send(request(to: server.port, method: "POST"))
    _ = try await send(request(to: server.port, method: "DELETE"))
    let host = "host: 127.0.0.1:\(server.port)"
    #expect(
      server.requests == [
        [
          "PUT /path HTTP/1.1", "content-length: 2", "content-type: application/json", host, "x-empty:", "{}",
        ],
        ["POST /path HTTP/1.1", "content-length: 0", host, ""],
        ["DELETE /path HTTP/1.1", host, ""],
      ])
  }

  @Test("A response has the fields after interim responses, and is no redirect to follow")
  func responseFields() async throws {
    let server = try AnsweringServer(
      "HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n"
        + "HTTP/1.1 302 Found\r\nLocation:  http://127.0.0.1:1/ \r\ncontent-length: 2\r\n\r\nok")
    defer { server.stop() }
    let response = try await send(request(to: server.port))
    #expect(response.status == 302)
    let fields = response.headers.map { "\($0.name)=\($0.value)" }
    #expect(fields == ["location=http://127.0.0.1:1/", "content-length=2"])
    #expect(response.body == Array("ok".utf8))
  }

  @Test("A response that ends early is an error")
  func truncatedBody() async throws {
    let server = try AnsweringServer("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nok")
    defer { server.stop() }
    await #expect(throws: HTTPExchangeError.self) { _ = try await send(request(to: server.port)) }
  }

  @Test("A refused connection is named")
  func refusedConnection() async throws {
    let server = try AnsweringServer("")
    server.stop()
    await #expect(throws: HTTPExchangeError.unreachable("Connection refused")) {
      _ = try await send(request(to: server.port))
    }
  }

  @Test("A request with a control character in a field is not sent")
  func controlCharacter() async throws {
    let request = request(to: 1, headers: [("x-name", "a\r\nx-other: b")])
    await #expect(throws: HTTPExchangeError.unreachable("the header field 'x-name' has a control character"))
    {
      _ = try await send(request)
    }
  }

  @Test("A URL with another scheme than HTTP's is refused")
  func otherScheme() async throws {
    let request = OutgoingRequest(method: "GET", url: "file:///etc/hostname", headers: [], body: [])
    await #expect(throws: HTTPExchangeError.self) { _ = try await send(request) }
  }

  private func request(
    to port: UInt16, method: String = "GET", headers: [(name: String, value: String)] = [], body: [UInt8] = []
  ) -> OutgoingRequest {
    OutgoingRequest(method: method, url: "http://127.0.0.1:\(port)/path", headers: headers, body: body)
  }

  private func send(_ request: OutgoingRequest) async throws(HTTPExchangeError) -> IncomingResponse {
    try await CurlExchange.shared.send(request, timeout: .seconds(3_600), limit: 1 << 20)
  }
}
