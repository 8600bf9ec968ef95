import EntitledClient
import RPC
import Testing
import Transport
import Wire

@Suite("Large requests")
struct LargeRequestTests {
  private static func document(_ size: Int) -> InspectRequest {
    .with { $0.content = .document(String(repeating: "x", count: size)) }
  }

  /// A method whose handlers for small and large messages return their names.
  private static func method(messageLimit: Int = .max) -> Method {
    var method = Method.unary("/t.T/M") { (_: InspectRequest, _) in
      Entitlement.with { $0.productId = "loop" }
    }
    method.large = { read, _ throws(Status) in
      let size = try read().count
      return { () async throws(Status) in
        Reply(Entitlement.with { $0.productId = "other thread \(size > 16_384)" })
      }
    }
    method.messageLimit = messageLimit
    return method
  }

  /// The status of a call that fails.
  private static func refusal(of request: InspectRequest, _ connection: ClientConnection) async throws
    -> Status?
  {
    do throws(ClientError) {
      let _: Entitlement = try await connection.call("/t.T/M", request)
      return nil
    } catch {
      guard case .failed(let status) = error else { throw error }
      return status
    }
  }

  @Test("A message of more than 16 KiB is decoded on another thread", arguments: [16_000, 17_000, 300_000])
  func threads(size: Int) async throws {
    try await serving([Self.method()]) { connection in
      let response: Entitlement = try await connection.call("/t.T/M", Self.document(size))
      #expect(response.productId == (size > 16_384 ? "other thread true" : "loop"))
    }
  }

  @Test("A large message of a method that runs as a task is decoded by the task, and its errors arrive")
  func tasks() async throws {
    let method = Method.asyncUnary("/t.T/M") {
      (request: InspectRequest, _) async throws(Status) -> Entitlement in
      guard case .document(let text)? = request.content else { throw Status(.invalidArgument, "no document") }
      guard text.utf8.count < 100_000 else { throw Status(.outOfRange, "too long") }
      return Entitlement.with { $0.productId = "\(text.utf8.count)" }
    }
    try await serving([method]) { connection in
      let response: Entitlement = try await connection.call("/t.T/M", Self.document(50_000))
      #expect(response.productId == "50000")
      #expect(
        try await Self.refusal(of: Self.document(100_000), connection) == Status(.outOfRange, "too long"))
    }
  }

  @Test("A message over the limit of its method is refused, and the connection serves others")
  func limit() async throws {
    try await serving([Self.method(messageLimit: 20_000)]) { connection in
      let response: Entitlement = try await connection.call("/t.T/M", Self.document(19_000))
      #expect(response.productId == "other thread true")
      let refusal = try await Self.refusal(of: Self.document(20_000), connection)
      #expect(refusal?.code == .resourceExhausted && refusal?.message.contains("20000") == true)
      let _: Entitlement = try await connection.call("/t.T/M", Self.document(10))
    }
  }
}
