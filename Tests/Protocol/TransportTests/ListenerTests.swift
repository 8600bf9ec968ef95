import EntitledClient
import HTTP
import Logging
import NIOCore
import NIOPosix
import RPC
import Testing
import Transport
import Wire

/// Uses real sockets on both sides. Tests/Integration covers other client implementations.
@Suite struct ListenerTests {
  @Test("Synchronous and asynchronous unary calls return a response")
  func unary() async throws {
    try await serving([
      .unary("/t.T/Now") { (request: CheckRequest, _) in answer(to: request) },
      .asyncUnary("/t.T/Later") { (request: CheckRequest, _) async throws(Status) in
        await Task.yield()
        return answer(to: request)
      },
    ]) { address in
      for path in ["/t.T/Now", "/t.T/Later"] {
        let response: Entitlement = try await call(path, at: address)
        #expect(response.productId == "echo of ada")
      }
    }
  }

  @Test("An error status arrives with its code, message and details")
  func refusal() async throws {
    let refusal = Status(.failedPrecondition, reason: "NOT_TODAY", "not today: 100 %")
    try await serving([
      .unary("/t.T/No") { (_: CheckRequest, _) throws(Status) -> Entitlement in throw refusal }
    ]) { address in
      do {
        let _: Entitlement = try await call("/t.T/No", at: address)
        Issue.record("the call should have failed")
      } catch ClientError.failed(let status) {
        #expect(status == refusal)
      }
    }
  }

  @Test("A status that exceeds the header fields of the caller arrives without its details")
  func largeStatus() async throws {
    let large = Status(.notFound, "unknown", details: [UInt8](repeating: 7, count: 30_000))
    try await serving([
      .unary("/t.T/No") { (_: CheckRequest, _) throws(Status) -> Entitlement in throw large },
      .serverStreaming("/t.T/NoStream") {
        (_: CheckRequest, responses: ResponseWriter<Entitlement>, _) async throws(Status) in
        try await responses.write(Entitlement())
        throw large
      },
    ]) { address in
      for path in ["/t.T/No", "/t.T/NoStream"] {
        do {
          let _: Entitlement = try await call(path, at: address)
          Issue.record("the call should have failed")
        } catch ClientError.failed(let status) {
          #expect(status == Status(.notFound, "unknown"))
        }
      }
    }
  }

