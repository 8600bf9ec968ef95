import Glibc
import HTTP
import NIOCore
import NIOPosix
import RPC
import Testing
import Wire

@testable import EntitledClient

@Suite("Client connection")
struct ClientConnectionTests {
  /// Calls `Check` on a server that sends `reply`.
  private func check(
    _ reply: ScriptedServer.Reply, token: String? = nil
  ) async throws -> (response: CheckResponse, requests: [HeaderFields]) {
    var result: (CheckResponse, [HeaderFields])?
    try await ScriptedServer.run({ _ in reply }) { server, port in
      let response = try await ClientConnection.withConnection(host: "127.0.0.1", port: port, token: token) {
        try await $0.check(.with { $0.customerId = "ada" })
      }
      result = (response, server.received)
    }
    return try #require(result)
  }

  @Test("A unary call sends the gRPC header fields and decodes the response")
  func unary() async throws {
    let (response, requests) = try await check(.message(answer("pro")))
    #expect(response.entitlement?.productId == "pro")
    let head = try #require(requests.first)
    #expect(head[":path"] == "/entitled.v1.EntitlementService/Check")
    #expect(head[":scheme"] == "http" && head["te"] == "trailers")
    #expect(head["content-type"] == "application/grpc")
    #expect(head["grpc-timeout"] != nil && head["authorization"] == nil)
  }

  @Test("A bearer token is sent with each call")
  func token() async throws {
    let (_, requests) = try await check(.message(CheckResponse()), token: "ent_secret")
    #expect(requests.map { $0["authorization"] } == ["Bearer ent_secret"])
  }

  @Test("A status other than OK is thrown with code and message, in trailers or in the head")
  func failure() async throws {
    let refused = ScriptedServer.Reply.response(
      head: [(":status", "200"), ("content-type", "application/grpc")],
      trailers: [("grpc-status", "5"), ("grpc-message", "unknown app")])
    for reply in [refused, .status("5", "unknown app")] {
      do {
        _ = try await check(reply)
        Issue.record("the call did not fail")
      } catch ClientError.failed(let status) {
        #expect(status.code == .notFound && status.message == "unknown app")
      }
    }
  }

  @Test(
    "A response that violates gRPC is reported as such",
    arguments: [
      (.response(head: [(":status", "503")]), "it returned HTTP 503"),
      (.response(head: [(":status", "200")], body: Array("hello".utf8)), "it returned HTTP 200"),
      (.messages([CheckResponse(), CheckResponse()]), "the response is not one message"),
      (.messages([CheckResponse]()), "the response is not one message"),
      (
        .response(
          head: [(":status", "200")], body: [0, 0, 0, 0, 1, 0xFF], trailers: [("grpc-status", "0")]),
        "the response cannot be decoded"
      ),
    ] as [(ScriptedServer.Reply, String)])
  func violation(reply: ScriptedServer.Reply, problem: String) async throws {
    do {
      _ = try await check(reply)
      Issue.record("the call did not fail")
    } catch ClientError.notGRPC(let text) {
      #expect(text.hasPrefix(problem))
    }
  }

  @Test("A reset stream and a closed connection are reported as a lost connection")
  func lost() async throws {
    for reply in [ScriptedServer.Reply.reset, .closeConnection] {
      do {
        _ = try await check(reply)
        Issue.record("the call did not fail")
      } catch ClientError.connectionLost(let address, _) {
        #expect(address.hasPrefix("127.0.0.1:"))
      }
    }
  }

  /// Binds a socket to a free port of this machine and returns the port.
  private func boundPort(of socket: Int32) -> Int? {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(socket, $0, size) == 0 && getsockname(socket, $0, &size) == 0
      }
    }
    return isBound ? Int(UInt16(bigEndian: address.sin_port)) : nil
  }

  @Test("A refused connection is reported with address and reason")
  func unreachable() async throws {
    // Bound but not listening, so that no server of another test gets the port.
    let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(socket) }
    let closedPort = try #require(boundPort(of: socket))
    do {
      _ = try await ClientConnection.withConnection(host: "127.0.0.1", port: closedPort) { _ in
        Issue.record("the connection was not refused")
      }
    } catch let error as ClientError {
      #expect("\(error)" == "cannot reach 127.0.0.1:\(closedPort): Connection refused")
    }
  }

  @Test("Watch passes responses to the caller until it stops, and throws the final status")
  func watch() async throws {
    let events = (1...3).map { number in
      WatchResponse.with { $0.content = .event(.with { $0.sequence = Int64(number) }) }
    }
    try await ScriptedServer.run({ _ in .messages(events, status: "14") }) { _, port in
      try await ClientConnection.withConnection(host: "127.0.0.1", port: port) { connection in
        var seen: [Int64] = []
        let record = { (response: WatchResponse) in
          if case .event(let event) = response.content { seen.append(event.sequence) }
        }
        try await connection.watch(WatchRequest()) {
          record($0)
          return seen.count < 2
        }
        #expect(seen == [1, 2])
        await #expect(throws: ClientError.self) {
          try await connection.watch(WatchRequest()) {
            record($0)
            return true
          }
        }
        #expect(seen == [1, 2, 1, 2, 3])
      }
    }
  }

  @Test("Calls on one connection run concurrently")
  func concurrency() async throws {
    try await ScriptedServer.run({ head in
      .message(answer(head["user-agent"] ?? ""))
    }) { server, port in
      try await ClientConnection.withConnection(host: "127.0.0.1", port: port) { connection in
        try await withThrowingTaskGroup(of: String?.self) { group in
          for _ in 0..<50 {
            group.addTask { try await connection.check(CheckRequest()).entitlement?.productId }
          }
          for try await product in group { #expect(product == "entitled") }
        }
      }
      #expect(server.received.count == 50)
    }
  }
}

private func answer(_ product: String) -> CheckResponse {
  .with { $0.entitlement = .with { $0.productId = product } }
}
