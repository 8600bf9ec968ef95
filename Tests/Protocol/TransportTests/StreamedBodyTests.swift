import EntitledClient
import HTTP
import Logging
import NIOCore
import NIOPosix
import Testing
import Transport

/// Responses in parts over HTTP/2. Tests/Integration has them over HTTP/1.1.
@Suite struct StreamedBodyTests {
  @Test("A body that is sent in parts arrives whole, without a length")
  func parts() async throws {
    try await serving { send in
      for part in 0..<400 { _ = await send(Array(repeating: UInt8(part % 200), count: 1_024)) }
    } _: { listener in
      let response = try await request("GET", listener)
      #expect(response.head[":status"] == "200" && response.head["content-length"] == nil)
      #expect(response.body == (0..<400).flatMap { Array(repeating: UInt8($0 % 200), count: 1_024) })
    }
  }

  @Test("The response to HEAD has no body, and its producer does not run")
  func head() async throws {
    try await serving { _ in
      Issue.record("the producer runs")
    } _: { listener in
      let response = try await request("HEAD", listener)
      #expect(response.head[":status"] == "200" && response.body.isEmpty)
    }
  }

  @Test("A drain ends a body without a natural end, and what was sent arrives")
  func drain() async throws {
    let (begun, begin) = AsyncStream<Void>.makeStream()
    try await serving(drains: false) { send in
      _ = await send([1])
      begin.yield()
      try? await Task.sleep(for: .seconds(600))
    } _: { listener in
      async let pending = request("GET", listener)
      for await _ in begun { break }
      await listener.shutDown(grace: .seconds(60))
      let response = try await pending
      #expect(response.body == [1])
    }
  }

  @Test("The producer ends when the client has gone")
  func gone() async throws {
    let (ended, end) = AsyncStream<Bool>.makeStream()
    let (begun, begin) = AsyncStream<Void>.makeStream()
    try await serving { send in
      _ = await send([1])
      begin.yield()
      try? await Task.sleep(for: .seconds(600))
      end.yield(await send([2]))
    } _: { listener in
      try await ClientConnection.withConnection(host: "127.0.0.1", port: listener.address.port) {
        connection in
        let pending = Task { try? await connection.request("GET", "/") }
        for await _ in begun { break }
        pending.cancel()
      }
      for await wasSent in ended {
        #expect(!wasSent)
        break
      }
    }
  }

  private func request(_ method: String, _ listener: Listener) async throws -> ClientResponse {
    try await ClientConnection.withConnection(host: "127.0.0.1", port: listener.address.port) {
      try await $0.request(method, "/")
    }
  }

  /// Serves a body in parts while `body` runs, and drains the listener, unless `body` does.
  private func serving(
    drains: Bool = true, _ produce: @escaping @Sendable (@escaping HTTPBodyStream.Send) async -> Void,
    _ body: (Listener) async throws -> Void
  ) async throws {
    let listener = try await Listener.listen(
      at: HostAndPort(host: "127.0.0.1", port: 0), on: MultiThreadedEventLoopGroup.singleton,
      serving: .plain { _ in
        var response = HTTPResponse(status: 200)
        response.stream = HTTPBodyStream(produce)
        return response
      }, logger: Logger(label: "test"))
    try await body(listener)
    if drains { await listener.shutDown(grace: .seconds(5)) }
  }
}