  @Test("A call whose status cannot be sent is reset, so that it ends")
  func unsendableStatus() async throws {
    try await serving([
      .serverStreaming("/t.T/No") {
        (_: CheckRequest, responses: ResponseWriter<Entitlement>, _) async throws(Status) in
        var metadata = Metadata()
        metadata.append("x", Array(repeating: UInt8(ascii: "y"), count: 30_000))
        await responses.attach(trailing: metadata)
        try await responses.write(Entitlement())
      }
    ]) { address in
      await #expect(throws: ClientError.self) {
        let _: Entitlement = try await call("/t.T/No", at: address, timeoutSeconds: 10)
      }
    }
  }

  @Test("A call past its deadline fails and its task is cancelled")
  func deadline() async throws {
    let (cancelled, continuation) = AsyncStream<Void>.makeStream()
    try await serving([
      .asyncUnary("/t.T/Never") { (_: CheckRequest, _) async throws(Status) -> Entitlement in
        await withTaskCancellationHandler {
          for await _ in AsyncStream<Void>(unfolding: { try? await Task.sleep(for: .seconds(60)) }) {
            if Task.isCancelled { break }
          }
        } onCancel: {
          continuation.yield()
        }
        return Entitlement()
      }
    ]) { address in
      do {
        let _: Entitlement = try await call("/t.T/Never", at: address, timeoutSeconds: 1)
        Issue.record("the call should have failed")
      } catch ClientError.failed(let status) {
        #expect(status.code == .deadlineExceeded)
      }
      for await _ in cancelled { break }
    }
  }

  @Test("A result that comes later is sent, whether it is a response, an error or the rest of the work")
  func laterResult() async throws {
    func later(_ path: String, _ result: @escaping @Sendable () -> UnaryResult) -> Method {
      Method(
        path: path,
        handler: .unary { _, _ in
          let pending = PendingResult()
          Task { pending.complete(result()) }
          return .later(pending)
        })
    }
    let bytes = Entitlement.with { $0.productId = "later" }.encodedBytes()
    try await serving([
      later("/t.T/Reply") { .reply(Reply(bytes)) },
      later("/t.T/Work") { .async { () async throws(Status) in Reply(bytes) } },
      later("/t.T/No") { .failure(Status(.notFound, "unknown")) },
    ]) { address in
      for path in ["/t.T/Reply", "/t.T/Work"] {
        let response: Entitlement = try await call(path, at: address)
        #expect(response.productId == "later")
      }
      do {
        let _: Entitlement = try await call("/t.T/No", at: address)
        Issue.record("the call should have failed")
      } catch ClientError.failed(let status) {
        #expect(status == Status(.notFound, "unknown"))
      }
    }
  }

  @Test("A call without a result at its deadline fails, and work that comes afterwards is cancelled")
  func laterDeadline() async throws {
    let pending = PendingResult()
    let (ends, continuation) = AsyncStream<Bool>.makeStream()
    try await serving([Method(path: "/t.T/Never", handler: .unary { _, _ in .later(pending) })]) { address in
      do {
        let _: Entitlement = try await call("/t.T/Never", at: address, timeoutSeconds: 1)
        Issue.record("the call should have failed")
      } catch ClientError.failed(let status) {
        #expect(status.code == .deadlineExceeded)
      }
      pending.complete(
        .async { () async throws(Status) in
          try? await Task.sleep(for: .seconds(60))
          continuation.yield(Task.isCancelled)
          return Reply([])
        })
      for await isCancelled in ends {
        #expect(isCancelled)
        break
      }
    }
  }

  @Test("A large message passes in both directions, one beyond the limit is rejected")
  func large() async throws {
    func document(_ size: Int) -> InspectRequest {
      .with { $0.content = .document(String(repeating: "x", count: size)) }
    }
    try await serving([
      .unary("/t.T/Echo") { (request: InspectRequest, _) in
        guard case .document(let text)? = request.content else { return Entitlement() }
        return Entitlement.with { $0.productId = "echo of \(text)" }
      }
    ]) { address in
      let response: Entitlement = try await call("/t.T/Echo", document(1 << 20), at: address)
      #expect(response.productId.utf8.count == 8 + 1 << 20)
      do {
        let _: Entitlement = try await call("/t.T/Echo", document(5 << 20), at: address)
        Issue.record("the call should have failed")
      } catch ClientError.failed(let status) {
        #expect(status.code == .resourceExhausted)
      }
    }
  }

  @Test("A request that is not gRPC reaches the HTTP handler with its body")
  func plain() async throws {
    try await serving([]) { address in
      try await ClientConnection.withConnection(host: address.host, port: address.port) { connection in
        let response = try await connection.request("PUT", "/a?b=c", body: [1, 2, 3])
        #expect(response.head[":status"] == "200")
        #expect(String(decoding: response.body, as: UTF8.self) == "PUT /a b=c 3")
      }
    }
  }

  @Test("Listening on a port in use fails with an error that names the port")
  func portInUse() async throws {
    try await serving([]) { address in
      await #expect(throws: ListenError.self) {
        _ = try await Listener.listen(
          at: address, on: MultiThreadedEventLoopGroup.singleton, serving: .serving([]),
          logger: Logger(label: "test"))
      }
    }
  }

  private func answer(to request: CheckRequest) -> Entitlement {
    .with { $0.productId = "echo of \(request.customerId)" }
  }

  private func call<Response: WireMessage>(
    _ path: String, _ request: some WireMessage = CheckRequest.with { $0.customerId = "ada" },
    at address: HostAndPort, timeoutSeconds: Int64 = 30
  ) async throws -> Response {
    try await ClientConnection.withConnection(host: address.host, port: address.port) { connection in
      try await connection.call(path, request, timeoutSeconds: timeoutSeconds)
    }
  }

  private func serving(
    _ methods: sending [Method], _ body: (HostAndPort) async throws -> Void
  ) async throws {
    let listener = try await Listener.listen(
      at: HostAndPort(host: "127.0.0.1", port: 0), on: MultiThreadedEventLoopGroup.singleton,
      serving: .serving(methods), logger: Logger(label: "test"))
    do {
      try await body(listener.address)
    } catch {
      await listener.shutDown(grace: .seconds(5))
      throw error
    }
    await listener.shutDown(grace: .seconds(5))
  }
}

@Suite struct HostAndPortTests {
  @Test(
    "An address is a host, a colon and a port",
    arguments: [
      ("127.0.0.1:50051", "127.0.0.1", 50051), ("localhost:0", "localhost", 0), ("[::1]:8080", "::1", 8080),
      ("0.0.0.0:65535", "0.0.0.0", 65535),
    ])
  func reads(text: String, host: String, port: Int) {
    #expect(HostAndPort(text) == HostAndPort(host: host, port: port))
    #expect(HostAndPort(text)?.description == text)
  }

  @Test(
    "A malformed address is rejected",
    arguments: ["", ":80", "localhost", "localhost:", "localhost:65536", "localhost:-1", "::1:80", "a:b"])
  func refuses(text: String) { #expect(HostAndPort(text) == nil) }
}
